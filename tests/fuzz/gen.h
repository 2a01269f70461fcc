/* Random small kernels: a tree that is built, shrunk and printed as TTIR text plus launch facts.
 *
 * A kernel is a value: fixed arrays, no pointers, so that the shrinker copies it, changes the copy and
 * keeps it when the mismatch is still there. Expressions form trees (a value used twice is named by a
 * G_LET statement); statements are linked lists; defined values have numbers in `val`.
 *
 * The generator aims at kernels whose verdict hangs on a detail: addresses of the form
 * (program * trips + iteration) * tile + lane in many spellings, right or with one constant changed,
 * disguised by exact detours through every integer operation. Same seed and number, same kernel. */
#ifndef PR_TESTS_FUZZ_GEN_H
#define PR_TESTS_FUZZ_GEN_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define G_EXPRS 1500
#define G_STMTS 96
#define G_VALS 128
#define G_ARGS 6
#define G_PARAMS 3

typedef struct gtype { int bits; /* 0 = index */ bool is_float; int rank; int shape[4]; } gtype;

typedef enum {
    GE_CONST, GE_PID, GE_NPROG, GE_RANGE, GE_PARAM, GE_VAL,
    GE_SPLAT, GE_EXPAND, GE_BROADCAST, GE_RESHAPE, GE_TRANS, GE_JOINSPLIT, GE_REDUCE,
    GE_BIN,      /* name = row of gen_binary                                                */
    GE_CMP,      /* c = predicate                                                          */
    GE_SELECT, GE_CAST, /* c = row of gen_cast                                               */
    GE_EXTENDED, /* addui_extended / mulsi_extended / mului_extended, low result; c = which    */
    GE_FADD, GE_NARROW_SELECT
} gexpr_kind;

typedef struct gexpr {
    int kind; gtype t; int k[3]; int64_t c; int ref;
} gexpr;

typedef enum { GS_LET, GS_LOAD, GS_STORE, GS_RMW, GS_CAS, GS_BARRIER, GS_FOR, GS_WHILE, GS_IF,
               GS_RETURN_IF } gstmt_kind;

typedef struct gaccess {
    int arg, view_bits;     /* view_bits: element width of the pointer after a bitcast, 0 = own     */
    int off;                /* element offset of the view, shape of the access; -1 = none           */
    int soff;               /* scalar offset added before the splat, -1 = none                     */
    int carry;              /* value number of a carried pointer, -1 = none                         */
    int sel, off2, arg2;    /* scalar or tile condition: select(sel, own, other pointer); -1 = none  */
    int rank, shape[4];
    int form;               /* spelling of the address arithmetic                                */
} gaccess;

typedef struct gstmt {
    int kind, next, body, other; /* statement lists; -1 = end                                   */
    int val;                     /* value defined: LET, LOAD, RMW, CAS, IF result; induction of loops */
    int e[4];                    /* see gen.c                                                  */
    gaccess a;
    int mask;                    /* expression or -1                                           */
    int has_other;               /* loads: 0 none, 1 zero                                       */
    int op, sem, scope;          /* atomics; BARRIER: op = spelling                               */
    int n_carry; int carry_init[2], carry_inc[2], carry_val[2], carry_res[2]; /* loops; value numbers */
    gaccess carry_ptr[2]; int carry_is_ptr[2];
} gstmt;

typedef struct garg {
    int bits; bool is_float;
    int alias_of; int64_t alias_bytes;  /* storage of another argument, pointer moved by that much    */
    int64_t elems_before, elems_after;  /* storage around the pointer, in elements                   */
    bool has_values; int n_values; int8_t values[64]; int unread;
} garg;

typedef struct gval { gtype t; bool is_ptr; int ptr_bits; bool ptr_float; } gval;

typedef struct gkernel {
    uint64_t seed, number;
    int n_exprs, n_stmts, n_vals, n_args, n_params;
    gexpr e[G_EXPRS];
    gstmt s[G_STMTS];
    gval v[G_VALS];
    garg arg[G_ARGS];
    int param_bits[G_PARAMS]; int64_t param[G_PARAMS];
    int64_t grid[3];
    int top;                    /* first statement                                            */
    bool full;                  /* some array ran out; drop the kernel                            */
} gkernel;

/* Names of the things counted for the mix; one bit each in gen_text's result. */
#define GEN_FEATURES 128
extern const char *const gen_feature_name[GEN_FEATURES]; /* null-terminated */
typedef struct gfeatures { uint8_t has[GEN_FEATURES]; } gfeatures;

void gen_kernel(gkernel *k, uint64_t seed, uint64_t number);
/* malloc'ed TTIR text and launch JSON (ttir_text inside when inline_text). f may be null. */
char *gen_ttir(const gkernel *k, gfeatures *f);
char *gen_launch(const gkernel *k, const int64_t grid[3], const char *ttir_text);

/* Tries smaller kernels as long as keep(user, candidate) says that the mismatch is still there. */
void gen_shrink(gkernel *k, bool (*keep)(void *user, const gkernel *candidate), void *user, int max_tries);

uint64_t gen_rng_next(uint64_t *state);
/* The next numbers come from these bytes, two each, before any state is asked. The bytes stay the caller's until n is 0 again. */
void gen_rng_tape(const uint8_t *bytes, size_t n);
#endif
