/* Leaf enumeration: a depth-first search over the choices of a query.
 *
 * One pass works on every open conjunct; those that need a decision wait. When nothing but waiting
 * conjuncts is left, one choice is made (the one with the fewest alternatives) and the pass runs
 * again; going back truncates what was added. After every choice the rows so far are simplified
 * (prepare.c), and a contradiction prunes the whole prefix. The choice-free core and complete
 * leaves also go to the engine. The answer is EMPTY only when every branch was shown empty; a
 * witness counts only after the query's own terms were evaluated at the point. */
#include "term/leaf.h"
#include "term/table.h"
#include <assert.h>
#include <stdlib.h>
#include <time.h>

/* PATIENCE: leaves tried after one stayed undecided, when only a witness could still settle the query; LUCK: the
 * same when a term has no linear form there, so that a witness would be one by chance. */
enum { NODES_PER_LEAF = 64, PATIENCE = 32, LUCK = 6 };

/* What one leaf (entries of its matrix) and one node (columns, rows and conjuncts) may cost in the mean: nodes and leaves
 * alone bound the search of a small query, not that of a large one. */
enum { BRIEFLY = 16 /* of this part the search of a query whose first leaf is not reached */ };
enum { ENTRIES_PER_LEAF = 1 << 12, SIZE_PER_NODE = 256, LOOKS_PER_NODE = 1 << 12 /* builder's work */ };

typedef struct frame {
    pr_choice choice;
    pr_i128 next;                   /* alternative to take next                     */
    int lins, pool, rows, pairs, items, cols, trail, learnt, relaxed;
    uint32_t relaxed_term;
} frame;

typedef struct search {
    pr_builder b;
    const pr_limits *limits;
    unsigned flags;
    pr_leaf_fn ask;
    void *user;
    const char *settled_by;
    pr_outcome *out;
    PR_VEC(frame) frames;
    bool distinct_done;
    bool all_rows;                  /* every closed branch was closed without the engine */
    int64_t nodes;
    int64_t entries, size;          /* of the systems examined in full; of the nodes     */
    int64_t deadline_ns;            /* 0 = none */
    pr_refusal_kind open_why;       /* why some branch is not decided; NONE = all are */
    const char *open_message;
    int last_leaf;                  /* with an undecided one: where the search ends    */
    int dives;                      /* leaves that went to the engine so far: each halves the work of the next dive */
    bool failed;                    /* some dive found no point                         */
    bool only_empty;                /* no witness is wanted, or none can be evaluated  */
} search;

/* --- set-up -------------------------------------------------------------------------------- */

static void merge_reach(uint64_t *map, const pr_terms *T, const pr_term *root, int n_roots)
{
    pr_temp hold;
    uint32_t *ids, n = pr_term_below(T, root, n_roots, &hold, &ids);
    for (uint32_t i = 0; i < n; i++) map[ids[i] / 64] |= (uint64_t)1 << (ids[i] % 64);
    pr_temp_end(&hold);
}

/* Roots: overlap conjuncts and everything the query lists. False when one of them is PR_TERM_NONE.
 */
static bool builder_init(pr_builder *b, const pr_query *q, pr_arena *arena, const pr_term *overlap,
                         int n_overlap)
{
    b->q = q;
    b->T = q->terms;
    b->arena = arena;
    uint32_t n = pr_terms_count(q->terms);
    b->n_words = n / 64 + 1;
    b->reach = PR_NEW_N(arena, uint64_t, b->n_words);
    b->rank = PR_NEW_N(arena, uint32_t, b->n_words);
    const struct { const pr_term *t; int n; } lists[] = {
        { q->core, q->n_core }, { q->distinct, q->n_distinct }, { q->premises, q->n_premises },
        { overlap, n_overlap },
    };
    for (size_t l = 0; l < PR_LEN(lists); l++) {
        for (int i = 0; i < lists[l].n; i++) {
            if (pr_term_none(lists[l].t[i])) return false;
            assert(pr_term_is_bool(b->T, lists[l].t[i]));
        }
        merge_reach(b->reach, b->T, lists[l].t, lists[l].n);
    }
    uint32_t count = 0;
    for (uint32_t w = 0; w < b->n_words; w++) {
        b->rank[w] = count;
        count += (uint32_t)__builtin_popcountll(b->reach[w]);
    }
    b->n_local = (int)count;
    b->memo = PR_NEW_N(arena, int, b->n_local);
    b->truth = PR_NEW_N(arena, uint8_t, b->n_local);
    for (int i = 0; i < b->n_local; i++) b->memo[i] = -1;
    b->var_col = PR_NEW_N(arena, int, pr_vars_count(b->T));
    for (uint32_t i = 0; i < pr_vars_count(b->T); i++) b->var_col[i] = -1;
    for (int i = 0; i < q->n_vars; i++) {
        const pr_var_info *v = pr_var_get(b->T, q->vars[i]);
        b->var_col[q->vars[i].id] = i;
        pr_vec_push(arena, &b->cols, ((pr_interval){ v->lo, v->hi }));
    }
    return true;
}

