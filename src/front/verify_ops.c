/* Do the operands, attributes and results of one operation fit together?
 *
 * Checks what the later stages rely on without asking: element types, shapes, attribute kinds. A
 * value without a type (result of an unknown operation) agrees with everything. */
#include "front/verify.h"

typedef const char *(*checker)(const pr_op *op);

static const pr_type *in(const pr_op *op, int i) { return op->operands[i]->type; }
static const pr_type *out(const pr_op *op, int i) { return op->results[i]->type; }

bool pr_verify_agree(const pr_type *a, const pr_type *b) { return !a || !b || pr_type_eq(a, b); }

static bool shape_agree(const pr_type *a, const pr_type *b)
{
    return !a || !b || pr_type_same_shape(a, b);
}

static bool scalar_is(const pr_type *t, pr_type_kind kind)
{
    return !t || pr_type_scalar(t)->kind == kind;
}

static bool is_integer(const pr_type *t)
{
    return scalar_is(t, PR_TYPE_INT) || scalar_is(t, PR_TYPE_INDEX);
}

static bool is_i1(const pr_type *t)
{
    return !t || (scalar_is(t, PR_TYPE_INT) && pr_type_scalar(t)->bits == 1);
}

/* b is a tensor or scalar of the element that pointer a points to, in a's shape. */
static bool points_to(const pr_type *a, const pr_type *b)
{
    if (!a || !b) return true;
    const pr_type *p = pr_type_scalar(a);
    if (p->kind != PR_TYPE_POINTER) return false;
    if (p == a) return pr_verify_agree(p->elem, b);
    return pr_type_same_shape(a, b) && pr_verify_agree(p->elem, pr_type_scalar(b));
}

static bool results_are(const pr_op *op, int n) { return op->n_results == n; }

static const char bad_results[] = "wrong number of results";

/* Keyword or number of an enumeration: a string (unknown keyword), or an integer from lo to hi. */
static const char *enumeration(const pr_op *op, const char *key, int lo, int hi,
                               const char *message)
{
    const pr_attr *a = pr_op_attr(op, key);
    if (a && a->kind == PR_ATTR_STRING) return NULL;
    if (a && a->kind == PR_ATTR_INT && !a->too_wide && a->integer >= lo && a->integer <= hi)
        return NULL;
    return message;
}

/* ---- arith ----------------------------------------------------------------------------------- */
static const char *same_types(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    for (int i = 0; i < op->n_operands; i++)
        if (!pr_verify_agree(in(op, i), out(op, 0))) return "operand and result types differ";
    return NULL;
}

static const char *int_binary(const pr_op *op)
{
    const char *wrong = same_types(op);
    if (wrong) return wrong;
    return is_integer(out(op, 0)) ? NULL : "operands must be integers";
}

static const char *extended(const pr_op *op)
{
    if (!results_are(op, 2)) return bad_results;
    if (!pr_verify_agree(in(op, 0), in(op, 1)) || !pr_verify_agree(in(op, 0), out(op, 0)))
        return "operand and result types differ";
    if (!is_integer(in(op, 0))) return "operands must be integers";
    if (op->opcode == PR_OP_ARITH_ADDUI_EXTENDED)
        return is_i1(out(op, 1)) && shape_agree(in(op, 0), out(op, 1))
                   ? NULL
                   : "the overflow result must be i1";
    return pr_verify_agree(in(op, 0), out(op, 1)) ? NULL : "operand and result types differ";
}

static const char *compare(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    if (!pr_verify_agree(in(op, 0), in(op, 1))) return "operand types differ";
    if (!is_i1(out(op, 0)) || !shape_agree(in(op, 0), out(op, 0)))
        return "the result must be i1 of the operands' shape";
    if (op->opcode == PR_OP_ARITH_CMPF)
        return enumeration(op, "predicate", 0, 15, "bad comparison predicate");
    if (!is_integer(in(op, 0))) return "operands must be integers";
    return enumeration(op, "predicate", 0, 9, "bad comparison predicate");
}

