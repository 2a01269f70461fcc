/* The option table, see opt.h. */
#include "util/opt.h"
#include <string.h>

enum { C = PR_OPT_CHECK, D = PR_OPT_DUMP, R = PR_OPT_REPLAY, L = PR_OPT_LIBRARY, X = PR_OPT_EXPLAIN, S = PR_OPT_CONSAN };

static const pr_opt table[] = {
#define OPTION(id, name, kind, fallback, least, most, values, where, help)                         \
    { name, PR_OPT_KIND_##kind, fallback, least, most, values, where, help },
#include "util/options.def"
#undef OPTION
};

const pr_opt *pr_opt_get(pr_opt_id id)
{ return &table[id]; }

int pr_opt_find(const char *name, size_t length)
{
    for (int k = 0; k < PR_OPT_COUNT; k++)
        if (strlen(table[k].name) == length && memcmp(table[k].name, name, length) == 0) return k;
    return -1;
}

/* Edit distance, at most 40 characters of each. */
static int distance(const char *a, size_t n, const char *b, size_t m)
{
    int row[41];
    if (n > 40) n = 40;
    if (m > 40) m = 40;
    for (size_t j = 0; j <= m; j++) row[j] = (int)j;
    for (size_t i = 1; i <= n; i++) {
        int corner = row[0];
        row[0] = (int)i;
        for (size_t j = 1; j <= m; j++) {
            int up = row[j], best = corner + (a[i - 1] != b[j - 1]);
            if (up + 1 < best) best = up + 1;
            if (row[j - 1] + 1 < best) best = row[j - 1] + 1;
            corner = up;
            row[j] = best;
        }
    }
    return row[m];
}

const char *pr_opt_near(const char *name, size_t length, unsigned where)
{
    const char *best = NULL;
    int least = 4;
    for (int k = 0; k < PR_OPT_COUNT; k++) {
        int d = distance(name, length, table[k].name, strlen(table[k].name));
        if ((table[k].where & where) && d < least && d < (int)strlen(table[k].name)) {
            least = d;
            best = table[k].name;
        }
    }
    return best;
}

static pr_status bad(const pr_opt *o, const char *text, pr_error *err)
{
    switch (o->kind) {
    case PR_OPT_KIND_OPTIONAL: case PR_OPT_KIND_ENUM: {
        char values[120];
        snprintf(values, sizeof values, "%s", o->values);
        for (char *p = values; *p; p++)
            if (*p == '|') *p = ' ';
        return pr_fail(err, PR_ERR_USAGE, "", 0, 0, "--%s: \"%.40s\" is not one of: %s", o->name,
                       text, values);
    }
    case PR_OPT_KIND_FLAG:
        return pr_fail(err, PR_ERR_USAGE, "", 0, 0, "--%s takes no value", o->name);
    default:
        return pr_fail(err, PR_ERR_USAGE, "", 0, 0,
                       "--%s: expected an integer from %lld to %lld%s, got \"%.40s\"", o->name,
                       (long long)o->least, (long long)o->most,
                       o->kind == PR_OPT_KIND_MS ? " or \"none\"" : "", text);
    }
}

/* Decimal digits only; values past 10^15 are out of every range. */
static bool digits(const char *text, size_t n, int64_t *out)
{
    *out = 0;
    if (n == 0 || n > 15) return false;
    for (size_t k = 0; k < n; k++) {
        if (text[k] < '0' || text[k] > '9') return false;
        *out = *out * 10 + (text[k] - '0');
    }
    return true;
}

pr_status pr_opt_value(pr_opt_id id, const char *text, int64_t *out, pr_error *err)
{
    const pr_opt *o = &table[id];
    int64_t v = 0;
    if (o->kind == PR_OPT_KIND_FLAG) {
        if (text && strcmp(text, "1") != 0 && strcmp(text, "0") != 0) return bad(o, text, err);
        *out = !text || text[0] == '1';
        return PR_OK;
    }
    if (!text && o->kind == PR_OPT_KIND_OPTIONAL) {
        *out = 1;
        return PR_OK;
    }
    if (!text) return pr_fail(err, PR_ERR_USAGE, "", 0, 0, "--%s needs a value", o->name);
    if (o->kind == PR_OPT_KIND_ENUM || o->kind == PR_OPT_KIND_OPTIONAL) {
        size_t n = strlen(text);
        for (const char *p = o->values; p; p = strchr(p, '|') ? strchr(p, '|') + 1 : NULL, v++) {
            if (strcspn(p, "|") != n || memcmp(p, text, n) != 0) continue;
            *out = v;
            return PR_OK;
        }
        return bad(o, text, err);
    }
    if (o->kind == PR_OPT_KIND_MS && strcmp(text, "none") == 0) {
        *out = 0;
        return PR_OK;
    }
    if (!digits(text, strlen(text), &v) || v < o->least || v > o->most) return bad(o, text, err);
    *out = v;
    return PR_OK;
}

pr_status pr_opt_grid(const char *text, int64_t out[3], pr_error *err)
{
    out[0] = out[1] = out[2] = 1;
    const char *p = text;
    for (int k = 0; k < 3; k++) {
        size_t n = strcspn(p, ",");
        if (!digits(p, n, &out[k]) || out[k] < 1 || out[k] > INT32_MAX) break;
        p += n;
        if (!*p) return PR_OK;
        p++;
    }
    return pr_fail(
        err, PR_ERR_USAGE, "", 0, 0,
        "--grid: expected one to three extents from 1 to 2147483647 such as 4,1,1, got \"%.40s\"",
        text);
}

const char *pr_opt_spelling(pr_opt_id id, int64_t value, char buffer[32])
{
    const char *p = table[id].values;
    while (value-- > 0 && strchr(p, '|')) p = strchr(p, '|') + 1;
    snprintf(buffer, 32, "%.*s", (int)strcspn(p, "|"), p);
    return buffer;
}

/* Prints text from column 26 on, broken at 96 columns. */
static void wrapped(FILE *out, const char *text)
{
    size_t room = 70;
    while (*text) {
        size_t n = strlen(text);
        if (n > room) {
            n = room;
            while (n > 0 && text[n] != ' ') n--;
            if (n == 0) n = room;
        }
        fprintf(out, "%.*s\n", (int)n, text);
        text += n;
        while (*text == ' ') text++;
        if (*text) fprintf(out, "%26s", "");
    }
}

void pr_opt_help(FILE *out, unsigned where)
{
    for (int k = 0; k < PR_OPT_COUNT; k++) {
        const pr_opt *o = &table[k];
        char left[80], help[400], spelling[32];
        if (!(o->where & where)) continue;
        const char *value = o->kind == PR_OPT_KIND_FLAG ? "" : o->values;
        if (o->kind == PR_OPT_KIND_OPTIONAL) snprintf(left, sizeof left, "--%s[=%s]", o->name, value);
        else snprintf(left, sizeof left, "--%s%s%s", o->name, *value ? "=" : "", value);
        const char *unit = o->kind == PR_OPT_KIND_MS ? " ms" : "";
        if (o->kind == PR_OPT_KIND_ENUM && k != PR_OPT_STAGE)
            snprintf(help, sizeof help, "%s (default %s)", o->help,
                     pr_opt_spelling((pr_opt_id)k, o->fallback, spelling));
        else if (o->kind == PR_OPT_KIND_MS && o->fallback == 0)
            snprintf(help, sizeof help, "%s (default none)", o->help);
        else if ((o->kind == PR_OPT_KIND_COUNT || o->kind == PR_OPT_KIND_MS) && o->fallback >= 0)
            snprintf(help, sizeof help, "%s (default %lld%s)", o->help, (long long)o->fallback,
                     unit);
        else if (o->kind == PR_OPT_KIND_UNBUILT)
            snprintf(help, sizeof help, "%s (not available in this build)", o->help);
        else snprintf(help, sizeof help, "%s", o->help);
        if (strlen(left) > 22) fprintf(out, "  %s\n%26s", left, "");
        else fprintf(out, "  %-24s", left);
        wrapped(out, help);
    }
}