/* Does the query read a table without values? It then has no value at any point, and no witness. */
static bool has_no_value(const pr_builder *b)
{
    for (uint32_t w = 0; w < b->n_words; w++)
        for (uint64_t bits = b->reach[w]; bits; bits &= bits - 1) {
            pr_term t = { w * 64 + (uint32_t)__builtin_ctzll(bits) };
            if (pr_term_op_of(b->T, t) == PR_TERM_OP_TABLE && !pr_tab_get(b->T, pr_term_tab(b->T, t))->values) return true;
        }
    return false;
}

static int64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

/* --- one leaf ------------------------------------------------------------------------------ */

static pr_system *system_of(const pr_builder *b, pr_arena *arena)
{
    pr_system *s = pr_system_new(arena, b->cols.n, b->rows.n);
    for (int j = 0; j < b->cols.n; j++) {
        s->lo[j] = b->cols.data[j].lo;
        s->hi[j] = b->cols.data[j].hi;
    }
    for (int i = 0; i < b->rows.n; i++) {
        const pr_built *r = &b->rows.data[i];
        pr_system_row(s);
        for (int j = 0; j < r->lin.n; j++) {
            const pr_lin_term *t = &b->pool.data[r->lin.first + j];
            pr_system_put(s, i, t->col, t->c);
        }
        s->k[i] = r->lin.k;
        s->kind[i] = r->equality ? PR_ROW_EQ : PR_ROW_GE;
    }
    return s;
}

static void leave_open(search *s, pr_refusal_kind why, const char *message)
{
    /* The first reason stands, but a mistake of ours is never hidden by another one. */
    if (s->open_why != PR_REFUSAL_NONE && why != PR_REFUSAL_INTERNAL) return;
    if (s->open_why == PR_REFUSAL_NONE)
        s->last_leaf = s->out->leaves + (s->only_empty ? 0 : s->b.relaxed ? LUCK : PATIENCE);
    s->open_why = why;
    s->open_message = message;
}

static const char *describe(search *s, uint32_t term, const char *what)
{
    if (!term) return what;
    pr_buf text;
    pr_buf_init(&text, s->b.arena);
    pr_term_print(&text, s->b.T, (pr_term){ term });
    return pr_arena_printf(s->b.arena, "%s: %.*s%s", what, text.n > 300 ? 300 : (int)text.n,
                           text.data, text.n > 300 ? "..." : "");
}

/* Checks a candidate on the query's own terms; fills the outcome when it holds. */
static pr_tri accept(search *s, const pr_system *sys, const pr_i128 *leaf_value)
{
    const pr_query *q = s->b.q;
    pr_i128 *value = PR_NEW_N(s->b.arena, pr_i128, sys->n_cols + 1);
    if (!pr_system_recover(sys, leaf_value, value)) return PR_MAYBE;
    pr_point p = { value, q->n_vars };
    pr_tri holds = pr_query_holds(q, &p);
    if (holds == PR_YES) {
        s->out->answer = PR_ANSWER_WITNESS;
        s->out->point = p;
    }
    return holds;
}

/* Bounds that the rows of this branch imply: they decide conjuncts to come without a choice, and close branches
 * without rows. The rows that imply them stay, so nothing is lost where a later row follows from such a bound. */
static void learn(search *s, const pr_system *sys)
{
    pr_builder *b = &s->b;
    for (int j = 0; j < b->cols.n; j++) {
        pr_interval *own = &b->cols.data[j];
        if (sys->gone[j] || (sys->lo[j] <= own->lo && sys->hi[j] >= own->hi)) continue;
        pr_vec_push(b->arena, &b->learnt, ((pr_learnt){ j, *own }));
        if (sys->lo[j] > own->lo) own->lo = sys->lo[j];
        if (sys->hi[j] < own->hi) own->hi = sys->hi[j];
    }
}

typedef enum { LEAF_CLOSED, LEAF_OPEN, LEAF_FOUND } leaf_state;

