/* The parsed tree of one TTIR or TTGIR text: operations, values, blocks, regions, attributes,
 * types and source locations. Dialect-neutral: custom assembly is normalised by the parser, so a
 * reader of the tree never sees which form was printed.
 *
 * Normal form (the contract between front/parse and everybody else)
 *   - op->name is the full name ("tt.load", "arith.addi", "scf.for").
 *   - Operand order is that of the generic form: tt.load p, mask?, other?  tt.store p, v, mask?
 *     tt.atomic_rmw p, v, mask?   tt.atomic_cas p, cmp, val   tt.make_tensor_descriptor base,
 *     shape..., strides...   tt.make_tensor_ptr base, shape..., strides..., offsets...
 *     tt.advance p, offsets...   tt.descriptor_load d, indices...   tt.descriptor_store d, v,
 *     indices...   tt.descriptor_reduce d, v, indices...   tt.descriptor_gather d, rows, y
 *     tt.descriptor_scatter d, rows, y, v   scf.for lb, ub, step, inits...   scf.if cond
 *     scf.while inits...   scf.condition cond, args...   cf.br args...   cf.cond_br cond,
 *     true-args..., false-args...   cf.switch flag, default-args..., case-args...
 *     scf.index_switch arg.   tt.call args...   tt.return / scf.yield values...
 *   - Optional operands are described by the attribute operandSegmentSizes (a dense array), which
 *     the parser adds in the custom form too, for: tt.load (3 segments), tt.store none needed
 *     (2 or 3 operands), tt.make_tensor_ptr (4), tt.make_tensor_descriptor (3), cf.cond_br (3).
 *   - Enumerations are integer attributes with the numbers of ttir-front.md 1.8: predicate, axis,
 *     atomic_rmw_op, sem, scope, cache, evict, kind (descriptor_reduce), addrSpace (ttg.barrier),
 *     padding. An unknown keyword is a PR_ATTR_STRING with the keyword's text.
 *   - scf.for: attribute "unsignedCmp" (unit) when the keyword is present. The induction variable is
 *     block argument 0, carried values follow. An elided scf.yield is added to scf.for / scf.if
 *     bodies, so that every structured block ends with its terminator. A missing else is an empty
 *     second region (no blocks).
 *   - tt.func: attributes sym_name, sym_visibility (strings), function_type (type), arg_attrs are on
 *     the entry block's arguments (value->attrs). A declaration has a region without blocks. The
 *     entry block's args carry the arguments' names and locations.
 *   - arith.constant: attribute "value". tt.make_range: start, end. tt.call: callee (symbol).
 *   - cmpi on i1 etc. keeps its operands' types; no folding is done.
 *   - Inherent properties <{...}> and discardable {...} are merged in op->attrs, properties first;
 *     pr_op_attr looks a key up in that order.
 *   - Unknown operations are kept with operands, attributes (when readable), regions and result
 *     types; op->is_unknown_form is set when custom text was skipped token by token (then operands
 *     are all value uses found, in order, and attributes may be missing).
 *
 * Everything lives in the module's arena. After front/verify succeeded: every operand is non-null and
 * typed, block terminators are in place, and the structural facts above hold. */
#ifndef PR_FRONT_IR_H
#define PR_FRONT_IR_H
#include "util/err.h"
#include "util/str.h"
#include "util/vec.h"

#define PR_MAX_RANK 8         /* of a tensor whose elements are followed, and of every access            */
#define PR_TYPE_RANK_MAX 24   /* of any other: sorting networks reshape 2^20 elements to 2x2x...x2     */

typedef struct pr_op pr_op;
typedef struct pr_value pr_value;
typedef struct pr_block pr_block;
typedef struct pr_region pr_region;
typedef struct pr_type pr_type;
typedef struct pr_attr pr_attr;
typedef struct pr_srcloc pr_srcloc;

/* ---- types ------------------------------------------------------------------------------- */
typedef enum {
    PR_TYPE_INT,        /* i1..i128: bits                                                     */
    PR_TYPE_INDEX,      /* 64 bits                                                            */
    PR_TYPE_FLOAT,      /* bits: f16 16, bf16 16, tf32 32, f8* 8, f6* 6, f4* 4                 */
    PR_TYPE_POINTER,    /* elem = pointee (may be a tensor: block pointer), addr_space (1)     */
    PR_TYPE_TENSOR,     /* shape, elem, encoding text                                          */
    PR_TYPE_DESC,       /* !tt.tensordesc: elem = tensor type of the block                      */
    PR_TYPE_MEMDESC,    /* !ttg.memdesc: shape, elem, text                                      */
    PR_TYPE_FUNCTION,   /* inputs, results                                                     */
    PR_TYPE_NONE,
    PR_TYPE_OPAQUE      /* anything else, raw text                                             */
} pr_type_kind;

