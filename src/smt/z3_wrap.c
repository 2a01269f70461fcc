/* Contexts, errors, numbers, solvers and the watchdog around Z3. */
#include "z3_wrap.h"
#include "util/str.h"
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

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

struct pr_watchdog {
    Z3_context z;
    int64_t left_ms;                  /* 0 = no wall-clock limit */
    const volatile int *interrupt;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool done, fired;
};

enum { POLL_MS = 20 };

static void *watch(void *user)
{
    pr_watchdog *w = user;
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    int64_t passed = 0;
    pthread_mutex_lock(&w->lock);
    while (!w->done) {
        at.tv_nsec += POLL_MS * 1000000L;
        at.tv_sec += at.tv_nsec / 1000000000L;
        at.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&w->wake, &w->lock, &at);
        passed += POLL_MS;
        if (w->done) break;
        if ((w->left_ms > 0 && passed >= w->left_ms) || (w->interrupt && *w->interrupt)) {
            /* Again at every turn: an interrupt between two phases of a check can be missed. */
            w->fired = true;
            Z3_interrupt(w->z);
        }
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

pr_watchdog *pr_watchdog_start(Z3_context z, int64_t t_wall_ms, const volatile int *interrupt)
{
    if (t_wall_ms <= 0 && !interrupt) return NULL;
    pr_watchdog *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->z = z;
    w->left_ms = t_wall_ms;
    w->interrupt = interrupt;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    if (pthread_create(&w->thread, NULL, watch, w) != 0) {
        free(w);
        return NULL;
    }
    return w;
}

bool pr_watchdog_stop(pr_watchdog *w)
{
    if (!w) return false;
    pthread_mutex_lock(&w->lock);
    w->done = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    bool fired = w->fired;
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w);
    return fired;
}
