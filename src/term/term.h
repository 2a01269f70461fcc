/* Hash-consed terms: the vocabulary shared by the reader, the records and every engine.
 *
 * A term is a 32-bit index into a pr_terms. Equal structure <=> equal index, so equality is
 * a.id == b.id and per-term facts live in side arrays. Children have smaller indices than parents;
 * every traversal is iterative (chains of 10^5 nodes occur). Two sorts: Boolean and mathematical
 * (unbounded) integer. Machine widths are not in the integer term: a side condition "the unbounded
 * value equals the n-bit value" is a Boolean PR_TERM_FITS term that travels beside it
 * (ttir-front.md 4).
 *
 * Constants are exact pr_i128. A constructor whose constant would leave pr_i128 yields
 * PR_TERM_NONE; PR_TERM_NONE in gives PR_TERM_NONE out, the caller checks once at the end.
 *
 * Semantics (eval, isl and Z3 must agree on them exactly)
 *   FDIV/FMOD a b   floor quotient and a - b*FDIV; for b = 0: FDIV = 0, FMOD = a
 *   TDIV/TREM a b   quotient truncated towards zero and a - b*TDIV; for b = 0: TDIV = 0, TREM = a
 *   BAND BOR BXOR   on infinite two's complement (so the n-bit signed reading is exact for any n)
 *   SELECT c a b    c Boolean, a and b of one sort (Boolean selects are built from and/or/not)
 *   MIN MAX         integers
 *   APP sym args    value of an unmodelled or loaded thing at a program, iteration and lane: an
 *                   uninterpreted symbol. Integer or Boolean by the symbol. The program is
 *                   implicit: two copies of one APP are two values. Two APPs with different args
 *                   are two values.
 *   TABLE tab i     entry i of a lookup table, i clamped to its ends (table.h)
 *   FITS kind t     see pr_fits_kind; Boolean */
#ifndef PR_TERM_TERM_H
#define PR_TERM_TERM_H
#include "util/num.h"
#include "util/vec.h"

typedef struct pr_terms pr_terms;
typedef struct { uint32_t id; } pr_term;
typedef struct { uint32_t id; } pr_var;  /* index into the store's variable table; 0 = none */
typedef struct { uint32_t id; } pr_sym;  /* index into the store's symbol table; 0 = none   */
typedef struct { uint32_t id; } pr_tab;  /* index into the store's lookup tables (table.h)      */

#define PR_TERM_NONE  ((pr_term){ 0 })
#define PR_TERM_FALSE ((pr_term){ 1 })
#define PR_TERM_TRUE  ((pr_term){ 2 })
#define PR_TERM_ZERO  ((pr_term){ 3 })
#define PR_VAR_NONE   ((pr_var){ 0 })
#define PR_SYM_NONE   ((pr_sym){ 0 })
static inline bool pr_term_is(pr_term a, pr_term b) { return a.id == b.id; }
static inline bool pr_term_none(pr_term a) { return a.id == 0; }

typedef enum {
    PR_TERM_OP_NONE, PR_TERM_OP_FALSE, PR_TERM_OP_TRUE,
    PR_TERM_OP_CONST,  /* value                                                          */
    PR_TERM_OP_VAR,    /* var (integer; a Boolean unknown is a 0/1 variable compared with 1) */
    PR_TERM_OP_APP,    /* sym, children = args (integers); sort of the symbol              */
    PR_TERM_OP_SUM,    /* value (constant part) + sum coef[i]*child[i]; children sorted by id,
                          distinct, never CONST/SUM, coef != 0; at least one child, and not
                          just 1*child + 0                                              */
    PR_TERM_OP_MUL,    /* two children, neither constant, sorted by id                    */
    PR_TERM_OP_FDIV, PR_TERM_OP_FMOD, PR_TERM_OP_TDIV, PR_TERM_OP_TREM,
    PR_TERM_OP_MIN, PR_TERM_OP_MAX,
    PR_TERM_OP_SELECT,
    PR_TERM_OP_BAND, PR_TERM_OP_BOR, PR_TERM_OP_BXOR,
    PR_TERM_OP_LE0,    /* child <= 0                                                     */
    PR_TERM_OP_EQ0,    /* child == 0                                                     */
    PR_TERM_OP_NOT, PR_TERM_OP_AND, PR_TERM_OP_OR, /* AND/OR: two children, sorted, not flattened */
    PR_TERM_OP_FITS,   /* aux = pr_fits_kind, bits; child                                  */
    PR_TERM_OP_TABLE   /* aux = table; child = index                                       */
} pr_term_op;

