/* What the files of the parser share; nobody else includes this.
 *
 *   parse.c         tokens, failure, operations, regions, blocks, the module
 *   parse_ops.c     custom assembly of arith, math, scf, cf and small dialects
 *   parse_tt.c      custom assembly of the tt dialect and tt.func
 *   parse_unknown.c operations in custom form that have no row in either
 *   parse_attr.c    attributes and raw (balanced) text
 *   parse_type.c    types
 *   parse_scope.c   aliases, value and block names
 *   srcloc.c        locations
 *
 * Failure: pr_parse_fail fills the error and jumps to pr_ir_parse; no function reports failure by
 * its result, and everything lives in the arena, so nothing has to be undone. Recursion is
 * bounded by three counters (regions, attributes with types, locations), each against a limit.
 *
 * Linear work: an alias is read once and shared. Its expanded size is charged to a budget
 * proportional to the text at each use, so shared parts cannot blow up printing or comparing. */
#ifndef PR_FRONT_PARSE_H
#define PR_FRONT_PARSE_H
#include <setjmp.h>
#include "front/ir.h"
#include "front/lex.h"
#include "front/ops.h"
#include "front/types.h"
#include "util/num.h"

/* Marks that ir_text prints and the parser takes back: a value without a type, and an operation
 * that was skipped token by token. */
#define PR_UNKNOWN_TYPE_NAME "polyrace.unknown"
#define PR_UNKNOWN_FORM_KEY "polyrace.unknown_form"

typedef enum { PR_ALIAS_NEW, PR_ALIAS_OPEN, PR_ALIAS_DONE } pr_alias_state;

typedef struct pr_alias {
    pr_str name;                /* with sigil                                                  */
    pr_lexer at;                /* position of the '='                                         */
    pr_lexer after;             /* DONE: where its text ends                                   */
    pr_alias_state state;
    pr_attr *attr;              /* one of the three is set when DONE                           */
    const pr_type *type;
    const pr_srcloc *loc;
    pr_str text;                /* DONE: expanded text, null until pr_parse_raw asks for it      */
    size_t weight;              /* characters when expanded                                    */
    int height, loc_height;     /* nesting below one use                                       */
} pr_alias;

/* One definition of a name; the newest visible one is on top of its name's stack. */
typedef struct pr_binding pr_binding;
struct pr_binding {
    pr_binding *below;          /* same name, outer scope                                      */
    pr_binding *next;           /* same scope                                                  */
    struct pr_name *name;
    int depth;
    pr_value **values; int n;   /* results of one group                                        */
    pr_block *block;            /* block labels                                                */
    bool defined;               /* block labels: its header was read                           */
    int line, col;              /* first mention                                               */
};
typedef struct pr_name { pr_str text; pr_binding *top; } pr_name;

typedef struct pr_scope pr_scope;
struct pr_scope {
    pr_scope *outer;
    pr_binding *bindings;
    int depth, floor;           /* names of depth < floor are invisible (isolated function)    */
    int first_pending;
};

/* A use whose definition has not been read yet. */
typedef struct pr_pending {
    pr_op *op; int operand, result;
    pr_name *name;
    const pr_type *stated;      /* type printed with the use, null when none                   */
    int line, col;
} pr_pending;

typedef struct pr_parser {
    pr_arena *arena;
    const char *file;
    pr_read_limits limits;
    pr_error *err;
    jmp_buf *out;
    pr_lexer lex;               /* behind tok                                                  */
    pr_token tok;
    const char *previous_end;   /* end of the token before tok                                 */
    const char *end;
    int region_depth, depth, loc_depth;
    int peak, loc_peak;         /* greatest depth since the alias under way began              */
    int open_aliases;
    size_t charged, budget;
    size_t expanded;            /* characters of the aliases used by the alias under way        */
    pr_alias *aliases; int n_aliases;
    int *alias_slots; int n_alias_slots;
    PR_VEC(pr_name *) names;
    int *name_slots; int n_name_slots;
    pr_scope *scope;
    PR_VEC(pr_pending) pending;
    const pr_type *int_types[129];      /* i1 to i128, null until met                          */
    int n_ops, n_values;
    bool has_deep;              /* some tensor type is deep                                    */
    pr_str cut_in;              /* the text ends inside this function                             */
    int end_line, end_col;
} pr_parser;

/* A use as written. */
typedef struct pr_use { pr_name *name; int result; int line, col; } pr_use;

/* A block argument before its block exists. */
typedef struct pr_arg {
    pr_str name; const pr_type *type; pr_attr *attrs; const pr_srcloc *loc; int line, col;
} pr_arg;
typedef PR_VEC(pr_arg) pr_args;

