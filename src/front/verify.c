/* Does the tree keep the promises of ir.h?
 *
 * One walk over the operations: operand counts, dominance, the shape of structured regions,
 * terminators and the values they hand over, calls. Types of single operations are in verify_ops.c.
 * The first violation is reported with the operation's position. */
#include "front/verify.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "front/dominance.h"
#include "front/parse.h"

typedef struct frame {
    const struct frame *outer;
    const pr_region *region;
    const pr_doms *doms;        /* null for at most one block                                  */
} frame;

typedef struct verifier {
    const pr_ir *ir;
    pr_arena *arena;
    pr_error *err;
    const pr_op **functions;    /* sorted by name                                              */
    int n_functions;
    const pr_op *function;      /* being walked                                                */
} verifier;

static bool wrong(verifier *v, const pr_op *op, const char *format, ...) PR_PRINTF(3, 4);

static bool wrong(verifier *v, const pr_op *op, const char *format, ...)
{
    char message[160];
    va_list list;
    va_start(list, format);
    vsnprintf(message, sizeof message, format, list);
    va_end(list);
    pr_fail(v->err, PR_ERR_INPUT, v->ir->name.s, op->line, op->col, "'%.60s': %s",
            pr_arena_strndup(v->arena, op->name.s, op->name.n), message);
    return false;
}

/* ---- functions ------------------------------------------------------------------------------- */
static pr_str symbol(const pr_op *f)
{
    const pr_attr *a = pr_op_attr(f, "sym_name");
    return a && a->kind == PR_ATTR_STRING ? a->text : (pr_str){ 0 };
}

static int compare_names(pr_str a, pr_str b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int c = n ? memcmp(a.s, b.s, n) : 0;
    return c ? c : (a.n > b.n) - (a.n < b.n);
}

static int by_name(const void *a, const void *b)
{
    const pr_op *x = *(const pr_op *const *)a, *y = *(const pr_op *const *)b;
    int c = compare_names(symbol(x), symbol(y));
    return c ? c : (x->id > y->id) - (x->id < y->id);
}

static bool collect_functions(verifier *v)
{
    const pr_block *b = pr_region_block(v->ir->module->regions[0]);
    v->functions = PR_NEW_N(v->arena, const pr_op *, b->n_ops);
    for (int i = 0; i < b->n_ops; i++) {
        const pr_op *f = b->ops[i];
        if (f->opcode != PR_OP_TT_FUNC) continue;
        const pr_attr *t = pr_op_attr(f, "function_type");
        if (!symbol(f).n) return wrong(v, f, "missing sym_name");
        if (!t || t->kind != PR_ATTR_TYPE || !pr_type_is(t->type, PR_TYPE_FUNCTION))
            return wrong(v, f, "missing function_type");
        v->functions[v->n_functions++] = f;
    }
    qsort(v->functions, (size_t)v->n_functions, sizeof *v->functions, by_name);
    for (int i = 1; i < v->n_functions; i++)
        if (pr_str_eq(symbol(v->functions[i - 1]), symbol(v->functions[i])))
            return wrong(
                v, v->functions[i], "function '@%.60s' defined twice",
                pr_arena_strndup(v->arena, symbol(v->functions[i]).s, symbol(v->functions[i]).n));
    return true;
}

static const pr_type *type_of(const pr_op *f) { return pr_op_attr(f, "function_type")->type; }

static bool call(verifier *v, const pr_op *op)
{
    const pr_attr *callee = pr_op_attr(op, "callee");
    if (!callee || callee->kind != PR_ATTR_SYMBOL) return wrong(v, op, "missing callee");
    int lo = 0, hi = v->n_functions;
    while (lo < hi) {
        int mid = (lo + hi) / 2;
        if (compare_names(symbol(v->functions[mid]), callee->text) < 0) lo = mid + 1;
        else hi = mid;
    }
    if (lo == v->n_functions || !pr_str_eq(symbol(v->functions[lo]), callee->text))
        return wrong(v, op, "call of undefined function '@%.60s'",
                     pr_arena_strndup(v->arena, callee->text.s, callee->text.n));
    const pr_type *t = type_of(v->functions[lo]);
    if (t->n_inputs != op->n_operands || t->n_results != op->n_results)
        return wrong(v, op, "call of a function with %d arguments and %d results", t->n_inputs,
                     t->n_results);
    for (int i = 0; i < op->n_operands; i++)
        if (!pr_verify_agree(op->operands[i]->type, t->inputs[i]))
            return wrong(v, op, "type of argument %d differs from the function's", i);
    for (int i = 0; i < op->n_results; i++)
        if (!pr_verify_agree(op->results[i]->type, t->results[i]))
            return wrong(v, op, "type of result %d differs from the function's", i);
    return true;
}

