/* A TTIR text and its launch, through every layer, with execution beside it (pipeline.h).
 *
 * The launch document is the last line, a comment: `// launch: {...}`. Texts and documents that are rejected are the
 * matter of other targets. */
#include <string.h>
#include "fuzz.h"
#include "pipeline.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char mark[] = "// launch:";
    const char *text = (const char *)data, *launch = NULL;
    for (size_t i = size; i-- > 0 && !launch;)
        if (size - i > sizeof mark && memcmp(text + i, mark, sizeof mark - 1) == 0) launch = text + i;
    if (!launch) return 0;
    static char why[4000];
    const char *kind;
    pipeline.z3_rlimit = 2000;
    pipeline.max_ops = 1000;
    pipeline.max_work = 1 << 18;
    size_t n = (size_t)(launch - text);
    launch += sizeof mark - 1;
    bool wrong = pipeline_examine_text(text, n, launch, size - (size_t)(launch - text), why, sizeof why, &kind);
    FUZZ_CHECK(!wrong, "%s: %s\n%.*s", kind, why, (int)size, text);
    return 0;
}