/* What FITS(t) says about the unbounded value t of an n-bit operation. */
typedef enum {
    PR_FITS_SIGNED,    /* -2^(bits-1) <= t < 2^(bits-1)                                    */
    PR_FITS_NONNEG,    /* t >= 0 (an operand read unsigned at this width)                   */
    PR_FITS_BIT        /* 0 <= t <= 1 (trunc to i1)                                        */
} pr_fits_kind;

/* Variables. The front end and the records use copy PR_COPY_NONE; hb/encode makes A/B copies. */
typedef enum {
    PR_ROLE_PID,       /* index = axis 0..2                                              */
    PR_ROLE_GRID,      /* number of programs, index = axis                                 */
    PR_ROLE_PARAM,     /* index = function argument number (integer or bool argument)      */
    PR_ROLE_LANE,      /* index = dimension of the tensor being described (0..7)           */
    PR_ROLE_ITER,      /* index = loop number, 0-based iteration count                      */
    PR_ROLE_FREE,      /* existential stand-in for an APP in one copy; index = running       */
    PR_ROLE_OTHER      /* anything a test or a lemma needs                                 */
} pr_var_role;
typedef enum { PR_COPY_NONE, PR_COPY_SHARED, PR_COPY_A, PR_COPY_B } pr_copy;

/* Saturating bounds: PR_INF stands for unbounded. All real values are far below. */
#define PR_INF ((pr_i128)1 << 120)

/* Kinds of leaves that a term is made of, as bits. */
#define PR_OCCURS(role) (1u << (role))
enum { PR_OCCURS_APP = 1 << 7, PR_OCCURS_TABLE = 1 << 8, PR_OCCURS_FITS = 1 << 9,
       PR_OCCURS_VAR = (1 << 7) - 1 };

typedef struct pr_var_info {
    pr_var_role role;
    int index;
    pr_copy copy;
    pr_i128 lo, hi;    /* unconditional interval of the variable, -PR_INF / PR_INF when unbounded */
    /* for dumps: "pid0", "lane1", "k3", "n_elements"; unique per (role,index,copy) */
    const char *name;
    uint32_t twin;     /* A/B copies: the other copy's variable id, else 0                  */
} pr_var_info;

/* Uninterpreted symbols (leaves Loaded, Observed, Unmodelled and fresh conditions). */
typedef enum {
    PR_SYM_LOADED,     /* value of a load: access = its access number                      */
    PR_SYM_OBSERVED,   /* value an atomic returned: access = its access number               */
    PR_SYM_OPAQUE,     /* an unmodelled value                                             */
    PR_SYM_CONDITION   /* an unmodelled branch condition                                   */
} pr_sym_kind;
typedef struct pr_sym_info {
    pr_sym_kind kind;
    bool is_bool;
    int bits;          /* integer symbols: width; the value lies in the signed range         */
    bool bounded; pr_i128 lo, hi; /* integer symbols: always within these, whatever memory holds  */
    int access;        /* LOADED/OBSERVED: access number, else -1                           */
    bool from_memory;  /* derives from a load (taint)                                      */
    bool from_atomic;  /* derives from an atomic's result, or from assembly: threads of one
                          program may see different values                                */
    bool loose;        /* made of lanes that nothing defines, or folded in another order by each thread: threads of one program may see different values */
    int refusal;       /* pr_refusal_kind used when the value reaches an address             */
    const char *reason;/* for people: "result of math.exp", "reshape with allow_reorder"       */
    int op_id;         /* pr_op id of the operation that made it (for the source line), -1     */
} pr_sym_info;

pr_terms *pr_terms_new(pr_arena *arena);           /* lives in the arena */
pr_arena *pr_terms_arena(const pr_terms *T);
uint32_t pr_terms_count(const pr_terms *T);        /* ids 1..count-1 are valid */

pr_var pr_var_new(pr_terms *T, pr_var_info info);  /* one variable per (role, index, copy): repeated
                                                      calls return the same and ignore the rest  */
const pr_var_info *pr_var_get(const pr_terms *T, pr_var v);
uint32_t pr_vars_count(const pr_terms *T);         /* ids 1..count-1 are valid */
pr_sym pr_sym_new(pr_terms *T, pr_sym_info info);  /* always a new symbol */
const pr_sym_info *pr_sym_get(const pr_terms *T, pr_sym s);
uint32_t pr_syms_count(const pr_terms *T);