/* ---- dominance ------------------------------------------------------------------------------- */
static bool dominated(const frame *f, const pr_value *value, const pr_op *user)
{
    const pr_block *at = value->def ? value->def->block : value->block;
    const pr_op *u = user;
    while (f && f->region != at->region) {
        u = f->region->op;
        f = f->outer;
    }
    if (!f) return false;
    if (u->block == at) return !value->def || value->def->id < u->id;
    return f->doms && pr_doms_has(f->doms, at->index, u->block->index);
}

static bool operands(verifier *v, const frame *f, const pr_op *op)
{
    for (int i = 0; i < op->n_operands; i++) {
        const pr_value *x = op->operands[i];
        if (!x) return wrong(v, op, "operand %d is undefined", i);
        if (!dominated(f, x, op))
            return wrong(v, op, "operand %d, '%%%.60s', is used before its definition", i,
                         pr_arena_strndup(v->arena, x->name.s, x->name.n));
    }
    return true;
}

/* ---- control flow ---------------------------------------------------------------------------- */
static bool is_branch(int opcode)
{
    return opcode == PR_OP_CF_BR || opcode == PR_OP_CF_COND_BR || opcode == PR_OP_CF_SWITCH;
}

static bool is_terminator(int opcode)
{
    return is_branch(opcode) || opcode == PR_OP_TT_RETURN || opcode == PR_OP_SCF_YIELD
           || opcode == PR_OP_SCF_CONDITION || opcode == PR_OP_TT_REDUCE_RETURN
           || opcode == PR_OP_TT_SCAN_RETURN || opcode == PR_OP_TT_MAP_ELEMENTWISE_RETURN;
}

static bool branch(verifier *v, const pr_op *op)
{
    int wanted = op->opcode == PR_OP_CF_BR        ? 1
                 : op->opcode == PR_OP_CF_COND_BR ? 2
                                                  : 0,
        seg[3], passed = 0;
    if (wanted ? op->n_succ != wanted : op->n_succ < 1)
        return wrong(v, op, "wrong number of successors");
    if (op->opcode != PR_OP_CF_BR && (!pr_op_segments(op, 3, seg) || seg[0] != 1))
        return wrong(v, op, "operandSegmentSizes do not fit the operands");
    for (int i = 0; i < op->n_succ; i++) {
        const pr_successor *s = &op->succ[i];
        if (s->n != s->block->n_args)
            return wrong(v, op, "passes %d values to a block with %d arguments", s->n,
                         s->block->n_args);
        for (int k = 0; k < s->n; k++)
            if (!pr_verify_agree(op->operands[s->first + k]->type, s->block->args[k]->type))
                return wrong(v, op, "type of block argument %d differs", k);
        if (s->block->index == 0) return wrong(v, op, "branches to the entry block");
        passed += s->n;
    }
    if (passed + (op->opcode != PR_OP_CF_BR) != op->n_operands)
        return wrong(v, op, "has operands for no successor");
    if (op->opcode != PR_OP_CF_SWITCH) return true;
    const pr_attr *cases = pr_op_attr(op, "case_values");
    int n = cases && cases->kind == PR_ATTR_DENSE && cases->dense_known ? cases->n_ints : 0;
    bool splat = cases && n == 1 && pr_type_count(cases->type) == op->n_succ - 1;
    if (n != op->n_succ - 1 && !splat)
        return wrong(v, op, "case values and successors differ in number");
    return true;
}

