/* Kernels: the bytes are the choices of gen.h's generator; the kernel goes through every layer and is executed
 * (pipeline.h). One byte changed is one choice changed. */
#include "fuzz.h"
#include "pipeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static gkernel k;
    static char why[4000];
    const char *kind;
    pipeline.z3_every = 64;
    pipeline.z3_rlimit = 5000;
    pipeline.max_ops = 1000;
    pipeline.max_work = 1 << 20;
    gen_rng_tape(data, size);
    gen_kernel(&k, 1, size);
    gen_rng_tape(NULL, 0);
    if (!pipeline_examine(&k, why, sizeof why, &kind, false)) return 0;
    char *text = gen_ttir(&k, NULL), *json = gen_launch(&k, k.grid, NULL);
    FUZZ_CHECK(false, "%s: %s\n%s%s", kind, why, text, json);
    return 0;
}