static const char *select(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    if (!pr_verify_agree(in(op, 1), out(op, 0)) || !pr_verify_agree(in(op, 2), out(op, 0)))
        return "operand and result types differ";
    if (!is_i1(in(op, 0))) return "the condition must be i1";
    if (pr_type_is(in(op, 0), PR_TYPE_TENSOR) && !shape_agree(in(op, 0), out(op, 0)))
        return "the condition's shape differs from the values'";
    return NULL;
}

/* Width of an integer or index, 0 when unknown. */
static int width(const pr_type *t) { return t ? pr_type_scalar(t)->bits : 0; }

static const char *int_cast(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    const pr_type *a = in(op, 0), *b = out(op, 0);
    if (!shape_agree(a, b)) return "operand and result shapes differ";
    if (!scalar_is(a, PR_TYPE_INT) || !scalar_is(b, PR_TYPE_INT))
        return "operand and result must be integers";
    if (!a || !b) return NULL;
    if (op->opcode == PR_OP_ARITH_TRUNCI)
        return width(a) > width(b) ? NULL : "the result must be narrower";
    return width(a) < width(b) ? NULL : "the result must be wider";
}

static const char *index_cast(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    const pr_type *a = in(op, 0), *b = out(op, 0);
    if (!shape_agree(a, b)) return "operand and result shapes differ";
    if (!a || !b) return NULL;
    bool from = pr_type_scalar(a)->kind == PR_TYPE_INDEX,
         to = pr_type_scalar(b)->kind == PR_TYPE_INDEX;
    return from != to && is_integer(a) && is_integer(b) ? NULL
                                                        : "exactly one side must be an index";
}

static const char *same_shape(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    return shape_agree(in(op, 0), out(op, 0)) ? NULL : "operand and result shapes differ";
}

static const char *constant(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    const pr_attr *a = pr_op_attr(op, "value");
    const pr_type *t = out(op, 0);
    if (!a) return "missing value";
    if (!t) return NULL;
    if (a->kind == PR_ATTR_BOOL)
        return t->kind == PR_TYPE_INT && t->bits == 1 ? NULL : "a truth value must be i1";
    if (a->kind == PR_ATTR_INT)
        return (t->kind == PR_TYPE_INT || t->kind == PR_TYPE_INDEX)
                       && (!a->type || pr_type_eq(a->type, t))
                   ? NULL
                   : "value and result types differ";
    if (a->kind == PR_ATTR_FLOAT || a->kind == PR_ATTR_DENSE || a->kind == PR_ATTR_RAW)
        return pr_verify_agree(a->type, t) ? NULL : "value and result types differ";
    return "value is no constant";
}

/* ---- shapes ---------------------------------------------------------------------------------- */
static const char *one_result(const pr_op *op) { return results_are(op, 1) ? NULL : bad_results; }
static const char *no_result(const pr_op *op) { return results_are(op, 0) ? NULL : bad_results; }

static const char *program(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    if (!pr_type_is(out(op, 0), PR_TYPE_INT)) return "the result must be an integer";
    return enumeration(op, "axis", 0, 2, "bad axis");
}

static const char *make_range(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    const pr_type *t = out(op, 0);
    const pr_attr *s = pr_op_attr(op, "start"), *e = pr_op_attr(op, "end");
    if (!s || !e || s->kind != PR_ATTR_INT || e->kind != PR_ATTR_INT || s->too_wide || e->too_wide)
        return "start and end must be integers";
    if (!pr_type_is(t, PR_TYPE_TENSOR) || t->rank != 1 || !pr_type_is(t->elem, PR_TYPE_INT))
        return "the result must be an integer tensor of one dimension";
    pr_i128 length;
    if (!pr_sub_ok(pr_wrap_signed(e->integer, 32), pr_wrap_signed(s->integer, 32), &length)
        || length != t->shape[0]) return "end - start differs from the result's length";
    return NULL;
}