/* Last operation of the only block of region r, of the given opcode; null after an error. */
static const pr_op *only_exit(verifier *v, const pr_op *op, int r, int n_args, int opcode)
{
    const pr_region *region = op->regions[r];
    if (region->n_blocks != 1) {
        wrong(v, op, "region %d must have one block", r);
        return NULL;
    }
    if (n_args >= 0 && region->blocks[0]->n_args != n_args) {
        wrong(v, op, "region %d must have %d arguments, has %d", r, n_args,
              region->blocks[0]->n_args);
        return NULL;
    }
    const pr_op *t = pr_block_terminator(region->blocks[0]);
    if (t && t->opcode == opcode) return t;
    wrong(v, op, "region %d must end with '%s'", r, pr_opcode_name(opcode));
    return NULL;
}

static bool types_match(verifier *v, const pr_op *op, pr_value *const *a, int n, pr_value *const *b,
                        int m, const char *what)
{
    if (n != m) return wrong(v, op, "%s: %d values for %d", what, n, m);
    for (int i = 0; i < n; i++)
        if (!pr_verify_agree(a[i]->type, b[i]->type))
            return wrong(v, op, "%s: type of value %d differs", what, i);
    return true;
}

static bool has_regions(verifier *v, const pr_op *op, int n)
{
    return op->n_regions == n || wrong(v, op, "must have %d regions, has %d", n, op->n_regions);
}

static bool loop(verifier *v, const pr_op *op)
{
    if (!has_regions(v, op, 1)) return false;
    int n = op->n_operands - 3;
    const pr_op *t = only_exit(v, op, 0, n + 1, PR_OP_SCF_YIELD);
    if (!t) return false;
    const pr_block *b = op->regions[0]->blocks[0];
    const pr_type *iv = b->args[0]->type;
    if (iv && iv->kind != PR_TYPE_INT && iv->kind != PR_TYPE_INDEX)
        return wrong(v, op, "the induction variable must be an integer");
    for (int i = 0; i < 3; i++)
        if (!pr_verify_agree(op->operands[i]->type, iv))
            return wrong(v, op, "bounds and step differ in type");
    return types_match(v, op, op->operands + 3, n, b->args + 1, n, "initial values")
           && types_match(v, op, op->results, op->n_results, b->args + 1, n, "results")
           && types_match(v, t, t->operands, t->n_operands, op->results, op->n_results,
                          "yielded values");
}

static bool branch_region(verifier *v, const pr_op *op, int r)
{
    const pr_op *t = only_exit(v, op, r, 0, PR_OP_SCF_YIELD);
    return t
           && types_match(v, t, t->operands, t->n_operands, op->results, op->n_results,
                          "yielded values");
}

static bool conditional(verifier *v, const pr_op *op)
{
    if (!has_regions(v, op, 2) || !branch_region(v, op, 0)) return false;
    if (op->regions[1]->n_blocks) return branch_region(v, op, 1);
    return op->n_results == 0 || wrong(v, op, "has results but no else region");
}

static bool index_switch(verifier *v, const pr_op *op)
{
    const pr_attr *cases = pr_op_attr(op, "cases");
    if (!cases || cases->kind != PR_ATTR_DENSE_ARRAY || cases->n_ints != op->n_regions - 1)
        return wrong(v, op, "cases and regions differ in number");
    for (int i = 0; i < op->n_regions; i++)
        if (!branch_region(v, op, i)) return false;
    return true;
}

static bool while_loop(verifier *v, const pr_op *op)
{
    if (!has_regions(v, op, 2)) return false;
    const pr_op *c = only_exit(v, op, 0, op->n_operands, PR_OP_SCF_CONDITION);
    const pr_op *y = c ? only_exit(v, op, 1, -1, PR_OP_SCF_YIELD) : NULL;
    if (!y) return false;
    const pr_block *before = op->regions[0]->blocks[0], *after = op->regions[1]->blocks[0];
    if (c->n_operands < 1) return wrong(v, c, "missing condition");
    return types_match(v, op, op->operands, op->n_operands, before->args, before->n_args,
                       "initial values")
           && types_match(v, c, c->operands + 1, c->n_operands - 1, op->results, op->n_results,
                          "passed values")
           && types_match(v, op, after->args, after->n_args, op->results, op->n_results,
                          "body arguments")
           && types_match(v, y, y->operands, y->n_operands, before->args, before->n_args,
                          "yielded values");
}