typedef PR_VEC(pr_use) pr_uses;
typedef PR_VEC(const pr_type *) pr_types;

/* An operation under construction. */
typedef struct pr_draft {
    pr_op *op;
    pr_uses uses;
    pr_types stated;            /* parallel to uses, null = not stated; may be shorter         */
    pr_types results;
    PR_VEC(pr_attr_entry) props, attrs;
    PR_VEC(pr_region *) regions;
    PR_VEC(pr_successor) succ;
    int n_bound;                /* results bound by the text, -1 when it binds none            */
} pr_draft;

/* ---- parse.c: tokens and failure ------------------------------------------------------------ */
/* A name that use stands for is not defined; what: "location alias" and so on. */
_Noreturn void pr_parse_undefined(pr_parser *p, const pr_token *use, const char *what);
_Noreturn void pr_parse_fail(pr_parser *p, pr_status kind, int line, int col, const char *format,
                             ...) PR_PRINTF(5, 6);
/* "expected WHAT, got TOKEN" at the current token. */
_Noreturn void pr_parse_expected(pr_parser *p, const char *what);
void pr_parse_next(pr_parser *p);
void pr_parse_goto(pr_parser *p, pr_lexer at);       /* reads the token there                   */
pr_lexer pr_parse_here(const pr_parser *p);          /* position in front of tok                */
pr_token pr_parse_peek(const pr_parser *p);          /* the token behind tok                    */
static inline bool pr_parse_is(const pr_parser *p, pr_tok kind) { return p->tok.kind == kind; }
bool pr_parse_is_word(const pr_parser *p, const char *word);
bool pr_parse_accept(pr_parser *p, pr_tok kind);
bool pr_parse_accept_word(pr_parser *p, const char *word);
void pr_parse_expect(pr_parser *p, pr_tok kind, const char *where);
void pr_parse_expect_word(pr_parser *p, const char *word);
int pr_parse_int(pr_parser *p, const char *what);    /* non-negative, fits int                   */

/* ---- parse.c: operations -------------------------------------------------------------------- */
enum { PR_REGION_ENTRY = 1, PR_REGION_YIELD = 2, PR_REGION_ISOLATED = 4 };
/* '{' blocks '}'. ENTRY: a first block exists even when nothing is printed; YIELD: a missing
 * scf.yield is added; ISOLATED: outer names are invisible. Appends to the draft. */
pr_region *pr_parse_region(pr_parser *p, pr_draft *d, const pr_args *args, int flags);
void pr_parse_add_region(pr_parser *p, pr_draft *d, pr_region *r);
pr_region *pr_parse_empty_region(pr_parser *p, pr_draft *d);
pr_use pr_parse_use(pr_parser *p);                   /* '%name' ('#' n)?                         */
void pr_parse_operand(pr_parser *p, pr_draft *d);    /* one use                                 */
/* use (',' use)* ; nothing when tok is no value name. */
int pr_parse_operands(pr_parser *p, pr_draft *d);
/* '[' use list ']' ; number of uses. */
int pr_parse_bracketed(pr_parser *p, pr_draft *d, const char *where);
void pr_parse_state(pr_parser *p, pr_draft *d, int operand, const pr_type *t);
void pr_parse_prop(pr_parser *p, pr_draft *d, const char *key, pr_attr *value);
void pr_parse_attr_entry(pr_parser *p, pr_draft *d, pr_attr_entry e);
void pr_parse_attr_dict(pr_parser *p, pr_draft *d);  /* optional '{...}'                         */
/* '^label' ('(' uses ':' types ')')? of a cf operation; appends successor and operands. */
int pr_parse_successor(pr_parser *p, pr_draft *d);
void pr_parse_segments(pr_parser *p, pr_draft *d, int n, const int *sizes);
pr_op *pr_parse_op(pr_parser *p);

/* ---- parse_ops.c, parse_tt.c, parse_ttg.c, parse_unknown.c ------------------------------------------------ */
typedef void (*pr_custom_reader)(pr_parser *p, pr_draft *d);
/* Null when there is no custom grammar for the operation. */
pr_custom_reader pr_custom_find(int opcode);
pr_custom_reader pr_custom_find_tt(int opcode);
pr_custom_reader pr_custom_find_ttg(int opcode);
void pr_parse_unknown(pr_parser *p, pr_draft *d);
void pr_parse_warp_specialize(pr_parser *p, pr_draft *d);
/* Keyword of an enumeration: integer attribute with the number, or a string when unknown. */
pr_attr *pr_parse_keyword(pr_parser *p, const char *const *words, int n, int bits,
                          const char *what);