static const char *splat(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    const pr_type *a = in(op, 0), *b = out(op, 0);
    if (!pr_type_is(b, PR_TYPE_TENSOR)) return "the result must be a tensor";
    return pr_verify_agree(a, b->elem) ? NULL
                                       : "operand type differs from the result's element type";
}

static const char *unsplat(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    const pr_type *a = in(op, 0), *b = out(op, 0);
    if (!a) return NULL;
    if (a->kind != PR_TYPE_TENSOR || pr_type_count(a) != 1)
        return "the operand must have one element";
    return pr_verify_agree(a->elem, b) ? NULL
                                       : "result type differs from the operand's element type";
}

static bool tensors(const pr_type *a, const pr_type *b)
{
    return pr_type_is(a, PR_TYPE_TENSOR) && pr_type_is(b, PR_TYPE_TENSOR);
}

/* Common part of the operations that move elements: one tensor to another of the same elements. */
static const char *movement(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    if (!in(op, 0) || !out(op, 0)) return NULL;
    if (!tensors(in(op, 0), out(op, 0))) return "operand and result must be tensors";
    return pr_verify_agree(in(op, 0)->elem, out(op, 0)->elem) ? NULL : "element types differ";
}

static const char *expand_dims(const pr_op *op)
{
    const char *wrong = movement(op);
    const pr_type *a = in(op, 0), *b = out(op, 0);
    if (wrong || !a || !b) return wrong;
    const pr_attr *axis = pr_op_attr(op, "axis");
    if (!axis || axis->kind != PR_ATTR_INT || axis->integer < 0 || axis->integer > a->rank)
        return "bad axis";
    int at = (int)axis->integer;
    if (b->rank != a->rank + 1) return "the result must have one more dimension";
    for (int i = 0; i < b->rank; i++)
        if (b->shape[i] != (i < at ? a->shape[i] : i == at ? 1 : a->shape[i - 1]))
            return "bad result shape";
    return NULL;
}

static const char *broadcast(const pr_op *op)
{
    const char *wrong = movement(op);
    const pr_type *a = in(op, 0), *b = out(op, 0);
    if (wrong || !a || !b) return wrong;
    if (a->rank != b->rank) return "operand and result ranks differ";
    for (int i = 0; i < a->rank; i++)
        if (a->shape[i] != b->shape[i] && a->shape[i] != 1)
            return "only dimensions of extent 1 can be repeated";
    return NULL;
}

static const char *reshape(const pr_op *op)
{
    const char *wrong = movement(op);
    if (wrong || !in(op, 0) || !out(op, 0)) return wrong;
    return pr_type_count(in(op, 0)) == pr_type_count(out(op, 0)) ? NULL : "element counts differ";
}

static const char *trans(const pr_op *op)
{
    const char *wrong = movement(op);
    const pr_type *a = in(op, 0), *b = out(op, 0);
    if (wrong || !a || !b) return wrong;
    const pr_attr *order = pr_op_attr(op, "order");
    if (!order || order->kind != PR_ATTR_DENSE_ARRAY || order->n_ints != a->rank
        || b->rank != a->rank)
        return "order must have one entry per dimension";
    unsigned seen = 0;
    for (int i = 0; i < a->rank; i++) {
        pr_i128 k = order->ints[i];
        if (k < 0 || k >= a->rank || (seen >> (int)k & 1)) return "order is no permutation";
        seen |= 1u << (int)k;
        if (b->shape[i] != a->shape[(int)k]) return "bad result shape";
    }
    return NULL;
}

/* small with a last dimension of extent 2 appended is big. */
static bool pairs_up(const pr_type *small, const pr_type *big)
{
    if (!pr_type_is(big, PR_TYPE_TENSOR) || big->rank < 1 || big->shape[big->rank - 1] != 2)
        return false;
    if (big->rank == 1 && small->kind != PR_TYPE_TENSOR) return pr_verify_agree(small, big->elem);
    if (small->kind != PR_TYPE_TENSOR || small->rank != big->rank - 1) return false;
    for (int i = 0; i < small->rank; i++)
        if (small->shape[i] != big->shape[i]) return false;
    return pr_verify_agree(small->elem, big->elem);
}