/* tt.reduce and tt.scan: the region combines two elements of each operand. */
static bool combiner(verifier *v, const pr_op *op)
{
    bool scan = op->opcode == PR_OP_TT_SCAN;
    int n = op->n_operands;
    if (!has_regions(v, op, 1)) return false;
    const pr_op *t =
        only_exit(v, op, 0, 2 * n, scan ? PR_OP_TT_SCAN_RETURN : PR_OP_TT_REDUCE_RETURN);
    if (!t) return false;
    if (t->n_operands != n || op->n_results != n)
        return wrong(v, op, "%d operands, %d combined values and %d results", n, t->n_operands,
                     op->n_results);
    const pr_attr *axis = pr_op_attr(op, "axis");
    const pr_type *first = op->operands[0]->type;
    if (!axis || axis->kind != PR_ATTR_INT || axis->integer < 0
        || (first && (first->kind != PR_TYPE_TENSOR || axis->integer >= first->rank)))
        return wrong(v, op, "bad axis");
    for (int i = 0; i < n; i++) {
        const pr_type *a = op->operands[i]->type, *r = op->results[i]->type;
        const pr_type *e = pr_type_scalar(a);
        const pr_block *b = op->regions[0]->blocks[0];
        if (!pr_verify_agree(e, b->args[i]->type) || !pr_verify_agree(e, b->args[n + i]->type)
            || !pr_verify_agree(e, t->operands[i]->type))
            return wrong(v, op, "element types differ from the region's");
        if (!a || !r) continue;
        if (!pr_type_same_shape(first ? first : a, a)) return wrong(v, op, "operand shapes differ");
        if (!pr_verify_agree(e, pr_type_scalar(r))) return wrong(v, op, "bad result type");
        if (scan && !pr_type_same_shape(a, r)) return wrong(v, op, "bad result shape");
        int left = pr_type_is(r, PR_TYPE_TENSOR) ? r->rank : 0;
        if (!scan && left != a->rank - 1) return wrong(v, op, "bad result shape");
        for (int k = 0; !scan && k < left; k++)
            if (r->shape[k] != a->shape[k + (k >= (int)axis->integer)])
                return wrong(v, op, "bad result shape");
    }
    return true;
}

static bool map_elementwise(verifier *v, const pr_op *op)
{
    if (!has_regions(v, op, 1)) return false;
    const pr_block *b = pr_region_block(op->regions[0]);
    pr_i128 pack = pr_op_attr_int(op, "pack", 1);
    if (!b) return wrong(v, op, "region 0 must have a block");
    if (pack < 1 || pack > 1024 || b->n_args != op->n_operands * (int)pack)
        return wrong(v, op, "the region's arguments do not fit operands and pack");
    return true;
}

static bool function(verifier *v, const pr_op *op)
{
    if (!has_regions(v, op, 1)) return false;
    const pr_block *entry = pr_region_block(op->regions[0]);
    if (!entry) return true;
    const pr_attr *a = pr_op_attr(op, "function_type");
    if (!a || a->kind != PR_ATTR_TYPE || !pr_type_is(a->type, PR_TYPE_FUNCTION))
        return wrong(v, op, "missing function_type");
    if (entry->n_args != a->type->n_inputs)
        return wrong(v, op, "the entry block has %d arguments, the type %d", entry->n_args,
                     a->type->n_inputs);
    for (int i = 0; i < entry->n_args; i++)
        if (!pr_verify_agree(entry->args[i]->type, a->type->inputs[i]))
            return wrong(v, op, "type of argument %d differs", i);
    return true;
}

static bool returns(verifier *v, const pr_op *op)
{
    if (!v->function || op->block->region->op != v->function)
        return wrong(v, op, "stands outside a function's body");
    const pr_type *t = type_of(v->function);
    if (t->n_results != op->n_operands)
        return wrong(v, op, "returns %d values, the function %d", op->n_operands, t->n_results);
    for (int i = 0; i < op->n_operands; i++)
        if (!pr_verify_agree(op->operands[i]->type, t->results[i]))
            return wrong(v, op, "type of returned value %d differs", i);
    return true;
}

