/* Names of the refusals: refusals.def expanded into lookups. */
#include "term/refusal.h"

static const struct { const char *slug, *meaning, *advice; } rows[PR_REFUSAL_COUNT] = {
    [PR_REFUSAL_NONE] = { "none", "no refusal", "" },
#define REFUSAL(id, slug, meaning, advice) [PR_REFUSAL_##id] = { slug, meaning, advice },
#include "term/refusals.def"
#undef REFUSAL
};

static bool known(pr_refusal_kind k) { return (int)k >= 0 && k < PR_REFUSAL_COUNT; }

const char *pr_refusal_slug(pr_refusal_kind k) { return known(k) ? rows[k].slug : "other"; }
const char *pr_refusal_meaning(pr_refusal_kind k) { return known(k) ? rows[k].meaning : ""; }
const char *pr_refusal_advice(pr_refusal_kind k) { return known(k) ? rows[k].advice : ""; }

pr_refusal_kind pr_refusal_by_slug(pr_str slug)
{
    for (int k = 1; k < PR_REFUSAL_COUNT; k++) {
        if (pr_str_is(slug, rows[k].slug)) return (pr_refusal_kind)k;
    }
    return PR_REFUSAL_NONE;
}
