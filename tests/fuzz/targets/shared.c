/* TTGIR texts through src/shm.
 *
 * The proof engine is asked about broken kernels too: it may prove none that a bounded run breaks. A proved kernel never
 * hangs in the emulated machine. The same bytes give the same verdict. */
#include <string.h>
#include "fuzz.h"
#include "shm/check.h"
#include "shm/emulate.h"

static bool has(const pr_config_verdict *v, pr_refusal_kind k)
{
    for (int i = 0; i < v->refusals.n; i++)
        if (v->refusals.data[i].kind == k) return true;
    return false;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    pr_arena *a = pr_arena_new(0, NULL);
    if (!a) return 0;
    pr_error err = { 0 };
    const char *why = "";
    pr_ir *ir = pr_ir_parse(a, (const char *)data, size, "fuzz.ttgir", NULL, &err);
    const pr_op *func = ir ? pr_ir_kernel(ir, (pr_str){ 0 }, &why) : NULL;
    if (func) {
        pr_shm_options o;
        pr_shm_options_default(&o);
        o.cross_check = true;
        o.max_k = 9;
        o.max_ops = 300000;
        pr_config_verdict v = { 0 }, again = { 0 };
        pr_shm_check(a, ir, func, &o, &v);
        FUZZ_CHECK(!has(&v, PR_REFUSAL_INTERNAL), "a proof of a kernel with findings\n%.*s", (int)size, (const char *)data);
        FUZZ_CHECK(v.status != PR_VERDICT_OK || !v.findings.n, "ok, with findings\n%.*s", (int)size, (const char *)data);
        if (v.status == PR_VERDICT_OK) {
            pr_consan_options c = { .epoch = PR_CS_CURRENT, .schedules = 8, .seed = 1, .max_trips = 3, .func = func };
            pr_consan_result r = { 0 };
            pr_consan_emulate(a, ir, &c, &r, NULL);
            for (int i = 0; i < r.outcomes.n; i++)
                FUZZ_CHECK(r.outcomes.data[i].kind != PR_CONSAN_HANG, "proved, but it hangs\n%.*s", (int)size, (const char *)data);
        }
        if (size % 8 == 0) {
            pr_shm_check(a, ir, func, &o, &again);
            FUZZ_CHECK(again.status == v.status && again.findings.n == v.findings.n && again.refusals.n == v.refusals.n,
                       "another verdict the second time\n%.*s", (int)size, (const char *)data);
        }
    }
    pr_arena_free(a);
    return 0;
}