static bool structure(verifier *v, const pr_op *op)
{
    switch (op->opcode) {
    case PR_OP_TT_FUNC: return function(v, op);
    case PR_OP_TT_CALL: return call(v, op);
    case PR_OP_TT_RETURN: return returns(v, op);
    case PR_OP_SCF_FOR: return loop(v, op);
    case PR_OP_SCF_IF: return conditional(v, op);
    case PR_OP_SCF_WHILE: return while_loop(v, op);
    case PR_OP_SCF_INDEX_SWITCH: return index_switch(v, op);
    case PR_OP_SCF_EXECUTE_REGION:
        return has_regions(v, op, 1)
               && (op->regions[0]->n_blocks != 1 || branch_region(v, op, 0));
    case PR_OP_TT_REDUCE:
    case PR_OP_TT_SCAN: return combiner(v, op);
    case PR_OP_TT_MAP_ELEMENTWISE: return map_elementwise(v, op);
    case PR_OP_CF_BR:
    case PR_OP_CF_COND_BR:
    case PR_OP_CF_SWITCH: return branch(v, op);
    case PR_OP_BUILTIN_MODULE:
    case PR_OP_UNKNOWN:
    case PR_OP_TTG_WARP_SPECIALIZE: return true;
    default: return has_regions(v, op, 0);
    }
}

/* Must every block of this operation's regions end with a terminator? */
static bool needs_terminators(int opcode)
{
    return opcode == PR_OP_TT_FUNC || opcode == PR_OP_SCF_EXECUTE_REGION
           || opcode == PR_OP_TT_MAP_ELEMENTWISE;
}

static bool exits(verifier *v, const pr_block *b)
{
    for (int i = 0; i + 1 < b->n_ops; i++)
        if (is_terminator(b->ops[i]->opcode))
            return wrong(v, b->ops[i], "terminator in the middle of a block");
    const pr_op *parent = b->region->op, *t = pr_block_terminator(b);
    for (int i = 0; i + 1 < b->n_ops; i++)
        if (b->ops[i]->n_succ)
            return wrong(v, b->ops[i], "only the last operation of a block can branch");
    if (!needs_terminators(parent->opcode)) return true;
    if (!t) return wrong(v, parent, "a block is empty and has no terminator");
    int wanted = parent->opcode == PR_OP_TT_FUNC              ? PR_OP_TT_RETURN
                 : parent->opcode == PR_OP_SCF_EXECUTE_REGION ? PR_OP_SCF_YIELD
                                                              : PR_OP_TT_MAP_ELEMENTWISE_RETURN;
    if (t->opcode == wanted || is_branch(t->opcode) || t->opcode == PR_OP_UNKNOWN) return true;
    return wrong(v, t, "a block must end with '%s' or a branch", pr_opcode_name(wanted));
}

/* ---- walk ------------------------------------------------------------------------------------ */
static bool walk(verifier *v, const frame *outer, const pr_op *op)
{
    if (!operands(v, outer, op)) return false;
    if (!op->is_unknown_form) {
        int least, most;
        pr_opcode_arity(op->opcode, &least, &most);
        if (op->n_operands < least)
            return wrong(v, op, "needs %d operands, has %d", least, op->n_operands);
        if (most >= 0 && op->n_operands > most)
            return wrong(v, op, "takes %d operands, has %d", most, op->n_operands);
        const char *message = pr_verify_op(op);
        if (message) return wrong(v, op, "%s", message);
        if (op->opcode != PR_OP_UNKNOWN && !structure(v, op)) return false;
    }
    const pr_op *function_outside = v->function;
    if (op->opcode == PR_OP_TT_FUNC) v->function = op;
    for (int r = 0; r < op->n_regions; r++) {
        const pr_region *region = op->regions[r];
        frame f = { outer, region, region->n_blocks > 1 ? pr_doms_new(v->arena, region) : NULL };
        for (int k = 0; k < region->n_blocks; k++) {
            const pr_block *b = region->blocks[k];
            if (!exits(v, b)) return false;
            for (int i = 0; i < b->n_ops; i++)
                if (!walk(v, &f, b->ops[i])) return false;
        }
    }
    v->function = function_outside;
    return true;
}

bool pr_verify(const pr_ir *ir, pr_arena *scratch, pr_error *err)
{
    verifier v = { .ir = ir, .arena = scratch, .err = err };
    const pr_op *m = ir->module;
    if (m->n_regions != 1 || m->regions[0]->n_blocks != 1 || m->n_operands || m->n_results)
        return wrong(&v, m, "a module has one region with one block");
    return collect_functions(&v) && walk(&v, NULL, m);
}
