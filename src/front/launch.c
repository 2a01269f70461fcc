/* Launch documents: syntax, the list of launches, and every check that needs no kernel. See
 * launch.h.
 *
 * JSON is read by jansson, which keeps no positions; a path is turned into line and column by a
 * second
 * walk over the text, done only for the one error that is reported. */
#include "front/launch_doc.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void pr_launch_limits_default(pr_launch_limits *l)
{
    l->snapshot_elements = 16384;
    l->snapshot_bytes = (int64_t)256 << 20;
}

/* ---- positions ----------------------------------------------------------------------------- */
typedef struct scan {
    const char *s;
    size_t n, i;
} scan;

static void blanks(scan *c)
{
    while (c->i < c->n && strchr(" \t\r\n", c->s[c->i])) c->i++;
}

static void skip_string(scan *c)
{
    for (c->i++; c->i < c->n && c->s[c->i] != '"'; c->i++)
        if (c->s[c->i] == '\\') c->i++;
    if (c->i < c->n) c->i++;
}

static void skip_value(scan *c)
{
    int depth = 0;
    do {
        blanks(c);
        if (c->i >= c->n) return;
        char ch = c->s[c->i];
        if (ch == '"') skip_string(c);
        else if (ch == '{' || ch == '[') {
            depth++;
            c->i++;
        } else if (ch == '}' || ch == ']') {
            depth--;
            c->i++;
        } else if (ch == ',' || ch == ':') c->i++;
        else
            while (c->i < c->n && !strchr(",:{}[]\" \t\r\n", c->s[c->i])) c->i++;
    } while (depth > 0);
}

/* From the start of a container to the start of its member; false when it has none. */
static bool enter(scan *c, const pr_json_at *step)
{
    blanks(c);
    if (c->i >= c->n || c->s[c->i] != (step->key ? '{' : '[')) return false;
    c->i++;
    for (int k = 0;; k++) {
        blanks(c);
        if (c->i >= c->n || c->s[c->i] == '}' || c->s[c->i] == ']') return false;
        if (!step->key) {
            if (k == step->index) return true;
        } else {
            size_t from = c->i + 1;
            skip_string(c);
            size_t n = c->i - 1 - from;
            blanks(c);
            if (c->i < c->n) c->i++; /* the colon */
            blanks(c);
            if (n == strlen(step->key) && memcmp(c->s + from, step->key, n) == 0) return true;
        }
        skip_value(c);
        blanks(c);
        if (c->i < c->n && c->s[c->i] == ',') c->i++;
    }
}

void pr_json_locate(const char *text, size_t length, const pr_json_at *at, int *line, int *col)
{
    const pr_json_at *chain[64];
    int n = 0;
    for (; at && n < 64; at = at->up) chain[n++] = at;
    scan c = { text, length, 0 };
    blanks(&c);
    size_t found = c.i;
    while (n-- > 0 && enter(&c, chain[n])) found = c.i;
    *line = *col = 1;
    for (size_t i = 0; i < found; i++) {
        if (text[i] == '\n') {
            ++*line;
            *col = 1;
        } else if (((unsigned char)text[i] & 0xc0) != 0x80) ++*col;
    }
}

static void path_text(char *out, size_t cap, const pr_json_at *at)
{
    const pr_json_at *chain[64];
    int n = 0;
    size_t used = 0;
    for (; at && n < 64; at = at->up) chain[n++] = at;
    out[0] = 0;
    while (n-- > 0 && used + 1 < cap) {
        int wrote = chain[n]->key
                        ? snprintf(out + used, cap - used, "%s%s", used ? "." : "", chain[n]->key)
                        : snprintf(out + used, cap - used, "[%d]", chain[n]->index);
        used += wrote > 0 ? (size_t)wrote : 0;
    }
}

static void locate(const pr_launch_doc *d, int item, const pr_json_at *at, int *line, int *col)
{
    if (!d->lines) {
        pr_json_locate(d->text, d->length, at, line, col);
        return;
    }
    pr_json_locate(d->line_text[item].s, d->line_text[item].n, at, line, col);
    *line = d->line_number[item];
}

pr_status pr_launch_bad(pr_launch_reader *r, const pr_json_at *at, const char *format, ...)
{
    char what[240], path[120];
    va_list list;
    va_start(list, format);
    vsnprintf(what, sizeof what, format, list);
    va_end(list);
    path_text(path, sizeof path, at);
    int line, col;
    const pr_launch_doc *d = r->doc;
    locate(d, r->item, at, &line, &col);
    return pr_fail(r->err, PR_ERR_INPUT, d->name, line, col, "%s%s%s", path, path[0] ? ": " : "",
                   what);
}

