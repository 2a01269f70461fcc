/* Loops whose iterations are looked at one by one.
 *
 * What a loop carries around a loop inside it may be out of reach (a while loop, bounds from memory, products of
 * counters), or what it does under a condition depends on data. Then the body is read twice, for two iterations that start
 * from any values whatever. Nothing says that they are neighbours: the values of the second do not follow from those of the first,
 * so what orders an event of the first with one of the second does so for any two iterations, by events of these two alone. More
 * iterations between them, and more events in between, undo no order: counts of groups only grow, and barriers that
 * iterations use are made and ended within one (effects.c refuses others). Of an event before the loop and one inside, or one
 * inside and one behind, the two stand for the iterations next to the end that the event outside is at. */
#include "shm/walk.h"

/* Effects inside a loop or condition inside it. */
static bool effects_in(const pr_region *r, bool nested)
{
    for (int b = 0; r && b < r->n_blocks; b++) {
        for (int i = 0; i < r->blocks[b]->n_ops; i++) {
            const pr_op *op = r->blocks[b]->ops[i];
            bool loop = op->opcode == PR_OP_SCF_FOR || op->opcode == PR_OP_SCF_WHILE || op->opcode == PR_OP_SCF_IF;
            bool effect = pr_str_starts(op->name, "ttg.") || pr_str_starts(op->name, "ttng.");
            if (nested && effect && op->opcode != PR_OP_TTG_CONVERT_LAYOUT) return true;
            for (int k = 0; k < op->n_regions; k++)
                if (effects_in(op->regions[k], nested || loop)) return true;
        }
    }
    return false;
}

static bool applies(const pr_walk *w, const pr_op *op)
{
    if (w->n_loops || w->may || w->ws >= 0) return false;
    if (op->opcode == PR_OP_SCF_FOR) return op->n_regions == 1 && effects_in(op->regions[0], false);
    return op->opcode == PR_OP_SCF_WHILE && op->n_regions == 2 && !effects_in(op->regions[0], true) && effects_in(op->regions[1], true);
}

/* Any value: a launch value of its own for each copy. */
static void any(pr_walk *w, const pr_value *v)
{
    const pr_type *t = v->type;
    pr_sv s = pr_walk_opaque();
    if (t && (t->kind == PR_TYPE_INT || t->kind == PR_TYPE_INDEX)) {
        s = pr_walk_fresh(w, v);
        if (t->kind == PR_TYPE_INT && t->bits == 1) s = pr_walk_term(pr_le(w->T, pr_const(w->T, 1), s.t));
    }
    pr_walk_set(w, v, s);
}

/* Copy number of the first (0) or second (1) of the two iterations; -1: too many. */
static int copy_of(pr_walk *w, const pr_op *op, int which)
{
    pr_shm_prog *p = w->p;
    for (int i = 1; i < p->n_copies; i++)
        if (p->copies[i].op == op && p->copies[i].outer == w->copy && p->copies[i].second == which) return i;
    if (p->n_copies == PR_SHM_COPIES) return -1;
    p->copies[p->n_copies] = (pr_shm_copy){ .op = op, .outer = w->copy, .second = which, .when = PR_TERM_TRUE };
    return p->n_copies++;
}

bool pr_walk_isolate(pr_walk *w, const pr_op *op)
{
    if (!applies(w, op)) return false;
    w->p->has_isolated = true;
    if (!w->p->isolate) return false;
    pr_terms *T = w->T;
    const pr_block *body = pr_region_block(op->regions[op->n_regions - 1]);
    int outer = w->copy, path = w->path.n, copy[2] = { copy_of(w, op, 0), copy_of(w, op, 1) };
    if (copy[0] < 0 || copy[1] < 0) return false;
    pr_term rounds = pr_walk_leaf(w, op, NULL, "rounds", true).t;
    for (int i = 0; i < 2; i++) {
        pr_term runs = pr_lt(T, pr_const(T, i), rounds);
        if (pr_term_is(runs, PR_TERM_FALSE)) break;
        w->copy = copy[i];
        w->flats.n = 0;
        w->local_wait = NULL;
        if (!w->concrete) {
            pr_vec_push(w->arena, &w->path, runs);
            w->p->copies[w->copy].when = pr_walk_when(w);
        }
        for (int r = 0; r + 1 < op->n_regions; r++) pr_walk_hidden(w, op->regions[r]);
        for (int a = 0; a < body->n_args; a++) any(w, body->args[a]);
        pr_walk_block(w, body);
    }
    w->copy = outer;
    w->path.n = path;
    w->flats.n = 0;
    w->local_wait = NULL;
    for (int r = 0; r + 1 < op->n_regions; r++) pr_walk_hidden(w, op->regions[r]);   /* the condition is looked at once more */
    for (int i = 0; i < op->n_results; i++) any(w, op->results[i]);
    return true;
}

bool pr_shm_copy_within(const pr_shm_prog *p, int copy, int outer)
{
    while (copy > outer) copy = p->copies[copy].outer;
    return copy == outer;
}

int pr_shm_copy_before(const pr_shm_prog *p, int copy)
{
    for (int i = 1; i < p->n_copies; i++)
        if (p->copies[i].op == p->copies[copy].op && p->copies[i].outer == p->copies[copy].outer && !p->copies[i].second) return i;
    return copy;
}
