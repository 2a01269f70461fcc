/* How is the tree written, and are two trees the same?
 *
 * The text is MLIR's generic form without aliases: one regular syntax for every operation, known or
 * not, so that reading it needs none of the custom grammars. Block labels are the block's number in
 * its region. */
#include "front/ops.h"
#include "front/parse.h"
#include "front/types.h"

/* ---- printing -------------------------------------------------------------------------------- */
static void print_op(pr_buf *b, const pr_op *op, int indent);

static void spaces(pr_buf *b, int n)
{
    for (int i = 0; i < n; i++) pr_buf_putc(b, ' ');
}

static void print_loc(pr_buf *b, const pr_srcloc *l)
{
    if (!l) return;
    pr_buf_puts(b, " loc(");
    pr_buf_add(b, l->raw.s, l->raw.n);
    pr_buf_putc(b, ')');
}

/* First result that shares v's name; names of one group are neighbours. */
static int group_start(const pr_value *v)
{
    int lo = 0, hi = v->index;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (pr_str_eq(v->def->results[mid]->name, v->name)) hi = mid;
        else lo = mid + 1;
    }
    return lo;
}

static void print_use(pr_buf *b, const pr_value *v)
{
    pr_buf_putc(b, '%');
    pr_buf_add(b, v->name.s, v->name.n);
    if (!v->def) return;
    int number = v->index - group_start(v);
    if (number) pr_buf_printf(b, "#%d", number);
}

static void print_results(pr_buf *b, const pr_op *op)
{
    if (op->n_results == 0 || op->results[0]->name.n == 0) return;
    for (int i = 0; i < op->n_results;) {
        int end = i;
        while (end < op->n_results && pr_str_eq(op->results[end]->name, op->results[i]->name))
            end++;
        if (i) pr_buf_puts(b, ", ");
        print_use(b, op->results[i]);
        if (end - i > 1) pr_buf_printf(b, ":%d", end - i);
        i = end;
    }
    pr_buf_puts(b, " = ");
}

static void print_entry(pr_buf *b, const pr_attr_entry *e)
{
    pr_attr_print_key(b, e->name);
    if (e->value->kind == PR_ATTR_UNIT) return;
    pr_buf_puts(b, " = ");
    pr_attr_print(b, e->value);
}

/* The arg_attrs property of a function, put together from its entry arguments. */
static bool print_arg_attrs(pr_buf *b, const pr_op *op)
{
    const pr_block *entry =
        op->opcode == PR_OP_TT_FUNC && op->n_regions ? pr_region_block(op->regions[0]) : NULL;
    bool any = false;
    for (int i = 0; entry && i < entry->n_args; i++) any |= entry->args[i]->attrs != NULL;
    if (!any) return false;
    pr_buf_puts(b, "arg_attrs = [");
    for (int i = 0; i < entry->n_args; i++) {
        if (i) pr_buf_puts(b, ", ");
        if (entry->args[i]->attrs) pr_attr_print(b, entry->args[i]->attrs);
        else pr_buf_puts(b, "{}");
    }
    pr_buf_putc(b, ']');
    return true;
}

static void print_props(pr_buf *b, const pr_op *op)
{
    size_t start = b->n;
    pr_buf_puts(b, " <{");
    bool any = print_arg_attrs(b, op);
    for (int i = 0; i < op->n_props; i++) {
        if (any) pr_buf_puts(b, ", ");
        print_entry(b, &op->attrs[i]);
        any = true;
    }
    pr_buf_puts(b, "}>");
    if (any) return;
    b->n = start;
    b->data[b->n] = 0;
}

static void print_attrs(pr_buf *b, const pr_op *op)
{
    if (op->n_attrs == op->n_props && !op->is_unknown_form) return;
    pr_buf_puts(b, " {");
    for (int i = op->n_props; i < op->n_attrs; i++) {
        if (i > op->n_props) pr_buf_puts(b, ", ");
        print_entry(b, &op->attrs[i]);
    }
    if (op->is_unknown_form) {
        if (op->n_attrs > op->n_props) pr_buf_puts(b, ", ");
        pr_buf_puts(b, PR_UNKNOWN_FORM_KEY);
    }
    pr_buf_putc(b, '}');
}

static void print_block(pr_buf *b, const pr_block *block, int indent)
{
    spaces(b, indent);
    pr_buf_printf(b, "^bb%d", block->index);
    for (int i = 0; i < block->n_args; i++) {
        pr_buf_puts(b, i ? ", " : "(");
        print_use(b, block->args[i]);
        pr_buf_puts(b, ": ");
        pr_type_print(b, block->args[i]->type);
        print_loc(b, block->args[i]->loc);
    }
    pr_buf_puts(b, block->n_args ? "):\n" : ":\n");
    for (int i = 0; i < block->n_ops; i++) print_op(b, block->ops[i], indent + 2);
}