const char *pr_json_kind(const json_t *v)
{
    if (!v) return "nothing";
    switch (json_typeof(v)) {
    case JSON_OBJECT: return "an object";
    case JSON_ARRAY: return "an array";
    case JSON_STRING: return "a string";
    case JSON_INTEGER: return "an integer";
    case JSON_REAL: return "a real number";
    case JSON_TRUE:
    case JSON_FALSE: return "a boolean";
    case JSON_NULL: return "null";
    }
    return "something else";
}

/* ---- reading ------------------------------------------------------------------------------- */
static json_t *read_json(const pr_launch_doc *d, const char *text, size_t length, int first_line,
                         pr_error *err)
{
    json_error_t e;
    json_t *v = pr_json_load(d->arena, text, length, &e);
    if (v) return v;
    const char *hint = "";
    if (strstr(e.text, "integer")) hint = " (write integers past 2^53 as decimal strings)";
    pr_fail(err, PR_ERR_INPUT, d->name, e.line > 0 ? e.line + first_line - 1 : first_line,
            e.column > 0 ? e.column : 1, "not JSON: %.150s%s", e.text, hint);
    return NULL;
}

static bool split_lines(pr_launch_doc *d, pr_error *err)
{
    PR_VEC(pr_str) lines = { 0 };
    PR_VEC(int) numbers = { 0 };
    size_t from = 0;
    for (int number = 1; from < d->length; number++) {
        const char *end = memchr(d->text + from, '\n', d->length - from);
        size_t to = end ? (size_t)(end - d->text) : d->length;
        size_t k = from;
        while (k < to && strchr(" \t\r", d->text[k])) k++;
        if (k < to) {
            pr_str one = { d->text + from, to - from };
            pr_vec_push(d->arena, &lines, one);
            pr_vec_push(d->arena, &numbers, number);
        }
        from = to + 1;
    }
    if (!lines.n) {
        pr_fail(err, PR_ERR_INPUT, d->name, 1, 1, "no launch: the file is empty");
        return false;
    }
    d->count = lines.n;
    d->line_text = lines.data;
    d->line_number = numbers.data;
    d->line_root = PR_NEW_N(d->arena, json_t *, lines.n);
    return true;
}

static pr_status check_version(pr_launch_reader *r, json_t *object, const pr_json_at *up,
                               bool required)
{
    json_t *v = json_object_get(object, "version");
    pr_json_at at = { up, "version", 0 };
    if (!v)
        return required ? pr_launch_bad(r, &at, "missing: a launch file says \"version\": 1")
                        : PR_OK;
    if (!json_is_integer(v))
        return pr_launch_bad(r, &at, "expected the integer 1, got %s", pr_json_kind(v));
    if (json_integer_value(v) != 1)
        return pr_launch_bad(r, &at,
                             "version %lld is not known to this build, which reads version 1",
                             (long long)json_integer_value(v));
    return PR_OK;
}

pr_launch_doc *pr_launch_doc_parse(pr_arena *arena, const char *text, size_t length,
                                   const char *name, const char *base_dir, bool lines,
                                   pr_error *err)
{
    pr_launch_doc *d = PR_NEW(arena, pr_launch_doc);
    d->arena = arena;
    d->name = pr_arena_strndup(arena, name ? name : "", name ? strlen(name) : 0);
    d->base_dir =
        pr_arena_strndup(arena, base_dir ? base_dir : "", base_dir ? strlen(base_dir) : 0);
    d->text = pr_arena_strndup(arena, text, length);
    d->length = length;
    d->lines = lines;
    if (lines) return split_lines(d, err) ? d : NULL;
    d->root = read_json(d, d->text, length, 1, err);
    if (!d->root) return NULL; /* nothing below allocates */
    pr_launch_reader r = { .doc = d, .err = err };
    pr_json_at list = { NULL, "launches", 0 };
    json_t *all = json_is_object(d->root) ? json_object_get(d->root, "launches") : NULL;
    if (!json_is_object(d->root)) {
        pr_launch_bad(&r, NULL, "expected a launch object, got %s", pr_json_kind(d->root));
    } else if (check_version(&r, d->root, NULL, true) != PR_OK) {
        /* reported */
    } else if (!all) {
        d->count = 1;
        return d;
    } else if (!json_is_array(all)) {
        pr_launch_bad(&r, &list, "expected an array of launches, got %s", pr_json_kind(all));
    } else if (!json_array_size(all)) {
        pr_launch_bad(&r, &list, "the list is empty");
    } else {
        d->wrapped = true;
        d->count = (int)json_array_size(all);
        return d;
    }
    pr_launch_doc_free(d);
    return NULL;
}