struct pr_type {
    pr_type_kind kind;
    int bits;                    /* INT, FLOAT, INDEX (64)                                     */
    int8_t sign;                 /* INT inside descriptors: 0 signless, 1 si, 2 ui              */
    int addr_space;              /* POINTER                                                    */
    int rank;                    /* TENSOR, MEMDESC                                            */
    int64_t shape[PR_TYPE_RANK_MAX];
    const pr_type *elem;
    const pr_type **inputs, **results;
    int n_inputs, n_results;
    pr_str encoding;             /* TENSOR: text after the comma, "" when none; DESC likewise    */
    pr_str text;                 /* spelling as printed (FLOAT, MEMDESC, OPAQUE: authoritative)  */
};
bool pr_type_eq(const pr_type *a, const pr_type *b);
/* Bytes of one element in memory: max(1, ceil(bits/8)); pointers 8; 0 when not known. */
int pr_type_bytes(const pr_type *t);
/* Element type of a tensor, else the type itself. */
const pr_type *pr_type_scalar(const pr_type *t);
/* Number of elements of a tensor (1 for a scalar). */
int64_t pr_type_count(const pr_type *t);
/* A tensor of more dimensions than PR_MAX_RANK: its elements are not followed. */
static inline bool pr_type_is_deep(const pr_type *t)
{
    return t && t->kind == PR_TYPE_TENSOR && t->rank > PR_MAX_RANK;
}
void pr_type_print(pr_buf *b, const pr_type *t);

/* ---- attributes --------------------------------------------------------------------------- */
typedef enum {
    PR_ATTR_UNIT, PR_ATTR_BOOL, PR_ATTR_INT, PR_ATTR_FLOAT, PR_ATTR_STRING, PR_ATTR_TYPE,
    PR_ATTR_ARRAY,      /* items                                                              */
    PR_ATTR_DENSE_ARRAY,/* array<i32: 0, 1>: ints, type = element type                          */
    PR_ATTR_DICT,       /* entries                                                            */
    PR_ATTR_SYMBOL,     /* text = name without @ and quotes, nested refs joined by ::           */
    PR_ATTR_DENSE,      /* dense<...> : type, see below                                        */
    PR_ATTR_RAW         /* dialect attribute, raw balanced text                                */
} pr_attr_kind;

typedef struct pr_attr_entry { pr_str name; pr_attr *value; } pr_attr_entry;

struct pr_attr {
    pr_attr_kind kind;
    bool boolean;                /* BOOL                                                       */
    pr_i128 integer;             /* INT: as written, not reduced to the width                   */
    bool too_wide;               /* INT: the literal did not fit pr_i128                        */
    pr_str text;                 /* FLOAT, STRING (decoded bytes), SYMBOL, RAW: text            */
    const pr_type *type;         /* INT, FLOAT, TYPE, DENSE, DENSE_ARRAY; may be null            */
    pr_attr **items; int n_items;            /* ARRAY                                          */
    pr_i128 *ints; int n_ints;               /* DENSE_ARRAY; DENSE integer elements: 1 = splat   */
    bool dense_known;            /* DENSE: ints hold the (raw, unreduced) elements; false for floats,
                                    hex blobs of i1, resources: value unknown                   */
    pr_attr_entry *entries; int n_entries;   /* DICT                                           */
};

/* ---- locations ---------------------------------------------------------------------------- */
/* A resolved location: the site and, innermost first, the call chain above it. */
struct pr_srcloc {
    pr_str file; int line, col;  /* site; line 0 = unknown                                     */
    pr_str label;                /* NameLoc string of the innermost name, "" when none           */
    const pr_srcloc *caller;     /* next frame outwards, null at the end                        */
    pr_str raw;                  /* canonical text, what ir_text prints inside loc( )            */
};
/* The frame a user wants to read: the first one outside Triton's own python package
 * (…/triton/language/…), else the site itself. Null in, null out. */
const pr_srcloc *pr_srcloc_user(const pr_srcloc *l);

/* ---- tree --------------------------------------------------------------------------------- */
struct pr_value {
    pr_op *def;                  /* null for block arguments                                    */
    pr_block *block;             /* block arguments: their block                                */
    int index;                   /* result or argument number                                   */
    int id;                      /* dense number in the module, 0-based                          */
    const pr_type *type;         /* null = unknown type (unknown operations only)                */
    pr_str name;                 /* without %, as printed; results of %r:2 share it               */
    pr_attr *attrs;              /* function arguments: DICT, else null                          */
    const pr_srcloc *loc;        /* block arguments: own location, may be null                   */
};