/* ---- parse_attr.c ---------------------------------------------------------------------------- */
pr_attr *pr_parse_attr(pr_parser *p);
pr_attr *pr_parse_dict(pr_parser *p);                /* '{' entries '}'                          */
/* Drops entries whose name an earlier one has; gives how many stay. */
int pr_parse_first_of_each(pr_parser *p, pr_attr_entry *e, int n);
pr_str pr_parse_string(pr_parser *p, const char *what);  /* STRING token, decoded                */
pr_str pr_parse_symbol(pr_parser *p);                /* '@name' ('::' '@name')*                   */
pr_attr *pr_attr_new_int(pr_parser *p, pr_i128 v, int bits);
pr_attr *pr_attr_new_unit(pr_parser *p);
pr_attr *pr_attr_new_string(pr_parser *p, pr_str s);
pr_attr *pr_attr_new_raw(pr_parser *p, pr_str s);
pr_attr *pr_attr_new_ints(pr_parser *p, int bits, int n, const int *values);
/* Copies tokens into b, aliases expanded, space collapsed, until an unmatched closing bracket
 * or, with stop_comma, a comma outside brackets. The stopping token stays current. */
void pr_parse_raw(pr_parser *p, pr_buf *b, bool stop_comma);
/* tok is '<': copies the bracketed text with both brackets. */
void pr_parse_raw_angle(pr_parser *p, pr_buf *b);

/* ---- parse_type.c ---------------------------------------------------------------------------- */
const pr_type *pr_parse_type(pr_parser *p);
bool pr_parse_at_type(const pr_parser *p);           /* can tok begin a type?                    */
/* Type whose dialect prefix may be stripped: "<f16>" for "!tt.ptr<f16>". */
const pr_type *pr_parse_ptr_type(pr_parser *p);
const pr_type *pr_parse_desc_type(pr_parser *p);
void pr_parse_type_list(pr_parser *p, pr_types *out);       /* T (',' T)*                        */
void pr_parse_type_parens(pr_parser *p, pr_types *out);     /* '(' list? ')'                     */
void pr_parse_arrow_types(pr_parser *p, pr_types *out);     /* T | '(' list? ')', after '->'     */
const pr_type *pr_type_int(pr_parser *p, int bits);          /* 1 to 128                          */
/* The type with the element replaced (tensor), or elem itself. */
const pr_type *pr_type_with_elem(pr_parser *p, const pr_type *shape, const pr_type *elem);

/* ---- parse_scope.c --------------------------------------------------------------------------- */
void pr_alias_collect(pr_parser *p, const char *text, size_t length);
pr_alias *pr_alias_find(const pr_parser *p, pr_str name_with_sigil);
/* Reads the definition when needed, charges one use and checks nesting. Fails on cycles. */
void pr_alias_resolve(pr_parser *p, pr_alias *a, const pr_token *use);
pr_str pr_alias_text(pr_parser *p, pr_alias *a);
void pr_parse_charge(pr_parser *p, size_t weight);
void pr_parse_enter(pr_parser *p);                   /* attribute and type nesting               */
void pr_parse_leave(pr_parser *p);
pr_name *pr_name_intern(pr_parser *p, pr_str text);
void pr_scope_push(pr_parser *p, pr_scope *s, bool isolated);
void pr_scope_pop(pr_parser *p);                     /* resolves what is pending                 */
pr_binding *pr_scope_lookup(const pr_parser *p, const pr_name *n);  /* visible one, else null     */
void pr_scope_define(pr_parser *p, pr_name *n, pr_value **values, int count, int line, int col);
pr_binding *pr_scope_block(pr_parser *p, pr_token label);
/* Puts the value of a use into op->operands[i], now or when its scope ends. */
void pr_scope_use(pr_parser *p, pr_op *op, int i, const pr_use *u, const pr_type *stated);
pr_value *pr_value_new(pr_parser *p, const pr_type *type, pr_str name);

/* ---- srcloc.c -------------------------------------------------------------------------------- */
bool pr_parse_at_loc(const pr_parser *p);            /* tok is 'loc' followed by '('             */
const pr_srcloc *pr_parse_loc(pr_parser *p);         /* 'loc' '(' location ')'                   */
const pr_srcloc *pr_parse_optional_loc(pr_parser *p);

/* ---- verify.c -------------------------------------------------------------------------------- */
/* Everything ir.h promises after parsing; false with *err filled. */
bool pr_verify(const pr_ir *ir, pr_arena *scratch, pr_error *err);
#endif