/* Inspection */
pr_term_op pr_term_op_of(const pr_terms *T, pr_term t);
bool pr_term_is_bool(const pr_terms *T, pr_term t);
unsigned pr_term_lanes(const pr_terms *T, pr_term t);        /* bit d: the LANE variable d of no copy is in it or below, d < 8 */
unsigned pr_term_occurs(const pr_terms *T, pr_term t);       /* PR_OCCURS bits of the term and what is below it; 0 for NONE */
int pr_term_arity(const pr_terms *T, pr_term t);
pr_term pr_term_child(const pr_terms *T, pr_term t, int i);
pr_i128 pr_term_coef(const pr_terms *T, pr_term t, int i);   /* SUM only */
pr_i128 pr_term_value(const pr_terms *T, pr_term t);         /* CONST, SUM: constant part */
bool pr_term_const(const pr_terms *T, pr_term t, pr_i128 *v); /* true for CONST */
pr_var pr_term_var(const pr_terms *T, pr_term t);            /* VAR */
/* All of a node at once; until the next term is made. */
typedef struct pr_term_view { pr_term_op op; int n; uint32_t aux; pr_fits_kind fits; const pr_term *child; const pr_i128 *coef; pr_i128 value; } pr_term_view;
pr_term_view pr_term_look(const pr_terms *T, pr_term t);     /* coef: of a SUM, else null; aux: of a VAR, APP or TABLE its number, of a FITS its bits */
pr_sym pr_term_sym(const pr_terms *T, pr_term t);            /* APP */
pr_tab pr_term_tab(const pr_terms *T, pr_term t);            /* TABLE */
int pr_term_bits(const pr_terms *T, pr_term t);              /* FITS */
pr_fits_kind pr_term_fits_kind(const pr_terms *T, pr_term t);

/* Constructors (normalising, numbered rules in term.c) */
pr_term pr_const(pr_terms *T, pr_i128 v);
pr_term pr_bool(bool v);
pr_term pr_var_term(pr_terms *T, pr_var v);
pr_term pr_app(pr_terms *T, pr_sym s, const pr_term *args, int n);
pr_term pr_table(pr_terms *T, pr_tab tab, pr_term index);
pr_term pr_add(pr_terms *T, pr_term a, pr_term b);
pr_term pr_sub(pr_terms *T, pr_term a, pr_term b);
/* constant + sum of coef[i]*t[i], in one step (t may repeat, be constant or a sum). */
pr_term pr_sum(pr_terms *T, const pr_term *t, const pr_i128 *coef, int n, pr_i128 constant);
pr_term pr_neg(pr_terms *T, pr_term a);
pr_term pr_scale(pr_terms *T, pr_term a, pr_i128 k);
pr_term pr_mul(pr_terms *T, pr_term a, pr_term b);
pr_term pr_fdiv_t(pr_terms *T, pr_term a, pr_term b);
pr_term pr_fmod_t(pr_terms *T, pr_term a, pr_term b);
pr_term pr_tdiv_t(pr_terms *T, pr_term a, pr_term b);
pr_term pr_trem_t(pr_terms *T, pr_term a, pr_term b);
pr_term pr_min(pr_terms *T, pr_term a, pr_term b);
pr_term pr_max(pr_terms *T, pr_term a, pr_term b);
pr_term pr_select(pr_terms *T, pr_term c, pr_term a, pr_term b); /* Boolean arms allowed */
pr_term pr_band(pr_terms *T, pr_term a, pr_term b);  /* exact rewrites for constant masks, see
                                                        ttir-front.md 2.5, happens-before.md 7.4  */
pr_term pr_bor(pr_terms *T, pr_term a, pr_term b);
pr_term pr_bxor(pr_terms *T, pr_term a, pr_term b);
pr_term pr_le(pr_terms *T, pr_term a, pr_term b);    /* a <= b */
pr_term pr_lt(pr_terms *T, pr_term a, pr_term b);
pr_term pr_eq(pr_terms *T, pr_term a, pr_term b);
pr_term pr_ne(pr_terms *T, pr_term a, pr_term b);
pr_term pr_not(pr_terms *T, pr_term a);
pr_term pr_and(pr_terms *T, pr_term a, pr_term b);
pr_term pr_or(pr_terms *T, pr_term a, pr_term b);
pr_term pr_implies(pr_terms *T, pr_term a, pr_term b);
pr_term pr_bool_to_int(pr_terms *T, pr_term b);      /* select(b, 1, 0) */
pr_term pr_int_to_bool(pr_terms *T, pr_term a);      /* a != 0 */
pr_term pr_fits(pr_terms *T, pr_fits_kind kind, int bits, pr_term t); /* TRUE when the variables'
                                                        unconditional intervals show it          */
/* The meaning of FITS as plain comparisons. */
pr_term pr_fits_expand(pr_terms *T, pr_term fits);

/* Substitution. Replaces variables (and, when app is set, APP terms) everywhere, rebuilding with
 * the normalising constructors; memoised in the struct, so reuse it for many terms of one
 * substitution.
 * var_map is indexed by variable id (n_var_map entries; PR_TERM_NONE or beyond the
 * end = keep). app: called for every APP after its args were substituted; returns the replacement
 * or the term itself. (Boolean APP must be replaced by a Boolean term.) */