void pr_launch_doc_free(pr_launch_doc *d)
{
    if (!d) return;
    json_decref(d->root);
    d->root = NULL;
    if (!d->line_root) return;
    for (int i = 0; i < d->count; i++) json_decref(d->line_root[i]);
    d->line_root = NULL;
}

const char *pr_launch_doc_name(const pr_launch_doc *d)
{ return d->name; }
const char *pr_launch_doc_base_dir(const pr_launch_doc *d)
{ return d->base_dir; }
int pr_launch_doc_count(const pr_launch_doc *d)
{ return d->count; }

static json_t *launch_of(const pr_launch_doc *d, int i)
{
    if (d->lines) return d->line_root[i];
    return d->wrapped ? json_array_get(json_object_get(d->root, "launches"), (size_t)i) : d->root;
}

bool pr_launch_reader_open(pr_launch_reader *r, pr_launch_doc *d, int i, pr_error *err)
{
    static const pr_json_at list = { NULL, "launches", 0 };
    *r = (pr_launch_reader){ .doc = d, .item = i, .err = err };
    if (d->lines && !d->line_root[i])
        d->line_root[i] =
            read_json(d, d->line_text[i].s, d->line_text[i].n, d->line_number[i], err);
    r->launch = launch_of(d, i);
    if (!r->launch) return false;
    r->has_root_path = d->wrapped;
    r->root = (pr_json_at){ &list, NULL, i };
    if (json_is_object(r->launch)) return true;
    pr_launch_bad(r, pr_launch_reader_path(r), "expected a launch object, got %s",
                  pr_json_kind(r->launch));
    return false;
}

const pr_json_at *pr_launch_reader_path(const pr_launch_reader *r)
{ return r->has_root_path ? &r->root : NULL; }

/* ---- checks without a kernel ---------------------------------------------------------------- */
static pr_status want_string(pr_launch_reader *r, json_t *object, const pr_json_at *up,
                             const char *key)
{
    json_t *v = json_object_get(object, key);
    pr_json_at at = { up, key, 0 };
    if (v && !json_is_string(v))
        return pr_launch_bad(r, &at, "expected a string, got %s", pr_json_kind(v));
    return PR_OK;
}

static pr_status check_text(pr_launch_reader *r, json_t *object, const pr_json_at *up)
{
    static const char *const keys[] = { "ttir", "ttgir", "ttir_text", "ttgir_text",
                                        "compile_error" };
    for (size_t k = 0; k < PR_LEN(keys); k++) {
        pr_status s = want_string(r, object, up, keys[k]);
        if (s != PR_OK) return s;
        json_t *v = json_object_get(object, keys[k]);
        pr_json_at at = { up, keys[k], 0 };
        if (v && !json_string_length(v)) return pr_launch_bad(r, &at, "the string is empty");
        if (v && k < 2 && strlen(json_string_value(v)) != json_string_length(v))
            return pr_launch_bad(r, &at, "a path cannot hold a zero byte");
    }
    return PR_OK;
}

static pr_status check_grid(pr_launch_reader *r, json_t *object, const pr_json_at *up)
{
    json_t *g = json_object_get(object, "grid");
    pr_json_at at = { up, "grid", 0 };
    if (!g || json_is_null(g)) return PR_OK;
    if (!json_is_array(g))
        return pr_launch_bad(r, &at, "expected one to three integers, got %s", pr_json_kind(g));
    size_t n = json_array_size(g);
    if (n < 1 || n > 3) return pr_launch_bad(r, &at, "expected one to three integers, got %zu", n);
    for (size_t k = 0; k < n; k++) {
        json_t *v = json_array_get(g, k);
        pr_json_at item = { &at, NULL, (int)k };
        if (!json_is_integer(v))
            return pr_launch_bad(r, &item, "expected an integer, got %s", pr_json_kind(v));
        if (json_integer_value(v) < 1 || json_integer_value(v) > INT32_MAX)
            return pr_launch_bad(r, &item, "%lld is not a grid extent (1 to 2147483647)",
                                 (long long)json_integer_value(v));
    }
    return PR_OK;
}