static const char *join(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    if (!pr_verify_agree(in(op, 0), in(op, 1))) return "operand types differ";
    if (!in(op, 0) || !out(op, 0)) return NULL;
    return pairs_up(in(op, 0), out(op, 0)) ? NULL : "bad result shape";
}

static const char *split(const pr_op *op)
{
    if (!results_are(op, 2)) return bad_results;
    if (!pr_verify_agree(out(op, 0), out(op, 1))) return "result types differ";
    if (!in(op, 0) || !out(op, 0)) return NULL;
    return pairs_up(out(op, 0), in(op, 0)) ? NULL : "bad result shape";
}

static const char *cat(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    const pr_type *a = in(op, 0), *b = in(op, 1), *c = out(op, 0);
    if (!a || !b || !c) return NULL;
    if (!tensors(a, b) || c->kind != PR_TYPE_TENSOR) return "operands and result must be tensors";
    if (!pr_verify_agree(a->elem, c->elem) || !pr_verify_agree(b->elem, c->elem))
        return "element types differ";
    return pr_type_count(a) + pr_type_count(b) == pr_type_count(c) ? NULL : "bad result shape";
}

static const char *gather(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    const pr_type *a = in(op, 0), *i = in(op, 1), *c = out(op, 0);
    if (!a || !i || !c) return NULL;
    if (!tensors(a, i) || !tensors(a, c) || a->rank != i->rank)
        return "operands and result must be tensors of one rank";
    if (!pr_type_same_shape(i, c) || !pr_verify_agree(a->elem, c->elem)) return "bad result type";
    const pr_attr *axis = pr_op_attr(op, "axis");
    return axis && axis->kind == PR_ATTR_INT && axis->integer >= 0 && axis->integer < a->rank
               ? NULL
               : "bad axis";
}

/* ---- pointers and memory --------------------------------------------------------------------- */
static const char *addptr(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    if (!pr_verify_agree(in(op, 0), out(op, 0))) return "pointer and result types differ";
    if (!scalar_is(in(op, 0), PR_TYPE_POINTER)) return "the first operand must be a pointer";
    if (!scalar_is(in(op, 1), PR_TYPE_INT)) return "the offset must be an integer";
    return shape_agree(in(op, 0), in(op, 1)) ? NULL : "pointer and offset shapes differ";
}

static const char *mask(const pr_op *op, int i)
{
    if (!is_i1(in(op, i))) return "the mask must be i1";
    return shape_agree(in(op, 0), in(op, i)) ? NULL : "mask and pointer shapes differ";
}

static const char *load(const pr_op *op)
{
    int seg[3];
    if (!results_are(op, 1)) return bad_results;
    if (!pr_op_segments(op, 3, seg) || seg[0] != 1 || seg[1] > 1 || seg[2] > 1)
        return "operandSegmentSizes must describe pointer, mask and other";
    if (!points_to(in(op, 0), out(op, 0))) return "result type does not match the pointer";
    const char *wrong = seg[1] ? mask(op, 1) : NULL;
    if (wrong) return wrong;
    return !seg[2] || pr_verify_agree(in(op, 1 + seg[1]), out(op, 0))
               ? NULL
               : "the default value's type differs from the result's";
}

static const char *store(const pr_op *op)
{
    if (!results_are(op, 0)) return bad_results;
    if (!points_to(in(op, 0), in(op, 1))) return "value type does not match the pointer";
    return op->n_operands > 2 ? mask(op, 2) : NULL;
}

static const char *order(const pr_op *op)
{
    const char *wrong = enumeration(op, "sem", 1, 4, "bad memory semantics");
    return wrong ? wrong : enumeration(op, "scope", 1, 3, "bad memory scope");
}

