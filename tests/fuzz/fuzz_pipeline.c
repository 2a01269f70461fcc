/* Random kernels through the whole pipeline, against brute force (pipeline.h).
 *
 * A mismatch is shrunk and printed with its launch. `--fault=N` switches a planted fault on (builds with
 * PR_FAULTS only): the run then succeeds when a mismatch shows up. README.md says how to read the output. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "pipeline.h"

typedef struct settings {
    uint64_t seed, first, count;
    bool forever, no_mix, no_shrink;
} settings;
static settings S = { .seed = 1, .count = 20000 };

typedef struct same_kind { const char *kind; char *why; size_t size; } same_kind;
static bool still_wrong(void *user, const gkernel *candidate)
{
    same_kind *w = user;
    const char *kind;
    return pipeline_examine(candidate, w->why, w->size, &kind, false) && strcmp(kind, w->kind) == 0;
}
static void report(gkernel *k, const char *kind, const char *why)
{
    char again[4000];
    printf("MISMATCH %s: seed %llu, kernel %llu\n  %s\n", kind, (unsigned long long)k->seed, (unsigned long long)k->number, why);
    same_kind w = { kind, again, sizeof again };
    if (!S.no_shrink) gen_shrink(k, still_wrong, &w, 1500);
    const char *now_kind;
    pipeline_examine(k, again, sizeof again, &now_kind, false);
    char *text = gen_ttir(k, NULL), *json = gen_launch(k, k->grid, NULL);
    printf("shrunk: %s\n  %s\n%s%s\n", now_kind ? now_kind : "(gone)", again, text, json);
    fflush(stdout);
    free(text);
    free(json);
}
static bool mix_is_good(void)
{
    bool good = true;
    double n = (double)pipeline_counts.kernels;
    uint64_t undecided = pipeline_counts.undecided + pipeline_counts.vacuous, least = pipeline_counts.kernels / 200;   /* of each feature */
    printf("mix: %llu kernels, ok %.1f %% (T0 %llu, T1 %llu, T1-launch %llu), races %.1f %%, undecided %.1f %%\n",
           (unsigned long long)pipeline_counts.kernels, 100 * (double)pipeline_counts.ok / n, (unsigned long long)pipeline_counts.rung[PR_RUNG_T0],
           (unsigned long long)pipeline_counts.rung[PR_RUNG_T1], (unsigned long long)pipeline_counts.rung[PR_RUNG_T1_LAUNCH],
           100 * (double)pipeline_counts.races / n, 100 * (double)undecided / n);
    printf("undecided by kind:");
    for (int i = 1; i < PR_REFUSAL_COUNT; i++)
        if (pipeline_counts.refused[i]) printf(" %s %llu", pr_refusal_slug((pr_refusal_kind)i), (unsigned long long)pipeline_counts.refused[i]);
    printf("\nundecided with isl alone %llu, z3 alone %llu; overflow qualifiers %llu; launches that leave a tensor %llu\n",
           (unsigned long long)pipeline_counts.engine_undecided[1], (unsigned long long)pipeline_counts.engine_undecided[2],
           (unsigned long long)pipeline_counts.overflow, (unsigned long long)pipeline_counts.outside);
    printf("replays %llu (%llu kernels inconclusive), other launches %llu, racing pairs looked up %llu, footprints %llu (%llu lane accesses)\n",
           (unsigned long long)pipeline_counts.replays, (unsigned long long)pipeline_counts.inconclusive, (unsigned long long)pipeline_counts.other_grids,
           (unsigned long long)pipeline_counts.ledger_pairs, (unsigned long long)pipeline_counts.footprints, (unsigned long long)pipeline_counts.footprint_sites);
    printf("run twice: yes %llu (%llu runs followed), no %llu (%llu), unknown %llu; %llu bytes compared\n", (unsigned long long)pipeline_counts.repeats[0],
           (unsigned long long)pipeline_counts.repeated[0], (unsigned long long)pipeline_counts.repeats[1], (unsigned long long)pipeline_counts.repeated[1],
           (unsigned long long)pipeline_counts.repeats[2], (unsigned long long)pipeline_counts.repeated_bytes);
    printf("no, by a value: %llu runs of all programs show it, %llu are not followed\n", (unsigned long long)pipeline_counts.changed[0], (unsigned long long)pipeline_counts.changed[1]);
    printf("seconds: lower %.1f, auto %.1f, isl %.1f, z3 %.1f\n", pipeline_counts.seconds[3], pipeline_counts.seconds[0], pipeline_counts.seconds[1], pipeline_counts.seconds[2]);
    if (pipeline_counts.ok * 4 < pipeline_counts.kernels || pipeline_counts.races * 4 < pipeline_counts.kernels || undecided * 5 > pipeline_counts.kernels) {
        printf("FAIL: the mix needs at least 25 %% ok, at least 25 %% races and at most 20 %% undecided\n");
        good = false;
    }
    for (int i = 0; gen_feature_name[i]; i++)
        if (pipeline_counts.feature[i] < least) {
            printf("FAIL: %s in %llu kernels, fewer than %llu\n", gen_feature_name[i], (unsigned long long)pipeline_counts.feature[i], (unsigned long long)least);
            good = false;
        }
    if (pipeline.verbose)
        for (int i = 0; gen_feature_name[i]; i++) printf("  %6llu %s\n", (unsigned long long)pipeline_counts.feature[i], gen_feature_name[i]);
    return good;
}
static bool number(const char *arg, const char *name, uint64_t *out)
{
    size_t n = strlen(name);
    if (strncmp(arg, name, n) || arg[n] != '=') return false;
    *out = strtoull(arg + n + 1, NULL, 0);
    return true;
}

