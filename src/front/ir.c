/* Walks of the parsed tree that everybody needs. */
#include "front/ir.h"
#include "front/ops.h"
#include <string.h>

typedef struct op_row { const char *spelling; int least, most; } op_row;
static const op_row op_rows[] = {
    { "", 0, -1 },
#define OP(id, spelling, least, most) { spelling, least, most },
#include "front/ops.def"
#undef OP
};

static int compare(pr_str a, const char *b)
{
    size_t m = strlen(b), n = a.n < m ? a.n : m;
    int c = n ? memcmp(a.s, b, n) : 0;
    return c ? c : (a.n > m) - (a.n < m);
}

int pr_opcode_find(pr_str name)
{
    int lo = 1, hi = PR_OP_COUNT - 1;
    while (lo <= hi) {
        int mid = (lo + hi) / 2, c = compare(name, op_rows[mid].spelling);
        if (c == 0) return mid;
        if (c < 0) hi = mid - 1;
        else lo = mid + 1;
    }
    return PR_OP_UNKNOWN;
}

const char *pr_opcode_name(int opcode)
{
    return opcode > 0 && opcode < PR_OP_COUNT ? op_rows[opcode].spelling : "";
}

void pr_opcode_arity(int opcode, int *least, int *most)
{
    if (opcode < 0 || opcode >= PR_OP_COUNT) opcode = PR_OP_UNKNOWN;
    *least = op_rows[opcode].least;
    *most = op_rows[opcode].most;
}

bool pr_op_is_grid_dependency_asm(const pr_op *op)
{
    static const char *const instruction[] = { "griddepcontrol.wait;", "griddepcontrol.launch_dependents;" };
    const pr_attr *text = pr_op_attr(op, "asm_string");
    if (op->opcode != PR_OP_TT_ELEMENTWISE_INLINE_ASM || op->n_operands || !text || text->kind != PR_ATTR_STRING)
        return false;
    for (size_t i = 0; i < PR_LEN(instruction); i++) {
        if (!pr_str_starts(text->text, instruction[i])) continue;
        const char *s = text->text.s + strlen(instruction[i]), *end = text->text.s + text->text.n;
        while (s < end && *s == ' ') s++;
        if (s == end) return true;
        return end - s >= 2 && s[0] == '/' && s[1] == '/' && !memchr(s, '\n', (size_t)(end - s));
    }
    return false;
}

bool pr_op_is_deep(const pr_op *op)
{
    for (int i = 0; i < op->n_operands; i++)
        if (pr_type_is_deep(op->operands[i]->type)) return true;
    for (int i = 0; i < op->n_results; i++)
        if (pr_type_is_deep(op->results[i]->type)) return true;
    return false;
}

pr_attr *pr_op_attr(const pr_op *op, const char *name)
{
    for (int i = 0; op && i < op->n_attrs; i++)
        if (pr_str_is(op->attrs[i].name, name)) return op->attrs[i].value;
    return NULL;
}

pr_i128 pr_op_attr_int(const pr_op *op, const char *name, pr_i128 fallback)
{
    const pr_attr *a = pr_op_attr(op, name);
    if (a && a->kind == PR_ATTR_BOOL) return a->boolean;
    return a && a->kind == PR_ATTR_INT && !a->too_wide ? a->integer : fallback;
}

pr_attr *pr_dict_get(const pr_attr *dict, const char *name)
{
    if (!dict || dict->kind != PR_ATTR_DICT) return NULL;
    for (int i = 0; i < dict->n_entries; i++)
        if (pr_str_is(dict->entries[i].name, name)) return dict->entries[i].value;
    return NULL;
}

bool pr_op_segments(const pr_op *op, int n, int *sizes)
{
    const pr_attr *a = pr_op_attr(op, "operandSegmentSizes");
    if (!a || a->kind != PR_ATTR_DENSE_ARRAY || a->n_ints != n) return false;
    pr_i128 total = 0;
    for (int i = 0; i < n; i++) {
        if (a->ints[i] < 0 || a->ints[i] > op->n_operands) return false;
        total += a->ints[i];
        sizes[i] = (int)a->ints[i];
    }
    return total == op->n_operands;
}

static pr_str func_name(const pr_op *f)
{
    const pr_attr *a = pr_op_attr(f, "sym_name");
    return a && a->kind == PR_ATTR_STRING ? a->text : (pr_str){ 0 };
}

static bool is_public(const pr_op *f)
{
    const pr_attr *a = pr_op_attr(f, "sym_visibility");
    return !a || (a->kind == PR_ATTR_STRING && pr_str_is(a->text, "public"));
}

static bool has_body(const pr_op *f) { return f->n_regions == 1 && f->regions[0]->n_blocks > 0; }

pr_op *pr_ir_func(const pr_ir *ir, pr_str name)
{
    const pr_block *b = pr_region_block(ir->module->regions[0]);
    for (int i = 0; b && i < b->n_ops; i++)
        if (b->ops[i]->opcode == PR_OP_TT_FUNC && pr_str_eq(func_name(b->ops[i]), name))
            return b->ops[i];
    return NULL;
}

pr_op *pr_ir_kernel(const pr_ir *ir, pr_str wanted, const char **why)
{
    const char *ignored;
    if (!why) why = &ignored;
    *why = "";
    if (wanted.n) {
        pr_op *f = pr_ir_func(ir, wanted);
        if (f && has_body(f)) return f;
        *why = f ? "the kernel has no body" : "no function of that name";
        return NULL;
    }
    const pr_block *b = pr_region_block(ir->module->regions[0]);
    pr_op *found = NULL;
    for (int i = 0; b && i < b->n_ops; i++) {
        pr_op *f = b->ops[i];
        if (f->opcode != PR_OP_TT_FUNC || !is_public(f) || !has_body(f)) continue;
        if (found) {
            *why = "several public functions, name one";
            return NULL;
        }
        found = f;
    }
    if (!found) *why = "no public function with a body";
    return found;
}

/* arg0, arg17: the printer's numbering, not a name from the program. */
static bool is_numbered(pr_str s)
{
    if (s.n < 4 || memcmp(s.s, "arg", 3) != 0) return false;
    for (size_t i = 3; i < s.n; i++)
        if (s.s[i] < '0' || s.s[i] > '9') return false;
    return true;
}

/* Where a target has no descriptors, shape and strides of one occur twice: parts of one argument with one label. */
static bool is_part_again(const pr_block *entry, int i)
{
    pr_str label = entry->args[i]->loc->label;
    if (!memchr(label.s, '.', label.n)) return false;
    for (int k = 0; k < i; k++)
        if (entry->args[k]->loc && pr_str_eq(entry->args[k]->loc->label, label)) return true;
    return false;
}

pr_str pr_ir_arg_name(const pr_ir *ir, const pr_op *func, int i)
{
    const pr_block *entry = func->n_regions ? pr_region_block(func->regions[0]) : NULL;
    if (entry && i >= 0 && i < entry->n_args) {
        const pr_value *v = entry->args[i];
        if (v->loc && v->loc->label.n && !is_part_again(entry, i)) return v->loc->label;
        if (v->name.n && !is_numbered(v->name)) return v->name;
    }
    return pr_str_of(pr_arena_printf(ir->arena, "arg%d", i));
}