static const char *atomic_rmw(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    if (!points_to(in(op, 0), in(op, 1))) return "value type does not match the pointer";
    if (!pr_verify_agree(in(op, 1), out(op, 0))) return "value and result types differ";
    const char *wrong = enumeration(op, "atomic_rmw_op", 1, 64, "bad atomic operation");
    if (!wrong) wrong = order(op);
    if (!wrong && op->n_operands > 2) wrong = mask(op, 2);
    return wrong;
}

static const char *atomic_cas(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    if (!points_to(in(op, 0), in(op, 1)) || !points_to(in(op, 0), in(op, 2)))
        return "value type does not match the pointer";
    if (!pr_verify_agree(in(op, 1), out(op, 0))) return "value and result types differ";
    return order(op);
}

static const char *atomic_load(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    if (!points_to(in(op, 0), out(op, 0))) return "result type does not match the pointer";
    const char *wrong = order(op);
    if (!wrong && op->n_operands > 1) wrong = mask(op, 1);
    return wrong;
}

static const char *atomic_store(const pr_op *op)
{
    const char *wrong = order(op);
    return wrong ? wrong : store(op);
}

static const char *atomic_poll(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    if (!points_to(in(op, 0), in(op, 1))) return "value type does not match the pointer";
    return is_i1(out(op, 0)) ? order(op) : "the result must be i1";
}

/* Block of a descriptor or block pointer; null when t is neither. */
static const pr_type *block_of(const pr_type *t)
{
    if (pr_type_is(t, PR_TYPE_DESC)) return t->elem;
    if (pr_type_is(t, PR_TYPE_POINTER) && pr_type_is(t->elem, PR_TYPE_TENSOR)) return t->elem;
    return NULL;
}

static const char *make_descriptor(const pr_op *op)
{
    int seg[4];
    if (!results_are(op, 1)) return bad_results;
    bool block = op->opcode == PR_OP_TT_MAKE_TENSOR_PTR;
    const pr_type *b = block_of(out(op, 0));
    if (!b || block != (out(op, 0)->kind == PR_TYPE_POINTER)) return "bad result type";
    if (!pr_op_segments(op, block ? 4 : 3, seg) || seg[0] != 1)
        return "operandSegmentSizes do not fit the operands";
    for (int i = 1; i < (block ? 4 : 3); i++)
        if (seg[i] != b->rank) return "shape, strides and offsets need one entry per dimension";
    if (in(op, 0) && in(op, 0)->kind != PR_TYPE_POINTER) return "the base must be a pointer";
    for (int i = 1; i < op->n_operands; i++)
        if (in(op, i) && in(op, i)->kind != PR_TYPE_INT)
            return "shape, strides and offsets must be integers";
    return NULL;
}

static const char *advance(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    if (!pr_verify_agree(in(op, 0), out(op, 0))) return "pointer and result types differ";
    if (!in(op, 0)) return NULL;
    const pr_type *b = block_of(in(op, 0));
    return b && op->n_operands == 1 + b->rank ? NULL : "offsets need one entry per dimension";
}

static const char *block_access(const pr_op *op, const pr_type *value, int n_indices)
{
    if (!in(op, 0)) return NULL;
    const pr_type *b = pr_type_is(in(op, 0), PR_TYPE_DESC) ? in(op, 0)->elem : NULL;
    if (!b) return "the first operand must be a descriptor";
    if (n_indices != b->rank) return "indices need one entry per dimension";
    if (value && (value->kind != PR_TYPE_TENSOR || pr_type_count(value) != pr_type_count(b)))
        return "value and descriptor block differ in size";
    return NULL;
}

static const char *descriptor_load(const pr_op *op)
{
    if (!results_are(op, 1)) return bad_results;
    return block_access(op, out(op, 0), op->n_operands - 1);
}

