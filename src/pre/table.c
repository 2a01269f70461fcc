/* Entries of tables: when must their indices be equal in both copies?
 *
 *  T  entries closer together than any two entries at different indices are the same entry: their indices are
 *     equal. The distance is the least one between entries whose indices lie in the ranges of either copy.
 *  G  segments: T nondecreasing, the form holds c*T(i). If i(A) < i(B) then T(i+1)(A) <= T(i)(B); put in, the form
 *     is a sum of one part a copy, which the copies' own conjuncts (k < T(i+1) - T(i)) may keep out of its bounds.
 *     The same the other way round: both excluded, i is equal.
 *  J  functions of one dimension x that are equal in both copies, evaluated at every value of x: no two values
 *     give the same results, so x is equal.
 * An entry is a plain node TABLE: `select(mask, T(i), other)` is another one, and no rule looks through it. */
#include "pre/table.h"
#include "term/table.h"
#include <stdlib.h>

enum { FUNCTIONS = 6, VALUES = 1 << 14 };

bool pr_table_any(const pr_space *s)
{
    for (int i = 0; i < s->n; i++)
        if (s->node[i].op == PR_TERM_OP_TABLE) return true;
    return false;
}

static int index_of(const pr_space *s, int entry) { return s->kid[s->node[entry].first]; }

static pr_interval hull(const pr_space *s, int node)
{
    pr_interval a = s->node[node].iv[0], b = s->node[node].iv[1];
    return (pr_interval){ a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi };
}

static pr_tab_facts facts_of(const pr_space *s, int entry)
{
    pr_tab tab = { (uint32_t)s->node[entry].value };
    pr_tab_facts f = pr_tab_facts_of(s->T, tab, hull(s, index_of(s, entry)));
    if (PR_PRE_DROPS(PR_DROP_TABLE_RANGE) && pr_tab_get(s->T, tab)->values) /* facts of all entries, whatever the index */
        f = pr_tab_facts_of(s->T, tab, (pr_interval){ 0, pr_tab_get(s->T, tab)->n - 1 });
    return f;
}

static pr_i128 size(pr_i128 v) { return v < 0 ? -v : v; }

/* a*(T(i)(A) - T(i)(B)) + R in [lo, hi] with R between r.lo and r.hi: only 0 is small enough. */
static bool only_zero(const pr_space *s, const pr_form *f, int at)
{
    bool rest[PR_PRE_ATOMS];
    pr_i128 least;
    pr_tab_facts t = facts_of(s, f->at[at].node);
    if (t.spread < 1 && PR_PRE_DROPS(PR_DROP_T_APART)) t.spread = PR_INF;
    if (t.spread < 1) return false;
    least = t.spread >= PR_INF ? PR_INF : pr_sat_mul(size(f->at[at].a), t.spread);
    for (int i = 0; i < f->n; i++) rest[i] = i != at;
    for (int rows = 0; rows < 2; rows++) {
        pr_interval r = pr_space_range(s, f, rest, rows);
        if (pr_is_inf(r.lo) || pr_is_inf(r.hi)) continue;
        pr_i128 from = f->lo - r.hi, to = f->hi - r.lo;
        if (size(from) < least && size(to) < least) return true;
    }
    return false;
}

/* Is q = p + 1? */
static bool follows(const pr_space *s, int p, int q)
{
    const pr_space_node *x = &s->node[p], *y = &s->node[q];
    bool sum_x = x->op == PR_TERM_OP_SUM, sum_y = y->op == PR_TERM_OP_SUM;
    if (sum_x && sum_y) {
        if (x->n != y->n || y->value - x->value != 1) return false;
        for (int i = 0; i < x->n; i++)
            if (s->kid[x->first + i] != s->kid[y->first + i] || s->coef[x->first + i] != s->coef[y->first + i]) return false;
        return true;
    }
    if (sum_y) return y->n == 1 && y->value == 1 && s->coef[y->first] == 1 && s->kid[y->first] == p;
    if (sum_x) return x->n == 1 && x->value == -1 && s->coef[x->first] == 1 && s->kid[x->first] == q;
    return x->op == PR_TERM_OP_CONST && y->op == PR_TERM_OP_CONST && y->value - x->value == 1;
}

static int next_entry(const pr_space *s, int entry)
{
    for (int i = 0; i < s->n; i++)
        if (s->node[i].op == PR_TERM_OP_TABLE && s->node[i].value == s->node[entry].value &&
            follows(s, index_of(s, entry), index_of(s, i))) return i;
    return -1;
}

/* Largest value of sign*form when the entry at `at` of copy `far` is replaced by the next entry of the other
 * copy: the bound that monotony gives for index(near) < index(far). */
static pr_i128 sup_beyond(const pr_space *s, const pr_form *f, int at, int next, int far, int sign)
{
    pr_part part[2][PR_PRE_ATOMS + 1];
    int n[2] = { 0, 0 };
    for (int i = 0; i < f->n; i++)
        for (int c = 0; c < 2; c++) {
            pr_i128 v = c ? -f->at[i].b : f->at[i].a;
            if (i == at && c == far) continue;
            if (v) part[c][n[c]++] = (pr_part){ f->at[i].node, sign * v };
        }
    pr_i128 moved = far ? -f->at[at].b : f->at[at].a;
    int near = !far, j = 0;
    while (j < n[near] && part[near][j].node != next) j++;
    if (j < n[near]) part[near][j].coef += sign * moved;
    else part[near][n[near]++] = (pr_part){ next, sign * moved };
    if (n[0] > PR_PRE_ATOMS || n[1] > PR_PRE_ATOMS) return PR_INF;
    return pr_sat_up(pr_sat_up(pr_space_sup(s, 0, part[0], n[0], true), pr_space_sup(s, 1, part[1], n[1], true)),
                     sign * f->k);
}