static void print_types(pr_buf *b, pr_value *const *v, int n, bool bare_single)
{
    bool bare = bare_single && n == 1 && !pr_type_is(v[0]->type, PR_TYPE_FUNCTION);
    if (!bare) pr_buf_putc(b, '(');
    for (int i = 0; i < n; i++) {
        if (i) pr_buf_puts(b, ", ");
        pr_type_print(b, v[i]->type);
    }
    if (!bare) pr_buf_putc(b, ')');
}

static void print_op(pr_buf *b, const pr_op *op, int indent)
{
    spaces(b, indent);
    print_results(b, op);
    pr_buf_quote(b, op->name, false);
    pr_buf_putc(b, '(');
    for (int i = 0; i < op->n_operands; i++) {
        if (i) pr_buf_puts(b, ", ");
        print_use(b, op->operands[i]);
    }
    pr_buf_putc(b, ')');
    for (int i = 0; i < op->n_succ; i++)
        pr_buf_printf(b, "%s^bb%d%s", i ? ", " : "[", op->succ[i].block->index,
                      i + 1 == op->n_succ ? "]" : "");
    print_props(b, op);
    for (int i = 0; i < op->n_regions; i++) {
        pr_buf_puts(b, i ? ", {\n" : " ({\n");
        for (int k = 0; k < op->regions[i]->n_blocks; k++)
            print_block(b, op->regions[i]->blocks[k], indent);
        spaces(b, indent);
        pr_buf_puts(b, i + 1 == op->n_regions ? "})" : "}");
    }
    print_attrs(b, op);
    pr_buf_puts(b, " : ");
    print_types(b, op->operands, op->n_operands, false);
    pr_buf_puts(b, " -> ");
    print_types(b, op->results, op->n_results, true);
    print_loc(b, op->loc);
    pr_buf_putc(b, '\n');
}

void pr_ir_print(pr_buf *b, const pr_ir *ir) { print_op(b, ir->module, 0); }

/* ---- comparing ------------------------------------------------------------------------------- */
typedef struct comparison {
    const pr_value **partner;   /* of the first tree's value, by id                            */
} comparison;

static bool loc_equal(const pr_srcloc *a, const pr_srcloc *b)
{
    return a && b ? pr_str_eq(a->raw, b->raw) : a == b;
}

static bool value_equal(comparison *c, const pr_value *a, const pr_value *b)
{
    c->partner[a->id] = b;
    return pr_str_eq(a->name, b->name) && pr_type_eq(a->type, b->type) && a->index == b->index
           && (a->attrs == b->attrs || pr_attr_eq(a->attrs, b->attrs)) && loc_equal(a->loc, b->loc);
}

static bool header_equal(comparison *c, const pr_op *a, const pr_op *b)
{
    if (!pr_str_eq(a->name, b->name) || a->opcode != b->opcode || a->n_operands != b->n_operands
        || a->n_results != b->n_results || a->n_attrs != b->n_attrs || a->n_props != b->n_props
        || a->n_regions != b->n_regions || a->n_succ != b->n_succ
        || a->is_unknown_form != b->is_unknown_form || !loc_equal(a->loc, b->loc)) return false;
    for (int i = 0; i < a->n_attrs; i++)
        if (!pr_str_eq(a->attrs[i].name, b->attrs[i].name)
            || !pr_attr_eq(a->attrs[i].value, b->attrs[i].value)) return false;
    for (int i = 0; i < a->n_succ; i++)
        if (a->succ[i].block->index != b->succ[i].block->index
            || a->succ[i].first != b->succ[i].first || a->succ[i].n != b->succ[i].n)
            return false;
    for (int i = 0; i < a->n_results; i++)
        if (!value_equal(c, a->results[i], b->results[i])) return false;
    return true;
}

/* First walk: everything but operands, pairing the values. Second walk: operands. */
static bool op_equal(comparison *c, const pr_op *a, const pr_op *b, bool operands)
{
    if (!operands && !header_equal(c, a, b)) return false;
    for (int i = 0; operands && i < a->n_operands; i++)
        if (c->partner[a->operands[i]->id] != b->operands[i]) return false;
    for (int r = 0; r < a->n_regions; r++) {
        const pr_region *x = a->regions[r], *y = b->regions[r];
        if (x->n_blocks != y->n_blocks) return false;
        for (int k = 0; k < x->n_blocks; k++) {
            const pr_block *s = x->blocks[k], *t = y->blocks[k];
            if (s->n_args != t->n_args || s->n_ops != t->n_ops) return false;
            for (int i = 0; !operands && i < s->n_args; i++)
                if (!value_equal(c, s->args[i], t->args[i])) return false;
            for (int i = 0; i < s->n_ops; i++)
                if (!op_equal(c, s->ops[i], t->ops[i], operands)) return false;
        }
    }
    return true;
}

bool pr_ir_equal(const pr_ir *a, const pr_ir *b)
{
    if (a->n_ops != b->n_ops || a->n_values != b->n_values) return false;
    comparison c = { PR_NEW_N(a->arena, const pr_value *, a->n_values) };
    return op_equal(&c, a->module, b->module, false) && op_equal(&c, a->module, b->module, true);
}