static const char *descriptor_store(const pr_op *op)
{
    if (!results_are(op, 0)) return bad_results;
    if (op->opcode == PR_OP_TT_DESCRIPTOR_REDUCE) {
        const char *wrong = enumeration(op, "kind", 1, 8, "bad reduction kind");
        if (wrong) return wrong;
    }
    return block_access(op, in(op, 1), op->n_operands - 2);
}

static const char *is_descriptor(const pr_op *op)
{
    if (op->n_results != (op->opcode == PR_OP_TT_DESCRIPTOR_GATHER)) return bad_results;
    return !in(op, 0) || in(op, 0)->kind == PR_TYPE_DESC ? NULL
                                                         : "the first operand must be a descriptor";
}

static const char *condition(const pr_op *op)
{
    if (!results_are(op, 0)) return bad_results;
    return is_i1(in(op, 0)) ? NULL : "the condition must be i1";
}

static const char *scalar_condition(const pr_op *op)
{
    const pr_type *t = op->n_operands ? in(op, 0) : NULL;
    return !t || (t->kind == PR_TYPE_INT && t->bits == 1) ? NULL : "the condition must be i1";
}

static const char *barrier(const pr_op *op)
{
    if (!results_are(op, 0)) return bad_results;
    return enumeration(op, "addrSpace", 0, INT32_MAX, "bad address space");
}