static pr_status check_config(pr_launch_reader *r, json_t *object, const pr_json_at *up)
{
    static const char *const counts[] = { "num_warps", "num_ctas" };
    json_t *c = json_object_get(object, "config");
    pr_json_at at = { up, "config", 0 };
    if (!c) return PR_OK;
    if (!json_is_object(c))
        return pr_launch_bad(r, &at, "expected an object, got %s", pr_json_kind(c));
    for (size_t k = 0; k < PR_LEN(counts); k++) {
        json_t *v = json_object_get(c, counts[k]);
        pr_json_at item = { &at, counts[k], 0 };
        if (!v) continue;
        if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > 1024)
            return pr_launch_bad(r, &item, "expected an integer from 1 to 1024");
    }
    return PR_OK;
}

static pr_status check_args(pr_launch_reader *r, json_t *object, const pr_json_at *up,
                            bool required)
{
    json_t *a = json_object_get(object, "args");
    pr_json_at at = { up, "args", 0 };
    if (!a && required) return pr_launch_bad(r, &at, "missing: the kernel's arguments");
    if (a && !json_is_object(a) && !json_is_array(a))
        return pr_launch_bad(r, &at, "expected an object by name or an array in order, got %s",
                             pr_json_kind(a));
    return PR_OK;
}

/* Fields that a launch and a configuration share. */
static pr_status check_common(pr_launch_reader *r, json_t *object, const pr_json_at *up)
{
    pr_status s = check_text(r, object, up);
    if (s == PR_OK) s = check_grid(r, object, up);
    if (s == PR_OK) s = check_config(r, object, up);
    if (s == PR_OK) s = want_string(r, object, up, "target");
    if (s == PR_OK) s = want_string(r, object, up, "triton");
    return s;
}

static pr_status check_assume(pr_launch_reader *r, const pr_json_at *up)
{
    json_t *list = json_object_get(r->launch, "assume");
    pr_json_at at = { up, "assume", 0 };
    if (!list) return PR_OK;
    if (!json_is_array(list))
        return pr_launch_bad(r, &at, "expected an array of strings, got %s", pr_json_kind(list));
    for (size_t k = 0; k < json_array_size(list); k++) {
        json_t *v = json_array_get(list, k);
        pr_json_at item = { &at, NULL, (int)k };
        if (!json_is_string(v))
            return pr_launch_bad(r, &item, "expected a string, got %s", pr_json_kind(v));
    }
    return PR_OK;
}

static pr_status check_configs(pr_launch_reader *r, const pr_json_at *up)
{
    json_t *list = json_object_get(r->launch, "configs");
    pr_json_at at = { up, "configs", 0 };
    if (!list) return PR_OK;
    if (!json_is_array(list))
        return pr_launch_bad(r, &at, "expected an array, got %s", pr_json_kind(list));
    if (!json_array_size(list)) return pr_launch_bad(r, &at, "the list is empty");
    for (size_t k = 0; k < json_array_size(list); k++) {
        json_t *v = json_array_get(list, k);
        pr_json_at item = { &at, NULL, (int)k };
        if (!json_is_object(v))
            return pr_launch_bad(r, &item, "expected an object, got %s", pr_json_kind(v));
        pr_status s = check_common(r, v, &item);
        if (s == PR_OK) s = check_args(r, v, &item, false);
        if (s == PR_OK && json_is_array(json_object_get(v, "args")) &&
            json_is_object(json_object_get(r->launch, "args"))) {
            pr_json_at args = { &item, "args", 0 };
            s = pr_launch_bad(r, &args, "overrides of named arguments must be named too");
        }
        if (s != PR_OK) return s;
    }
    return PR_OK;
}

/* Every configuration needs args from somewhere. */
static bool all_configs_have(const json_t *list, const char *key)
{
    if (!list) return false;
    for (size_t k = 0; k < json_array_size(list); k++)
        if (!json_object_get(json_array_get(list, k), key)) return false;
    return true;
}

pr_status pr_launch_doc_check(pr_launch_doc *d, int i, pr_error *err)
{
    pr_launch_reader r;
    if (!pr_launch_reader_open(&r, d, i, err)) return PR_ERR_INPUT;
    const pr_json_at *up = pr_launch_reader_path(&r);
    pr_status s = check_version(&r, r.launch, up, !d->wrapped);
    if (s == PR_OK) s = want_string(&r, r.launch, up, "kernel");
    if (s == PR_OK) s = check_common(&r, r.launch, up);
    if (s == PR_OK) s = check_assume(&r, up);
    if (s == PR_OK) s = check_configs(&r, up);
    if (s == PR_OK)
        s = check_args(&r, r.launch, up,
                       !all_configs_have(json_object_get(r.launch, "configs"), "args"));
    return s;
}