int main(int argc, char **argv)
{
    uint64_t x = 0;
    for (int i = 1; i < argc; i++) {
        if (number(argv[i], "--seed", &S.seed) || number(argv[i], "--count", &S.count) || number(argv[i], "--first", &S.first) ||
            number(argv[i], "--max-ops", &pipeline.max_ops) || number(argv[i], "--z3-rlimit", &pipeline.z3_rlimit) ||
            number(argv[i], "--z3-every", &pipeline.z3_every)) continue;
        if (number(argv[i], "--fault", &x)) pipeline.fault = (int)x;
        else if (number(argv[i], "--slow-ms", &x)) pipeline.slow = (double)x / 1000;
        else if (!strcmp(argv[i], "--forever")) S.forever = true;
        else if (!strcmp(argv[i], "--verbose")) pipeline.verbose = true;
        else if (!strcmp(argv[i], "--no-mix")) S.no_mix = true;
        else if (!strcmp(argv[i], "--no-z3")) pipeline.no_z3 = true;
        else if (!strcmp(argv[i], "--no-shrink")) S.no_shrink = true;
        else {
            fprintf(stderr, "usage: fuzz_pipeline [--seed=N] [--first=N] [--count=N] [--forever] [--fault=N]\n"
                            "       [--max-ops=N] [--z3-rlimit=N] [--z3-every=N] [--slow-ms=N] [--no-z3] [--no-mix] [--no-shrink] [--verbose]\n");
            return 2;
        }
    }
#ifndef PR_FAULTS
    if (pipeline.fault) {
        fprintf(stderr, "this build has no planted faults\n");
        return 2;
    }
#endif
    static gkernel k;
    static char why[4000];
    printf("seed %llu\n", (unsigned long long)S.seed);
    int found = 0;
    double began = pipeline_now();
    for (uint64_t i = S.first; S.forever || i < S.first + S.count; i++) {
        const char *kind;
        gen_kernel(&k, S.seed, i);
        if (!pipeline_examine(&k, why, sizeof why, &kind, true)) {
            if (S.forever && (i + 1) % 20000 == 0) {
                mix_is_good();
                fflush(stdout);
            }
            continue;
        }
        found++;
        if (pipeline.fault) {
            printf("fault %d found by kernel %llu after %.1f s: %s\n  %s\n", pipeline.fault, (unsigned long long)i, pipeline_now() - began, kind, why);
            char *text = gen_ttir(&k, NULL), *json = gen_launch(&k, k.grid, NULL);
            printf("%s%s\n", text, json);
            free(text);
            free(json);
            return 0;
        }
        report(&k, kind, why);
        if (found >= 5) break;
    }
    if (pipeline.fault) {
        printf("FAIL: fault %d was not found in %llu kernels\n", pipeline.fault, (unsigned long long)S.count);
        return 1;
    }
    bool good = S.no_mix || found ? true : mix_is_good();
    if (found) mix_is_good();
    printf("%.1f s, %d mismatches\n", pipeline_now() - began, found);
    return found || !good ? 1 : 0;
}