static const checker checkers[PR_OP_COUNT] = {
    [PR_OP_ARITH_ADDF] = same_types,
    [PR_OP_ARITH_ADDI] = int_binary,
    [PR_OP_ARITH_ANDI] = int_binary,
    [PR_OP_ARITH_ADDUI_EXTENDED] = extended,
    [PR_OP_ARITH_CEILDIVSI] = int_binary,
    [PR_OP_ARITH_CEILDIVUI] = int_binary,
    [PR_OP_ARITH_CMPF] = compare,
    [PR_OP_ARITH_CMPI] = compare,
    [PR_OP_ARITH_CONSTANT] = constant,
    [PR_OP_ARITH_DIVF] = same_types,
    [PR_OP_ARITH_DIVSI] = int_binary,
    [PR_OP_ARITH_DIVUI] = int_binary,
    [PR_OP_ARITH_EXTSI] = int_cast,
    [PR_OP_ARITH_EXTUI] = int_cast,
    [PR_OP_ARITH_FLOORDIVSI] = int_binary,
    [PR_OP_ARITH_INDEX_CAST] = index_cast,
    [PR_OP_ARITH_INDEX_CASTUI] = index_cast,
    [PR_OP_ARITH_MAXIMUMF] = same_types,
    [PR_OP_ARITH_MAXNUMF] = same_types,
    [PR_OP_ARITH_MAXSI] = int_binary,
    [PR_OP_ARITH_MAXUI] = int_binary,
    [PR_OP_ARITH_MINIMUMF] = same_types,
    [PR_OP_ARITH_MINNUMF] = same_types,
    [PR_OP_ARITH_MINSI] = int_binary,
    [PR_OP_ARITH_MINUI] = int_binary,
    [PR_OP_ARITH_MULF] = same_types,
    [PR_OP_ARITH_MULI] = int_binary,
    [PR_OP_ARITH_MULSI_EXTENDED] = extended,
    [PR_OP_ARITH_MULUI_EXTENDED] = extended,
    [PR_OP_ARITH_NEGF] = same_types,
    [PR_OP_ARITH_ORI] = int_binary,
    [PR_OP_ARITH_REMF] = same_types,
    [PR_OP_ARITH_REMSI] = int_binary,
    [PR_OP_ARITH_REMUI] = int_binary,
    [PR_OP_ARITH_SELECT] = select,
    [PR_OP_ARITH_SHLI] = int_binary,
    [PR_OP_ARITH_SHRSI] = int_binary,
    [PR_OP_ARITH_SHRUI] = int_binary,
    [PR_OP_ARITH_SUBF] = same_types,
    [PR_OP_ARITH_SUBI] = int_binary,
    [PR_OP_ARITH_TRUNCI] = int_cast,
    [PR_OP_ARITH_XORI] = int_binary,
    [PR_OP_ARITH_BITCAST] = same_shape,
    [PR_OP_ARITH_EXTF] = same_shape,
    [PR_OP_ARITH_FPTOSI] = same_shape,
    [PR_OP_ARITH_FPTOUI] = same_shape,
    [PR_OP_ARITH_SITOFP] = same_shape,
    [PR_OP_ARITH_TRUNCF] = same_shape,
    [PR_OP_ARITH_UITOFP] = same_shape,
    [PR_OP_CF_ASSERT] = condition,
    [PR_OP_CF_COND_BR] = scalar_condition,
    [PR_OP_LLVM_INTR_ASSUME] = condition,
    [PR_OP_MATH_ABSI] = int_binary,
    [PR_OP_SCF_CONDITION] = scalar_condition,
    [PR_OP_SCF_IF] = scalar_condition,
    [PR_OP_TTG_BARRIER] = barrier,
    [PR_OP_TT_ADDPTR] = addptr,
    [PR_OP_TT_ADVANCE] = advance,
    [PR_OP_TT_ASSERT] = condition,
    [PR_OP_TT_ATOMIC_CAS] = atomic_cas,
    [PR_OP_TT_ATOMIC_LOAD] = atomic_load,
    [PR_OP_TT_ATOMIC_POLL] = atomic_poll,
    [PR_OP_TT_ATOMIC_RMW] = atomic_rmw,
    [PR_OP_TT_ATOMIC_STORE] = atomic_store,
    [PR_OP_TT_BITCAST] = same_shape,
    [PR_OP_TT_BROADCAST] = broadcast,
    [PR_OP_TT_CAT] = cat,
    [PR_OP_TT_DESCRIPTOR_GATHER] = is_descriptor,
    [PR_OP_TT_DESCRIPTOR_LOAD] = descriptor_load,
    [PR_OP_TT_DESCRIPTOR_REDUCE] = descriptor_store,
    [PR_OP_TT_DESCRIPTOR_SCATTER] = is_descriptor,
    [PR_OP_TT_DESCRIPTOR_STORE] = descriptor_store,
    [PR_OP_TT_DOT] = one_result,
    [PR_OP_TT_DOT_SCALED] = one_result,
    [PR_OP_TT_EXPAND_DIMS] = expand_dims,
    [PR_OP_TT_GATHER] = gather,
    [PR_OP_TT_GET_NUM_PROGRAMS] = program,
    [PR_OP_TT_GET_PROGRAM_ID] = program,
    [PR_OP_TT_HISTOGRAM] = one_result,
    [PR_OP_TT_INT_TO_PTR] = same_shape,
    [PR_OP_TT_JOIN] = join,
    [PR_OP_TT_LOAD] = load,
    [PR_OP_TT_MAKE_RANGE] = make_range,
    [PR_OP_TT_MAKE_TENSOR_DESCRIPTOR] = make_descriptor,
    [PR_OP_TT_MAKE_TENSOR_PTR] = make_descriptor,
    [PR_OP_TT_MULHIUI] = int_binary,
    [PR_OP_TT_PRINT] = no_result,
    [PR_OP_TT_PTR_TO_INT] = same_shape,
    [PR_OP_TT_RESHAPE] = reshape,
    [PR_OP_TT_SPLAT] = splat,
    [PR_OP_TT_SPLIT] = split,
    [PR_OP_TT_STORE] = store,
    [PR_OP_TT_TRANS] = trans,
    [PR_OP_TT_UNSPLAT] = unsplat,
    [PR_OP_UB_POISON] = one_result,
};

const char *pr_verify_op(const pr_op *op)
{
    return checkers[op->opcode] ? checkers[op->opcode](op) : NULL;
}