/* A system is a dense matrix: larger ones take seconds each and are not looked at. */
enum { MOST_ENTRIES = 1 << 18, MOST_WITH_DISTANCES = 1 << 18 };
static int64_t entries(const pr_builder *b) { return (int64_t)(b->cols.n + 1) * (b->rows.n + 1); }

/* Is the leaf empty once ordered pairs of columns have their distance as a column? Asked before an engine is. */
static bool closed_by_distances(search *s)
{
    if (entries(&s->b) > MOST_WITH_DISTANCES) return false;
    pr_system *sys = system_of(&s->b, s->b.arena);
    return pr_system_distances(sys) && pr_system_prepare(sys, s->flags) == PR_PREPARED_EMPTY;
}

/* Rows so far. use_engine: complete leaves and the core; otherwise only contradictions count. */
static leaf_state examine(search *s, bool complete, bool use_engine)
{
    pr_builder *b = &s->b;
    if (entries(b) > MOST_ENTRIES) {
        if (complete) leave_open(s, PR_REFUSAL_BUDGET, "a conjunction has too many rows and columns");
        return LEAF_OPEN;
    }
    if (use_engine) s->entries += entries(b);
    pr_system *sys = system_of(b, b->arena);
    bool raw = s->flags & PR_ROWS_NO_PREPARE;
    if (!raw) {
        switch (use_engine ? pr_system_prepare(sys, s->flags) : pr_system_bounds(sys)) {
        case PR_PREPARED_EMPTY: return LEAF_CLOSED;
        case PR_PREPARED_OPEN: break;
        case PR_PREPARED_OVERFLOW: raw = true; sys = system_of(b, b->arena); break;
        }
    }
    if (!raw && !complete) learn(s, sys);
    if (!use_engine) return LEAF_OPEN;
    pr_leaf leaf = { 0 };
    pr_system_leaf(sys, &leaf);
    leaf.exact = b->relaxed == 0;
    leaf.partial = !complete;
    if (complete) s->out->leaves++;

    pr_i128 *value = PR_NEW_N(b->arena, pr_i128, leaf.n_cols + 1);
    pr_refusal_kind why = PR_REFUSAL_NEEDS_SMT;
    pr_answer answer = PR_ANSWER_UNKNOWN;
    bool trivial = leaf.n_rows == 0 && leaf.n_cols == 0, by_rows = trivial;
    if (trivial) {
        answer = PR_ANSWER_WITNESS;
        for (int j = 0; raw && j < sys->n_cols; j++) {
            if (sys->lo[j] > sys->hi[j]) return LEAF_CLOSED;
        }
    } else if (s->ask && !raw && !s->limits->alone && s->failed && closed_by_distances(s)) {
        return LEAF_CLOSED;        /* where a dive failed, most leaves are empty */
    } else if (s->ask && !raw && !s->limits->alone && pr_leaf_dive(&leaf, b->arena, s->dives, value)) {
        answer = PR_ANSWER_WITNESS;
        by_rows = true;
    } else if (s->ask) {
        bool first = !s->failed;
        s->failed = true;
        if (first && !raw && !s->limits->alone && closed_by_distances(s)) return LEAF_CLOSED;
        s->dives++;
        answer = s->ask(s->user, &leaf, value, &why);
        s->all_rows = false;
    }
    switch (answer) {
    case PR_ANSWER_EMPTY: return LEAF_CLOSED;
    case PR_ANSWER_WITNESS: {
        pr_tri holds = accept(s, sys, value);
        if (holds == PR_YES) {
            s->out->evidence = by_rows ? "rows" : s->settled_by;
            return LEAF_FOUND;
        }
        if (!complete) return LEAF_OPEN;
        if (b->relaxed)
            leave_open(s, PR_REFUSAL_NEEDS_SMT, describe(s, b->relaxed_term, "not linear here"));
        else if (holds == PR_MAYBE)
            leave_open(s, PR_REFUSAL_UNKNOWN, "the witness cannot be evaluated exactly");
        else
            leave_open(s, PR_REFUSAL_INTERNAL, "the witness does not satisfy the query");
        return LEAF_OPEN;
    }
    case PR_ANSWER_UNKNOWN:
        if (complete)
            leave_open(s, why, s->ask ? "the engine did not decide a conjunction"
                                      : "rows alone do not decide a conjunction");
        return LEAF_OPEN;
    }
    return LEAF_OPEN;
}

/* --- search -------------------------------------------------------------------------------- */