typedef struct pr_subst {
    pr_terms *T;
    const pr_term *var_map; uint32_t n_var_map;
    pr_term (*app)(void *user, pr_terms *T, pr_term app_term);
    void *user;
    bool expand_fits;              /* replace FITS by its meaning */
    pr_term *memo; uint32_t memo_cap; /* private, zero-initialised */
} pr_subst;
pr_term pr_subst_apply(pr_subst *s, pr_term t);

/* Other variables in place of some, one to one, each with the interval of the one that it stands for: to[i] for variable
 * i, {0} or beyond the end = keep. out[i] is root[i] with them (PR_TERM_NONE stays). Cheaper than a substitution: a normal
 * form stays one, but for the order of operands. No APP may be below a root. */
void pr_term_rename(pr_terms *T, const pr_term *root, int n_roots, const pr_var *to, uint32_t n_to, pr_term *out);

/* Visits every distinct node below t once, children first. */
void pr_term_visit(const pr_terms *T, pr_term t, void (*visit)(void *user, pr_term t), void *user);
/* The same below any of the roots (PR_TERM_NONE is skipped). */
void pr_term_visit_all(const pr_terms *T, const pr_term *root, int n_roots,
                       void (*visit)(void *user, pr_term t), void *user);
/* Does any node below t (t included) satisfy the test? */
bool pr_term_any(const pr_terms *T, pr_term t,
                 bool (*test)(void *user, const pr_terms *T, pr_term t), void *user);
/* The same for nodes in which a leaf of one of the kinds (PR_OCCURS bits) occurs; the others are not looked at. */
void pr_term_visit_in(const pr_terms *T, const pr_term *root, int n_roots, unsigned of,
                      void (*visit)(void *user, pr_term t), void *user);
bool pr_term_any_in(const pr_terms *T, pr_term t, unsigned of,
                    bool (*test)(void *user, const pr_terms *T, pr_term t), void *user);
bool pr_term_mentions(const pr_terms *T, pr_term t, pr_var v);
/* The variables below any of the roots (PR_TERM_NONE is skipped), each once, in no order; appended. */
typedef PR_VEC(pr_var) pr_var_vec;
void pr_term_vars(const pr_terms *T, const pr_term *root, int n_roots, pr_var_vec *out, pr_arena *arena);
/* Splits a Boolean term into its top-level conjuncts (AND flattened iteratively, duplicates
 * removed, TRUE dropped); appends to *out. FALSE is kept as a conjunct. */
typedef PR_VEC(pr_term) pr_term_vec;
void pr_conjuncts(pr_terms *T, pr_term t, pr_term_vec *out, pr_arena *arena);

/* term/text.c: S-expressions. (+ 3 (* 4 pid0) lane0) (fdiv a b) (select c a b) (<= a 0) (= a 0)
 * (and a b) (not a) (fits i32 t) (load#3 args...) (obs#2 ...) (opaque#1 ...) (cond#0 ...) */
void pr_term_print(pr_buf *b, const pr_terms *T, pr_term t);
/* Large terms that stand below the roots more than once get names: "(def %1 TERM)" a line, each before its first use. Where
 * nothing is that large, no line. */
typedef struct pr_term_names { const uint32_t *name; uint32_t n; } pr_term_names;
pr_term_names pr_term_print_shared(pr_buf *b, const pr_terms *T, const pr_term *root, int n_roots);
/* Prints t; what has a name is printed as %name. */
void pr_term_print_with(pr_buf *b, const pr_terms *T, pr_term t, const pr_term_names *names);
/* The reverse: variables by name, symbols by kind and number. False with *why (static text) when
 * the text is not one term over the store's variables and symbols, or a constant leaves pr_i128. */
bool pr_term_parse(pr_terms *T, pr_str text, pr_term *out, const char **why);

/* term/eval.c: exact evaluation under an assignment. value[var id] and known[var id]. */
typedef struct pr_env { const pr_i128 *value; const bool *known; uint32_t n; } pr_env;
/* True and *out set (Booleans as 0/1); false when a needed variable is unknown, an APP is met or
 * pr_i128 overflows. SELECT, AND and OR need only what decides them. */
bool pr_eval(const pr_terms *T, pr_term t, const pr_env *env, pr_i128 *out);
/* The same for several terms at one point: what is below more than one of them is evaluated once. Between begin and the last
 * of them the point stays, and nothing else is evaluated. */
void pr_eval_begin(const pr_terms *T);
bool pr_eval_also(const pr_terms *T, pr_term t, const pr_env *env, pr_i128 *out);
#endif