typedef struct pr_successor { pr_block *block; int first, n; /* operand range passed to it */ } pr_successor;

struct pr_op {
    pr_str name;
    int opcode;                  /* row of front/ops.def (enum pr_opcode), PR_OP_UNKNOWN = 0      */
    int id;                      /* dense number in text order over the module, 0-based           */
    pr_value **operands; int n_operands;
    pr_value **results; int n_results;
    pr_attr_entry *attrs; int n_attrs; int n_props;  /* first n_props came from <{ }>             */
    pr_region **regions; int n_regions;
    pr_successor *succ; int n_succ;
    pr_block *block;             /* where it stands, null for the module                         */
    const pr_srcloc *loc;        /* null = none                                                 */
    int line, col;               /* of the operation in the text, 1-based                        */
    bool is_unknown_form;
};
struct pr_block {
    pr_str label;                /* without ^, "" when not printed                               */
    pr_value **args; int n_args;
    pr_op **ops; int n_ops;
    pr_region *region;
    int index;                   /* in its region                                               */
};
struct pr_region {
    pr_block **blocks; int n_blocks;
    pr_op *op;                   /* owner                                                       */
};

typedef struct pr_ir {
    pr_arena *arena;
    pr_str name;                 /* of the input, for messages                                   */
    pr_str text;                 /* what was read                                               */
    pr_op *module;               /* "builtin.module"; region 0, block 0 holds the functions        */
    int n_ops, n_values;
    bool has_deep;               /* some tensor type is deep (pr_type_is_deep)                     */
} pr_ir;

/* Assembly without operands that is one griddepcontrol instruction, what Triton before 3.9 prints for
 * tt.grid_dependency_wait and tt.grid_dependency_launch_dependents. */
bool pr_op_is_grid_dependency_asm(const pr_op *op);
/* Some operand or result is a tensor whose elements are not followed. */
bool pr_op_is_deep(const pr_op *op);
/* Walks of the tree used everywhere. Null / -1 / fallback when absent. */
pr_attr *pr_op_attr(const pr_op *op, const char *name);
pr_i128 pr_op_attr_int(const pr_op *op, const char *name, pr_i128 fallback); /* INT or BOOL */
pr_attr *pr_dict_get(const pr_attr *dict, const char *name);
/* Sizes of operandSegmentSizes; false when the attribute is missing or has another length. */
bool pr_op_segments(const pr_op *op, int n, int *sizes);
static inline pr_block *pr_region_block(const pr_region *r) { return r && r->n_blocks ? r->blocks[0] : NULL; }
static inline pr_op *pr_block_terminator(const pr_block *b) { return b && b->n_ops ? b->ops[b->n_ops - 1] : NULL; }
/* The function called name (symbol), null when absent. */
pr_op *pr_ir_func(const pr_ir *ir, pr_str name);
/* The kernel: the function named wanted when wanted is non-empty, else the single public tt.func with
 * a body. Null when there is none or several (then *why gets a short reason). */
pr_op *pr_ir_kernel(const pr_ir *ir, pr_str wanted, const char **why);
/* Parameter name rule of ttir-front.md 1.3 for argument i of a function's entry block. */
pr_str pr_ir_arg_name(const pr_ir *ir, const pr_op *func, int i);

/* ---- reading and printing (front/parse.c, front/verify.c, front/ir_text.c) ------------------ */
typedef struct pr_read_limits {
    int max_nesting;             /* region nesting, default 200                                  */
    int max_rank;                /* tensor rank, default 24 (at most PR_TYPE_RANK_MAX)            */
    int max_loc_nesting;         /* default 128                                                 */
    size_t max_bytes;            /* text size, default 64 MiB                                    */
} pr_read_limits;
void pr_read_limits_default(pr_read_limits *l);

/* Parse and verify. Copies what it keeps. On failure null and *err (PR_ERR_INPUT with line and column,
 * or PR_ERR_LIMIT). Time linear in length. */
pr_ir *pr_ir_parse(pr_arena *arena, const char *text, size_t length, const char *name,
                   const pr_read_limits *limits, pr_error *err);
/* Generic-form text that pr_ir_parse reads back to the same tree (same text when printed again). */
void pr_ir_print(pr_buf *b, const pr_ir *ir);
/* Structural comparison (names of values, attributes, types, locations, regions). */
bool pr_ir_equal(const pr_ir *a, const pr_ir *b);
#endif
