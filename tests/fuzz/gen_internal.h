/* Shared by the three files of the generator. */
#ifndef PR_TESTS_FUZZ_GEN_INTERNAL_H
#define PR_TESTS_FUZZ_GEN_INTERNAL_H
#include "gen.h"

typedef struct gen_op { const char *name; } gen_op;
enum { B_ADDI, B_SUBI, B_MULI, B_DIVSI, B_DIVUI, B_REMSI, B_REMUI, B_CEILDIVSI, B_CEILDIVUI,
       B_FLOORDIVSI, B_MAXSI, B_MAXUI, B_MINSI, B_MINUI, B_ANDI, B_ORI, B_XORI, B_SHLI, B_SHRSI,
       B_SHRUI, B_MULHIUI, B_COUNT };
enum { C_EXTSI, C_EXTUI, C_TRUNCI, C_INDEX_CAST, C_INDEX_CASTUI, C_BITCAST, C_COUNT };
enum { X_ADDUI, X_MULSI, X_MULUI };
enum { P_EQ, P_NE, P_SLT, P_SLE, P_SGT, P_SGE, P_ULT, P_ULE, P_UGT, P_UGE };
enum { R_ADD, R_FADD, R_MAX, R_MIN, R_UMAX, R_UMIN, R_AND, R_OR, R_XOR, R_EXCH };
enum { SEM_RELAXED, SEM_ACQUIRE, SEM_RELEASE, SEM_ACQ_REL };
enum { SCOPE_GPU, SCOPE_CTA, SCOPE_SYS };
extern const char *const gen_bin_name[B_COUNT];
extern const char *const gen_cast_name[C_COUNT];
extern const char *const gen_pred_name[10];

static inline bool gtype_eq(gtype a, gtype b)
{
    if (a.bits != b.bits || a.is_float != b.is_float || a.rank != b.rank) return false;
    for (int i = 0; i < a.rank; i++)
        if (a.shape[i] != b.shape[i]) return false;
    return true;
}
static inline int gtype_count(gtype t)
{
    int n = 1;
    for (int i = 0; i < t.rank; i++) n *= t.shape[i];
    return n;
}
#endif