/* Works on all open items; the cheapest choice that blocks one is returned in *c. */
static void pass(search *s, pr_choice *c)
{
    pr_builder *b = &s->b;
    bool progress = true;
    while (progress && !b->contradiction) {
        progress = false;
        c->kind = PR_CHOICE_NONE;
        for (int i = 0; i < b->items.n && !b->contradiction; i++) {
            pr_choice mine = { .kind = PR_CHOICE_NONE };
            int before = b->rows.n + b->items.n;
            if (b->items.data[i].done) continue;
            if (pr_lower_item(b, i, &mine)) {
                /* New rows or truths may release an item that waited earlier in this sweep. */
                if (c->kind != PR_CHOICE_NONE && b->rows.n + b->items.n > before) progress = true;
            } else if (c->kind == PR_CHOICE_NONE || mine.n < c->n) {
                *c = mine;
            }
        }
    }
}

static void push_frame(search *s, pr_choice c)
{
    const pr_builder *b = &s->b;
    frame f = { .choice = c, .lins = b->lins.n, .pool = b->pool.n, .rows = b->rows.n,
                .pairs = b->pairs.n, .items = b->items.n, .cols = b->cols.n, .trail = b->trail.n,
                .learnt = b->learnt.n, .relaxed = b->relaxed, .relaxed_term = b->relaxed_term };
    pr_vec_push(s->b.arena, &s->frames, f);
}

/* Takes the next alternative of the innermost choice that has one; false when the search is over.
 */
static bool advance(search *s)
{
    pr_builder *b = &s->b;
    while (s->frames.n) {
        frame *f = &s->frames.data[s->frames.n - 1];
        pr_lower_undo(b, f->trail);
        while (b->learnt.n > f->learnt) {
            pr_learnt l = b->learnt.data[--b->learnt.n];
            b->cols.data[l.col] = l.old;
        }
        b->lins.n = f->lins;
        b->pool.n = f->pool;
        b->rows.n = f->rows;
        b->pairs.n = f->pairs;
        b->items.n = f->items;
        b->cols.n = f->cols;
        b->relaxed = f->relaxed;
        b->relaxed_term = f->relaxed_term;
        b->contradiction = false;
        if (f->next < f->choice.n) {
            pr_i128 at = f->next++;
            if (f->choice.kind == PR_CHOICE_DISTINCT)
                pr_lower_push(b, b->q->distinct[(int)at].id, true);
            else
                pr_lower_take(b, &f->choice, at);
            return true;
        }
        s->frames.n--;
        if (f->choice.kind == PR_CHOICE_DISTINCT) s->distinct_done = false;
    }
    return false;
}

static const char TOO_LARGE[] = "the conjunctions (leaves) of the query are too large together";

static bool stopped(search *s)
{
    const pr_limits *l = s->limits;
    if (l->interrupt && *l->interrupt) {
        leave_open(s, PR_REFUSAL_TIMEOUT, "interrupted");
    } else if (s->deadline_ns && now_ns() > s->deadline_ns) {
        leave_open(s, PR_REFUSAL_TIMEOUT, "the wall-clock limit of one query is used up");
    } else if (l->max_leaves > 0
               && (s->out->leaves >= l->max_leaves
                   || s->nodes > (int64_t)l->max_leaves * NODES_PER_LEAF)) {
        if (s->open_why != PR_REFUSAL_INTERNAL) s->open_why = PR_REFUSAL_NONE;
        leave_open(s, PR_REFUSAL_BUDGET, "the limit of conjunctions (leaves) is used up");
    } else if (l->max_leaves > 0
               && (s->entries > (int64_t)l->max_leaves * ENTRIES_PER_LEAF
                   || s->size > (int64_t)l->max_leaves * NODES_PER_LEAF * SIZE_PER_NODE || s->b.work > s->b.most_work)) {
        if (s->open_why != PR_REFUSAL_INTERNAL) s->open_why = PR_REFUSAL_NONE;
        leave_open(s, PR_REFUSAL_BUDGET, TOO_LARGE);
    } else if (l->brief && l->max_leaves > 0 && s->out->leaves == 0
               && (s->size > (int64_t)l->max_leaves * NODES_PER_LEAF * SIZE_PER_NODE / BRIEFLY || s->b.work > s->b.most_work / BRIEFLY)) {
        leave_open(s, PR_REFUSAL_BUDGET, TOO_LARGE);
    } else if (s->open_why != PR_REFUSAL_NONE && s->out->leaves >= s->last_leaf) {
        return true;
    } else {
        return false;
    }
    return true;
}