/* index(near) < index(far) keeps the form out of its bounds. */
static bool excluded(const pr_space *s, const pr_form *f, int at, int next, int far)
{
    /* the entry of the far copy is at least the next entry of the near one: its coefficient says which side
     * of the form that bounds */
    pr_i128 c = far ? -f->at[at].b : f->at[at].a;
    if (c < 0) return sup_beyond(s, f, at, next, far, 1) < f->lo;
    return sup_beyond(s, f, at, next, far, -1) < -f->hi;
}

void pr_table_rules(pr_space *s, const pr_form *f, pr_table_learn learn, void *user)
{
    for (int i = 0; i < f->n; i++) {
        int entry = f->at[i].node;
        if (s->node[entry].op != PR_TERM_OP_TABLE || s->node[entry].known || f->at[i].a != f->at[i].b) continue;
        int index = index_of(s, entry);
        if (only_zero(s, f, i)) {                                         /* T */
            learn(user, entry, 0);
            learn(user, index, 0);
            return;
        }
        int next = next_entry(s, entry);
        if (next < 0 || s->node[index].known) continue;
        if (!facts_of(s, entry).nondecreasing || !facts_of(s, next).nondecreasing) {
            if (!PR_PRE_DROPS(PR_DROP_MONOTONE)) continue;
        }
        if (excluded(s, f, i, next, 1) && (PR_PRE_DROPS(PR_DROP_BOTH_ORDERS) || excluded(s, f, i, next, 0))) { /* G */
            learn(user, index, 0);
            return;
        }
    }
}

/* --- J --------------------------------------------------------------------------------------------- */

typedef struct only { pr_var v; bool other; const pr_terms *T; bool entry; } only;

static void look(void *user, pr_term t)
{
    only *o = user;
    pr_term_op op = pr_term_op_of(o->T, t);
    if (op == PR_TERM_OP_VAR && pr_term_var(o->T, t).id != o->v.id) o->other = true;
    if (op == PR_TERM_OP_APP) o->other = true;
    if (op == PR_TERM_OP_TABLE) {
        o->entry = true;
        if (!pr_tab_get(o->T, pr_term_tab(o->T, t))->values) o->other = true;
    }
}

static _Thread_local int width; /* of a row that is compared, set before sorting */
static int by_row(const void *a, const void *b)
{
    const pr_i128 *x = a, *y = b;
    for (int i = 0; i < width; i++)
        if (x[i] != y[i]) return x[i] < y[i] ? -1 : 1;
    return 0;
}

/* Known functions of x alone; none when no entry of a table is among them. */
static int functions_of(const pr_space *s, int x, pr_term *out)
{
    int n = 0;
    bool entry = false;
    for (int i = 0; i < s->n && n < FUNCTIONS; i++) {
        const pr_space_node *v = &s->node[i];
        if (!v->known || v->delta != 0 || v->shared || i == x || pr_term_none(v->rep[0]) ||
            pr_term_is_bool(s->T, v->rep[0])) continue;
        only o = { .v = { (uint32_t)s->node[x].value }, .T = s->T };
        pr_term_visit(s->T, v->rep[0], look, &o);
        if (o.other) continue;
        out[n++] = v->rep[0];
        entry = entry || o.entry;
    }
    return entry ? n : 0;
}

static bool determined(pr_space *s, int x, pr_arena *scratch)
{
    pr_term f[FUNCTIONS];
    pr_interval r = hull(s, x);
    if (pr_is_inf(r.lo) || pr_is_inf(r.hi) || r.hi - r.lo >= VALUES) return false;
    int n = functions_of(s, x, f), size = (int)(r.hi - r.lo) + 1;
    if (n == 0 || size < 1) return false;
    uint32_t n_vars = pr_vars_count(s->T), var = (uint32_t)s->node[x].value;
    pr_arena_pos mark = pr_arena_mark(scratch);
    pr_i128 *row = PR_NEW_N(scratch, pr_i128, size * n), *value = PR_NEW_N(scratch, pr_i128, n_vars);
    bool *known = PR_NEW_N(scratch, bool, n_vars), good = true;
    known[var] = true;
    pr_env env = { value, known, n_vars };
    for (int i = 0; i < size && good; i++) {
        value[var] = r.lo + i;
        for (int j = 0; j < n && good; j++) good = pr_eval(s->T, f[j], &env, &row[i * n + j]);
    }
    width = n;
    if (good) qsort(row, (size_t)size, sizeof *row * (size_t)n, by_row);
    for (int i = 1; i < size && good; i++) good = by_row(row + (i - 1) * n, row + i * n) != 0;
    pr_arena_release(scratch, mark);
    return good;
}

void pr_table_determine(pr_space *s, pr_arena *scratch, pr_table_learn learn, void *user)
{
    for (int i = 0; i < s->n; i++) {
        const pr_space_node *v = &s->node[i];
        if (v->op != PR_TERM_OP_TABLE || !v->known || v->delta != 0 || v->shared) continue;
        int index = index_of(s, i);
        if (!s->node[index].known && facts_of(s, i).spread >= 1) learn(user, index, 0);   /* T */
    }
    for (int i = 0; i < s->n; i++) {
        const pr_space_node *v = &s->node[i];
        if (v->op == PR_TERM_OP_VAR && !v->shared && !v->known && determined(s, i, scratch)) learn(user, i, 0); /* J */
    }
}
