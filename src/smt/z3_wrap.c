/* Contexts, errors, numbers, solvers and the watchdog around Z3. */
#include "z3_wrap.h"
#include "util/str.h"
#include <stdio.h>
#include <string.h>

static _Thread_local bool failed;

static void on_error(Z3_context z, Z3_error_code code)
{
    (void)z;
    (void)code;
    failed = true;
}

bool pr_z3_failed(void) { return failed; }
void pr_z3_clear(void) { failed = false; }

Z3_context pr_z3_context_new(void)
{
    if (pr_z3_load()) return NULL;
    Z3_config config = Z3_mk_config();
    if (!config) return NULL;
    Z3_set_param_value(config, "model", "true");
    Z3_context z = Z3_mk_context(config);
    Z3_del_config(config);
    if (z) Z3_set_error_handler(z, on_error);
    return z;
}

Z3_ast pr_z3_int(Z3_context z, pr_i128 v)
{
    Z3_sort sort = Z3_mk_int_sort(z);
    if (v >= INT64_MIN && v <= INT64_MAX) return Z3_mk_int64(z, (int64_t)v, sort);
    char text[48];
    int at = sizeof text;
    pr_u128 u = v < 0 ? -(pr_u128)v : (pr_u128)v;
    text[--at] = 0;
    for (; u; u /= 10) text[--at] = (char)('0' + (int)(u % 10));
    if (v < 0) text[--at] = '-';
    return Z3_mk_numeral(z, text + at, sort);
}

bool pr_z3_i128(Z3_context z, Z3_ast a, pr_i128 *out)
{
    if (!a || Z3_get_ast_kind(z, a) != Z3_NUMERAL_AST) return false;
    return pr_i128_parse(pr_str_of(Z3_get_numeral_string(z, a)), out);
}

Z3_solver pr_z3_solver_new(Z3_context z, unsigned arith, int64_t rlimit)
{
    Z3_solver s = Z3_mk_simple_solver(z);
    if (!s) return NULL;
    Z3_solver_inc_ref(z, s);
    Z3_params p = Z3_mk_params(z);
    Z3_params_inc_ref(z, p);
    Z3_params_set_uint(z, p, Z3_mk_string_symbol(z, "arith.solver"), arith);
    Z3_params_set_uint(z, p, Z3_mk_string_symbol(z, "random_seed"), 0);
    /* Z3's own SIGINT handler would take the signal from the host: the check ends, the run goes on. */
    Z3_params_set_bool(z, p, Z3_mk_string_symbol(z, "ctrl_c"), false);
    if (rlimit > 0)
        Z3_params_set_uint(z, p, Z3_mk_string_symbol(z, "rlimit"),
                           rlimit > UINT32_MAX ? UINT32_MAX : (unsigned)rlimit);
    Z3_solver_set_params(z, s, p);
    Z3_params_dec_ref(z, p);
    return s;
}

void pr_z3_memory(int64_t bytes)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)(bytes < UINT32_MAX ? bytes : UINT32_MAX));
    Z3_global_param_set("memory_high_watermark", text);
}

void pr_z3_solver_free(Z3_context z, Z3_solver s)
{
    if (s) Z3_solver_dec_ref(z, s);
}

uint64_t pr_z3_resources(Z3_context z, Z3_solver s)
{
    uint64_t value = 0;
    Z3_stats stats = Z3_solver_get_statistics(z, s);
    if (!stats) return 0;
    Z3_stats_inc_ref(z, stats);
    for (unsigned i = 0; i < Z3_stats_size(z, stats); i++) {
        if (strcmp(Z3_stats_get_key(z, stats, i), "rlimit count") == 0
            && Z3_stats_is_uint(z, stats, i))
            value = Z3_stats_get_uint_value(z, stats, i);
    }
    Z3_stats_dec_ref(z, stats);
    return value;
}

/* --- watchdog ------------------------------------------------------------------------------ */
static void stop_z3(void *z) { Z3_interrupt(z); }

pr_watch *pr_z3_watch(Z3_context z, int64_t t_wall_ms, const pr_flag *interrupt)
{
    return pr_watch_start(t_wall_ms, interrupt, stop_z3, z);
}