/* The first node below the distinct alternative (or the root): its rows are the choice-free core.
 */
static bool at_core(const search *s)
{
    return s->frames.n == 0
        || s->frames.data[s->frames.n - 1].choice.kind == PR_CHOICE_DISTINCT;
}

/* examine, in memory that is given back where nothing points into it. */
static leaf_state examine_in(search *s, bool complete, bool reuse)
{
    pr_builder *b = &s->b;
    pr_vec_reserve(b->arena, &b->learnt, b->learnt.n + b->cols.n);
    pr_arena_pos mark = pr_arena_mark(b->arena);
    const char *message = s->open_message;
    leaf_state state = examine(s, complete, complete || at_core(s));
    if (state != LEAF_FOUND && reuse && s->open_message == message) pr_arena_release(b->arena, mark);
    return state;
}

static void run_search(search *s)
{
    pr_builder *b = &s->b;
    /* Constructors and evaluation may grow the store: never release what it lives in. */
    bool reuse = b->arena != pr_terms_arena(b->T);
    for (bool more = true; more; more = advance(s)) {
        s->size += b->cols.n + b->rows.n + b->items.n;
        if (s->nodes++ > 0 && stopped(s)) return;
        pr_choice c = { .kind = PR_CHOICE_NONE };
        if (!b->contradiction) pass(s, &c);
        if (b->contradiction) continue;
        if (!s->distinct_done && b->q->n_distinct > 0) {
            s->distinct_done = true;
            push_frame(s, (pr_choice){ .kind = PR_CHOICE_DISTINCT, .n = b->q->n_distinct });
            continue;
        }
        bool complete = c.kind == PR_CHOICE_NONE;
        int known = b->learnt.n;
        leaf_state state = examine_in(s, complete, reuse);
        if (state == LEAF_OPEN && !complete && b->learnt.n > known) {   /* bounds that may spare the choice */
            pass(s, &c);
            if (b->contradiction) continue;
            complete = c.kind == PR_CHOICE_NONE;
            if (complete) state = examine_in(s, true, reuse);
        }
        if (state == LEAF_FOUND) return;
        if (state == LEAF_OPEN && !complete) push_frame(s, c);
    }
}

void pr_rows_decide(const pr_query *q, const pr_limits *limits, unsigned flags, pr_arena *scratch,
                    pr_leaf_fn ask, void *user, const char *settled_by, pr_outcome *out)
{
    search s = { .limits = limits, .flags = flags, .ask = ask, .user = user,
                 .settled_by = settled_by, .out = out, .all_rows = true };
    pr_term overlap[2];
    out->answer = PR_ANSWER_UNKNOWN;
    out->why = PR_REFUSAL_UNKNOWN;
    out->leaves = 0;
    if (limits->t_wall_ms > 0) s.deadline_ns = now_ns() + limits->t_wall_ms * 1000000;
    int n = pr_query_overlap(q, pr_query_box(q), overlap);
    for (int i = 0; i < q->n_vars; i++) {
        const pr_var_info *v = pr_var_get(q->terms, q->vars[i]);
        if (v->lo > v->hi) {
            out->answer = PR_ANSWER_EMPTY;
            out->why = PR_REFUSAL_NONE;
            out->evidence = "rows";
            return;
        }
    }
    if (!builder_init(&s.b, q, scratch, overlap, n)) {
        out->message = "a constant leaves the exact integer range";
        return;
    }
    s.b.most_work = limits->max_leaves > 0 ? (int64_t)limits->max_leaves * NODES_PER_LEAF * LOOKS_PER_NODE : INT64_MAX;
    s.only_empty = limits->only_empty || has_no_value(&s.b);
    for (int i = 0; i < q->n_core; i++) pr_lower_push(&s.b, q->core[i].id, true);
    for (int i = 0; i < q->n_premises; i++) pr_lower_push(&s.b, q->premises[i].id, true);
    for (int i = 0; i < n; i++) pr_lower_push(&s.b, overlap[i].id, true);
    run_search(&s);
    if (out->answer == PR_ANSWER_WITNESS) {
        out->why = PR_REFUSAL_NONE;
    } else if (s.open_why == PR_REFUSAL_NONE) {
        out->answer = PR_ANSWER_EMPTY;
        out->why = PR_REFUSAL_NONE;
        out->evidence = s.all_rows ? "rows" : settled_by;
    } else {
        out->why = s.open_why;
        out->message = s.open_message;
    }
}
