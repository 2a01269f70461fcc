/* Z3 is loaded when its first formula is made: most runs need none, and the library alone costs a process more time
 * than most checks. Included by z3_wrap.h only.
 *
 * Where the build knows no name to load it by (PR_Z3_LIBRARY), the program is linked with Z3 and nothing here is used.
 * Otherwise it is not linked: a function that is used and does not stand in both lists below is an undefined symbol. */
#ifndef PR_SMT_Z3_LOAD_H
#define PR_SMT_Z3_LOAD_H
#include <z3.h>

/* Loads it, once a process. Null, or why there is no Z3 (text of this thread, until its next call). */
const char *pr_z3_load(void);

#ifdef PR_Z3_LIBRARY
#define PR_Z3_FUNCTIONS(X) \
    X(del_config) X(del_context) X(get_ast_kind) X(get_full_version) X(get_numeral_string) X(global_param_set) \
    X(interrupt) X(mk_add) X(mk_and) X(mk_bool_sort) X(mk_bv2int) X(mk_bvand) X(mk_bvor) X(mk_bvxor) \
    X(mk_config) X(mk_context) X(mk_div) X(mk_eq) X(mk_false) X(mk_fresh_const) X(mk_ge) X(mk_gt) X(mk_implies) \
    X(mk_int2bv) X(mk_int64) X(mk_int_sort) X(mk_ite) X(mk_le) X(mk_lt) X(mk_mod) X(mk_mul) X(mk_not) \
    X(mk_numeral) X(mk_or) X(mk_params) X(mk_simple_solver) X(mk_string_symbol) X(mk_true) X(mk_unary_minus) \
    X(mk_xor) X(model_dec_ref) X(model_eval) X(model_inc_ref) X(params_dec_ref) X(params_inc_ref) \
    X(params_set_bool) X(params_set_uint) X(set_error_handler) X(set_param_value) X(solver_assert) \
    X(solver_check) X(solver_dec_ref) X(solver_get_model) X(solver_get_reason_unknown) X(solver_get_statistics) \
    X(solver_inc_ref) X(solver_set_params) X(stats_dec_ref) X(stats_get_key) X(stats_get_uint_value) \
    X(stats_inc_ref) X(stats_is_uint) X(stats_size)

typedef struct pr_z3_functions {
#define X(name) __typeof__(Z3_##name) *name;
    PR_Z3_FUNCTIONS(X)
#undef X
} pr_z3_functions;

extern pr_z3_functions pr_z3; /* set by pr_z3_load */

#define Z3_del_config pr_z3.del_config
#define Z3_del_context pr_z3.del_context
#define Z3_get_ast_kind pr_z3.get_ast_kind
#define Z3_get_full_version pr_z3.get_full_version
#define Z3_get_numeral_string pr_z3.get_numeral_string
#define Z3_global_param_set pr_z3.global_param_set
#define Z3_interrupt pr_z3.interrupt
#define Z3_mk_add pr_z3.mk_add
#define Z3_mk_and pr_z3.mk_and
#define Z3_mk_bool_sort pr_z3.mk_bool_sort
#define Z3_mk_bv2int pr_z3.mk_bv2int
#define Z3_mk_bvand pr_z3.mk_bvand
#define Z3_mk_bvor pr_z3.mk_bvor
#define Z3_mk_bvxor pr_z3.mk_bvxor
#define Z3_mk_config pr_z3.mk_config
#define Z3_mk_context pr_z3.mk_context
#define Z3_mk_div pr_z3.mk_div
#define Z3_mk_eq pr_z3.mk_eq
#define Z3_mk_false pr_z3.mk_false
#define Z3_mk_fresh_const pr_z3.mk_fresh_const
#define Z3_mk_ge pr_z3.mk_ge
#define Z3_mk_gt pr_z3.mk_gt
#define Z3_mk_implies pr_z3.mk_implies
#define Z3_mk_int2bv pr_z3.mk_int2bv
#define Z3_mk_int64 pr_z3.mk_int64
#define Z3_mk_int_sort pr_z3.mk_int_sort
#define Z3_mk_ite pr_z3.mk_ite
#define Z3_mk_le pr_z3.mk_le
#define Z3_mk_lt pr_z3.mk_lt
#define Z3_mk_mod pr_z3.mk_mod
#define Z3_mk_mul pr_z3.mk_mul
#define Z3_mk_not pr_z3.mk_not
#define Z3_mk_numeral pr_z3.mk_numeral
#define Z3_mk_or pr_z3.mk_or
#define Z3_mk_params pr_z3.mk_params
#define Z3_mk_simple_solver pr_z3.mk_simple_solver
#define Z3_mk_string_symbol pr_z3.mk_string_symbol
#define Z3_mk_true pr_z3.mk_true
#define Z3_mk_unary_minus pr_z3.mk_unary_minus
#define Z3_mk_xor pr_z3.mk_xor
#define Z3_model_dec_ref pr_z3.model_dec_ref
#define Z3_model_eval pr_z3.model_eval
#define Z3_model_inc_ref pr_z3.model_inc_ref
#define Z3_params_dec_ref pr_z3.params_dec_ref
#define Z3_params_inc_ref pr_z3.params_inc_ref
#define Z3_params_set_bool pr_z3.params_set_bool
#define Z3_params_set_uint pr_z3.params_set_uint
#define Z3_set_error_handler pr_z3.set_error_handler
#define Z3_set_param_value pr_z3.set_param_value
#define Z3_solver_assert pr_z3.solver_assert
#define Z3_solver_check pr_z3.solver_check
#define Z3_solver_dec_ref pr_z3.solver_dec_ref
#define Z3_solver_get_model pr_z3.solver_get_model
#define Z3_solver_get_reason_unknown pr_z3.solver_get_reason_unknown
#define Z3_solver_get_statistics pr_z3.solver_get_statistics
#define Z3_solver_inc_ref pr_z3.solver_inc_ref
#define Z3_solver_set_params pr_z3.solver_set_params
#define Z3_stats_dec_ref pr_z3.stats_dec_ref
#define Z3_stats_get_key pr_z3.stats_get_key
#define Z3_stats_get_uint_value pr_z3.stats_get_uint_value
#define Z3_stats_inc_ref pr_z3.stats_inc_ref
#define Z3_stats_is_uint pr_z3.stats_is_uint
#define Z3_stats_size pr_z3.stats_size
#endif
#endif