/* ---- access ---------------------------------------------------------------------------------- */
static pr_str json_str(const json_t *v)
{
    if (!json_is_string(v)) return (pr_str){ "", 0 };
    return (pr_str){ json_string_value(v), json_string_length(v) };
}

pr_str pr_launch_doc_kernel(const pr_launch_doc *d, int i)
{ return json_str(json_object_get(launch_of(d, i), "kernel")); }

int pr_launch_doc_configs(const pr_launch_doc *d, int i)
{
    json_t *list = json_object_get(launch_of(d, i), "configs");
    return list ? (int)json_array_size(list) : 1;
}

static json_t *config_of(const pr_launch_doc *d, int i, int c)
{ return json_array_get(json_object_get(launch_of(d, i), "configs"), (size_t)c); }

/* The configuration's own field, else the launch's. */
static json_t *field(const pr_launch_doc *d, int i, int c, const char *key)
{
    json_t *own = config_of(d, i, c);
    json_t *v = own ? json_object_get(own, key) : NULL;
    return v ? v : json_object_get(launch_of(d, i), key);
}

static void find_text(pr_arena *arena, const pr_launch_doc *d, int i, int c, bool ttgir_only, pr_launch_text *out)
{
    static const struct {
        const char *key;
        bool ttgir, file;
    } keys[] = {
        { "ttir_text", false, false },
        { "ttir", false, true },
        { "ttgir_text", true, false },
        { "ttgir", true, true },
    };
    *out = (pr_launch_text){ 0 };
    json_t *places[2] = { config_of(d, i, c), launch_of(d, i) };
    for (int p = 0; p < 2 && !out->kind; p++) {
        for (size_t k = 0; places[p] && k < PR_LEN(keys) && !out->kind; k++) {
            json_t *v = json_object_get(places[p], keys[k].key);
            if (!v || (ttgir_only && !keys[k].ttgir)) continue;
            out->kind = keys[k].file ? PR_LAUNCH_TEXT_FILE : PR_LAUNCH_TEXT_INLINE;
            out->ttgir = keys[k].ttgir;
            out->text = json_str(v);
            pr_json_at list = { NULL, "launches", 0 }, item = { &list, NULL, i };
            const pr_json_at *up = d->wrapped ? &item : NULL;
            pr_json_at configs = { up, "configs", 0 }, config = { &configs, NULL, c };
            pr_json_at at = { p == 0 ? &config : up, keys[k].key, 0 };
            locate(d, i, &at, &out->line, &out->col);
            if (keys[k].file)
                out->path = out->text.s[0] == '/' || !d->base_dir[0]
                                ? pr_arena_strndup(arena, out->text.s, out->text.n)
                                : pr_arena_printf(arena, "%s/%s", d->base_dir, out->text.s);
        }
        /* a configuration that says why it has no text does not fall back to the shared one */
        if (p == 0 && places[0] && json_object_get(places[0], "compile_error")) return;
    }
}

void pr_launch_doc_text(pr_arena *arena, const pr_launch_doc *d, int i, int c, pr_launch_text *out)
{ find_text(arena, d, i, c, false, out); }

void pr_launch_doc_ttgir(pr_arena *arena, const pr_launch_doc *d, int i, int c, pr_launch_text *out)
{ find_text(arena, d, i, c, true, out); }

void pr_launch_doc_place(const pr_launch_doc *d, int i, const char *key, int k, int *line, int *col)
{
    pr_json_at list = { NULL, "launches", 0 }, item = { &list, NULL, i };
    pr_json_at field_at = { d->wrapped ? &item : NULL, key, 0 }, at = { &field_at, NULL, k };
    locate(d, i, k >= 0 ? &at : &field_at, line, col);
}

pr_str pr_launch_doc_compile_error(const pr_launch_doc *d, int i, int c)
{ return json_str(field(d, i, c, "compile_error")); }

const char *pr_launch_doc_config_json(pr_arena *arena, const pr_launch_doc *d, int i, int c)
{
    json_t *v = field(d, i, c, "config");
    if (!v) return "{}";
    return pr_json_text(arena, v);
}
