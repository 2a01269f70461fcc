/* The query every engine answers: overlap of the addresses, exact re-evaluation of a point, text.
 *
 * Overlap becomes one equality when both widths agree and the difference of the addresses is shown
 * to be a multiple of the width: |D| < w and w | D leave only D = 0. Otherwise the two byte
 * inequalities stay (decision-engine.md 1.3). */
#include "term/query.h"
#include "term/store.h"
#include "term/table.h"
#include "term/text.h"
#include <assert.h>
#include <stdlib.h>

int pr_query_overlap(const pr_query *q, pr_box *box, pr_term out[2])
{
    if (pr_term_none(q->addr[0]) || pr_term_none(q->addr[1])) return 0;
    pr_terms *T = q->terms;
    pr_term a = q->addr[0], b = q->addr[1];
    int w = q->width[0];
    if (w == q->width[1] && w > 0) {
        pr_term d = pr_sub(T, a, b);
        pr_residue r = pr_residue_of(box, d);
        if (!pr_term_none(d) && r.modulus % w == 0 && r.residue % w == 0) {
            out[0] = pr_eq(T, a, b);
            return 1;
        }
    }
    out[0] = pr_lt(T, a, pr_add(T, b, pr_const(T, q->width[1])));
    out[1] = pr_lt(T, b, pr_add(T, a, pr_const(T, q->width[0])));
    return 2;
}

/* Own intervals never change, so all queries of a store share one box and its facts. */
pr_box *pr_query_box(const pr_query *q)
{
    pr_terms *T = q->terms;
    if (!T->own_box) T->own_box = pr_box_new(T);
    return T->own_box;
}

/* --- exact evaluation ---------------------------------------------------------------------- */

static pr_tri truth(const pr_query *q, pr_term t, const pr_env *env)
{
    pr_i128 v;
    if (!pr_eval_also(q->terms, t, env, &v)) return PR_MAYBE;
    return v ? PR_YES : PR_NO;
}

static pr_tri both(pr_tri a, pr_tri b)
{
    if (a == PR_NO || b == PR_NO) return PR_NO;
    return a == PR_YES && b == PR_YES ? PR_YES : PR_MAYBE;
}

static pr_tri overlap_holds(const pr_query *q, const pr_env *env)
{
    pr_i128 a, b, d;
    if (pr_term_none(q->addr[0])) return PR_YES;
    if (!pr_eval_also(q->terms, q->addr[0], env, &a) || !pr_eval_also(q->terms, q->addr[1], env, &b)
        || !pr_sub_ok(a, b, &d))
        return PR_MAYBE;
    return d < q->width[1] && -(pr_i128)q->width[0] < d ? PR_YES : PR_NO;
}

pr_tri pr_query_holds(const pr_query *q, const pr_point *p)
{
    uint32_t n = pr_vars_count(q->terms);
    if (p->n != q->n_vars) return PR_MAYBE;
    pr_temp hold;
    pr_i128 *value = pr_temp_new(pr_terms_arena(q->terms), &hold, n * (sizeof *value + sizeof(bool)));
    bool *known = (bool *)(value + n);
    memset(value, 0, n * (sizeof *value + sizeof *known));
    pr_env env = { value, known, n };
    pr_tri r = PR_YES;
    for (int i = 0; i < q->n_vars; i++) {
        const pr_var_info *v = pr_var_get(q->terms, q->vars[i]);
        if ((v->lo > -PR_INF && p->value[i] < v->lo) || (v->hi < PR_INF && p->value[i] > v->hi))
            r = PR_NO;
        value[q->vars[i].id] = p->value[i];
        known[q->vars[i].id] = true;
    }
    pr_eval_begin(q->terms);
    for (int i = 0; i < q->n_core && r != PR_NO; i++) r = both(r, truth(q, q->core[i], &env));
    for (int i = 0; i < q->n_premises && r != PR_NO; i++)
        r = both(r, truth(q, q->premises[i], &env));
    if (r != PR_NO) r = both(r, overlap_holds(q, &env));
    if (q->n_distinct && r != PR_NO) {
        pr_tri some = PR_NO;
        for (int i = 0; i < q->n_distinct && some != PR_YES; i++) {
            pr_tri d = truth(q, q->distinct[i], &env);
            if (d != PR_NO) some = d;
        }
        r = both(r, some);
    }
    pr_temp_end(&hold);
    return r;
}

/* --- text ---------------------------------------------------------------------------------- */

static const char *const role_word[] = { "pid", "grid", "param", "lane", "iter", "free", "other" };
static const char *const copy_word[] = { "none", "shared", "a", "b" };

/* Calls f for every term of the query, in a fixed order. */
static void each_term(const pr_query *q, void (*f)(void *user, pr_term t), void *user)
{
    for (int i = 0; i < q->n_core; i++) f(user, q->core[i]);
    for (int i = 0; i < q->n_distinct; i++) f(user, q->distinct[i]);
    for (int i = 0; i < q->n_premises; i++) f(user, q->premises[i]);
    for (int i = 0; i < 2; i++) {
        if (!pr_term_none(q->addr[i])) f(user, q->addr[i]);
    }
}

typedef struct uses { const pr_terms *T; uint32_t *count; uint8_t *seen; } uses;

static void count_node(void *user, pr_term t)
{
    uses *u = user;
    if (u->seen[t.id]) return;
    u->seen[t.id] = 1;
    const node *x = node_of(u->T, t);
    for (uint32_t i = 0; i < x->n; i++) u->count[u->T->kids[x->first + i]]++;
}

static void count_root(void *user, pr_term t)
{
    uses *u = user;
    u->count[t.id]++;
    pr_term_visit(u->T, t, count_node, u);
}

/* Entries of the tables that the query reads; a table is named by its number in the store. */
static void print_tables(pr_buf *b, const pr_query *q, const uint8_t *seen)
{
    const pr_terms *T = q->terms;
    for (uint32_t t = 1; t < pr_tabs_count(T); t++) {
        bool used = false;
        for (uint32_t id = 1; id < pr_terms_count(T) && !used; id++)
            used = seen[id] && T->nodes[id].op == PR_TERM_OP_TABLE && T->nodes[id].aux == t;
        if (!used) continue;
        const pr_tab_info *x = pr_tab_get(T, (pr_tab){ t });
        if (!x->values) {
            pr_buf_printf(b, "  (table %u %s unknown %d %d ", t, x->name, x->injective, x->nondecreasing);
            pr_buf_i128(b, x->lo);
            pr_buf_putc(b, ' ');
            pr_buf_i128(b, x->hi);
        } else {
            pr_buf_printf(b, "  (table %u %s %lld", t, x->name, (long long)x->n);
            for (int64_t i = 0; i < x->n; i++) {
                pr_buf_putc(b, ' ');
                pr_buf_i128(b, x->values[i]);
            }
        }
        pr_buf_puts(b, ")\n");
    }
}

static void print_bound(pr_buf *b, pr_i128 v)
{
    if (v <= -PR_INF) pr_buf_puts(b, "-inf");
    else if (v >= PR_INF) pr_buf_puts(b, "inf");
    else pr_buf_i128(b, v);
}

static void print_list(pr_buf *b, const pr_query *q, const char *word, const pr_term *t, int n,
                       const uint32_t *name)
{
    for (int i = 0; i < n; i++) {
        pr_buf_printf(b, "  (%s ", word);
        pr_term_print_named(b, q->terms, t[i], name, pr_terms_count(q->terms));
        pr_buf_puts(b, ")\n");
    }
}

static bool is_listed(const pr_query *q, pr_var v)
{
    for (int i = 0; i < q->n_vars; i++)
        if (q->vars[i].id == v.id) return true;
    return false;
}

/* What the pre-tests know beside the formula. Twins that no term mentions are left out. */
static void print_copies(pr_buf *b, const pr_query *q)
{
    if (!q->is_pair) return;
    pr_buf_printf(b, "  (copies %s %s %d %d)\n", q->intra ? "intra" : "inter",
                  q->same_record ? "same" : "two", q->n_core_a, q->n_core_b);
    for (int i = 0; i < q->n_twins; i++) {
        if (!is_listed(q, q->twins[i][0]) || !is_listed(q, q->twins[i][1])) continue;
        pr_buf_printf(b, "  (twin %s %s)\n", pr_var_get(q->terms, q->twins[i][0])->name,
                      pr_var_get(q->terms, q->twins[i][1])->name);
    }
}

void pr_query_print(pr_buf *b, const pr_query *q)
{
    const pr_terms *T = q->terms;
    uint32_t n = pr_terms_count(T), names = 0;
    pr_temp hold;
    size_t size = n * (2 * sizeof(uint32_t) + sizeof(uint8_t));
    uint32_t *count = memset(pr_temp_new(b->arena, &hold, size), 0, size), *name = count + n;
    uint8_t *seen = (uint8_t *)(name + n);
    uses u = { T, count, seen };
    each_term(q, count_root, &u);

    pr_buf_puts(b, "(query\n");
    if (q->pair >= 0) pr_buf_printf(b, "  (pair %d)\n", q->pair);
    if (q->relaxed) pr_buf_puts(b, "  (relaxed)\n");
    for (int i = 0; i < q->n_vars; i++) {
        const pr_var_info *v = pr_var_get(T, q->vars[i]);
        pr_buf_printf(b, "  (var %s %s %d %s ", v->name, role_word[v->role], v->index,
                      copy_word[v->copy]);
        print_bound(b, v->lo);
        pr_buf_putc(b, ' ');
        print_bound(b, v->hi);
        pr_buf_puts(b, ")\n");
    }
    print_copies(b, q);
    print_tables(b, q, seen);
    for (uint32_t id = 1; id < n; id++) {
        if (!seen[id] || count[id] < 2 || T->nodes[id].n == 0) continue;
        pr_buf_printf(b, "  (def %%%u ", ++names);
        pr_term_print_named(b, T, (pr_term){ id }, name, n);
        pr_buf_puts(b, ")\n");
        name[id] = names;
    }
    const struct { const char *word; const pr_term *t; int n; } list[] = {
        { "core", q->core, q->n_core }, { "distinct", q->distinct, q->n_distinct },
        { "premise", q->premises, q->n_premises },
    };
    for (size_t i = 0; i < PR_LEN(list); i++)
        print_list(b, q, list[i].word, list[i].t, list[i].n, name);
    for (int i = 0; i < 2; i++) {
        if (pr_term_none(q->addr[i])) continue;
        pr_buf_printf(b, "  (addr %d ", q->width[i]);
        pr_term_print_named(b, T, q->addr[i], name, n);
        pr_buf_puts(b, ")\n");
    }
    pr_buf_puts(b, ")\n");
    pr_temp_end(&hold);
}

typedef struct twin { pr_var of[2]; } twin;


typedef struct reader {
    pr_terms *T;
    pr_arena *arena;
    pr_str in;
    PR_VEC(pr_var) vars;
    PR_VEC(twin) twins;
    PR_VEC(int) tab_number;
    PR_VEC(pr_tab) tabs;
    pr_term_vec defs, core, distinct, premises;
    pr_query *q;
    int n_addr;
    const char *why;
} reader;

static bool bad(reader *r, const char *why)
{
    if (!r->why) r->why = why;
    return false;
}

static bool read_int(reader *r, pr_i128 lo, pr_i128 hi, int *out)
{
    pr_i128 v;
    if (!pr_i128_parse(pr_text_token(&r->in), &v) || v < lo || v > hi)
        return bad(r, "number expected");
    *out = (int)v;
    return true;
}

static bool read_word(reader *r, const char *const *words, int n, int *out)
{
    pr_str t = pr_text_token(&r->in);
    for (int i = 0; i < n; i++) {
        if (pr_str_is(t, words[i])) {
            *out = i;
            return true;
        }
    }
    return bad(r, "unknown role or copy");
}

static bool read_bound(reader *r, pr_i128 *out)
{
    pr_str t = pr_text_token(&r->in);
    if (pr_str_is(t, "-inf")) *out = -PR_INF;
    else if (pr_str_is(t, "inf")) *out = PR_INF;
    else if (!pr_i128_parse(t, out)) return bad(r, "bound expected");
    return true;
}

static bool read_var(reader *r)
{
    pr_var_info v = { 0 };
    pr_str name = pr_text_token(&r->in);
    int role, copy;
    if (!read_word(r, role_word, PR_LEN(role_word), &role)
        || !read_int(r, -1, INT32_MAX, &v.index)
        || !read_word(r, copy_word, PR_LEN(copy_word), &copy) || !read_bound(r, &v.lo)
        || !read_bound(r, &v.hi))
        return false;
    v.role = (pr_var_role)role;
    v.copy = (pr_copy)copy;
    v.name = pr_arena_strndup(r->arena, name.s, name.n);
    pr_vec_push(r->arena, &r->vars, pr_var_new(r->T, v));
    return true;
}

static bool read_term(reader *r, pr_term *out)
{
    pr_text_names names = { r->defs.data, r->defs.n, r->tab_number.data, r->tabs.data, r->tabs.n };
    const char *why = NULL;
    return pr_text_term(r->T, &r->in, &names, r->arena, out, &why) || bad(r, why);
}

static bool read_copies(reader *r)
{
    static const char *const program[] = { "inter", "intra" }, *const record[] = { "two", "same" };
    int intra, same;
    if (!read_word(r, program, 2, &intra) || !read_word(r, record, 2, &same)
        || !read_int(r, 0, INT32_MAX, &r->q->n_core_a) || !read_int(r, 0, INT32_MAX, &r->q->n_core_b))
        return false;
    r->q->is_pair = true;
    r->q->intra = intra;
    r->q->same_record = same;
    return true;
}

static bool read_twin(reader *r)
{
    twin t = { { { 0 }, { 0 } } };
    for (int c = 0; c < 2; c++) {
        pr_str name = pr_text_token(&r->in);
        for (int i = 0; i < r->vars.n; i++)
            if (pr_str_is(name, pr_var_get(r->T, r->vars.data[i])->name)) t.of[c] = r->vars.data[i];
        if (!t.of[c].id) return bad(r, "a twin is not a variable of the query");
    }
    pr_vec_push(r->arena, &r->twins, t);
    return true;
}

static bool read_table(reader *r)
{
    pr_tab_info x = { 0 };
    int number, n, premise[2];
    if (!read_int(r, 1, INT32_MAX, &number)) return false;
    pr_str name = pr_text_token(&r->in);
    x.name = pr_arena_strndup(pr_terms_arena(r->T), name.s, name.n);
    pr_str after = r->in;
    if (pr_str_is(pr_text_token(&after), "unknown")) {
        r->in = after;
        if (!read_int(r, 0, 1, &premise[0]) || !read_int(r, 0, 1, &premise[1]) || !read_bound(r, &x.lo) || !read_bound(r, &x.hi))
            return false;
        x.injective = premise[0];
        x.nondecreasing = premise[1];
    } else {
        if (!read_int(r, 1, 1 << 24, &n)) return false;
        pr_i128 *values = PR_NEW_N(pr_terms_arena(r->T), pr_i128, n);
        for (int i = 0; i < n; i++)
            if (!pr_i128_parse(pr_text_token(&r->in), &values[i])) return bad(r, "table entry expected");
        x.n = n;
        x.values = values;
    }
    pr_vec_push(r->arena, &r->tab_number, number);
    pr_vec_push(r->arena, &r->tabs, pr_tab_new(r->T, x));
    return true;
}

static bool read_clause(reader *r, pr_str word)
{
    pr_term t;
    if (pr_str_is(word, "pair")) return read_int(r, 0, INT32_MAX, &r->q->pair);
    if (pr_str_is(word, "copies")) return read_copies(r);
    if (pr_str_is(word, "twin")) return read_twin(r);
    if (pr_str_is(word, "relaxed")) return r->q->relaxed = true;
    if (pr_str_is(word, "var")) return read_var(r);
    if (pr_str_is(word, "table")) return read_table(r);
    if (pr_str_is(word, "def")) {
        pr_text_token(&r->in);
        if (!read_term(r, &t)) return false;
        pr_vec_push(r->arena, &r->defs, t);
        return true;
    }
    if (pr_str_is(word, "addr")) {
        if (r->n_addr == 2) return bad(r, "more than two addresses");
        if (!read_int(r, 1, 1 << 20, &r->q->width[r->n_addr]) || !read_term(r, &t)) return false;
        if (pr_term_is_bool(r->T, t)) return bad(r, "an address is an integer term");
        r->q->addr[r->n_addr++] = t;
        return true;
    }
    pr_term_vec *list = pr_str_is(word, "core") ? &r->core
                      : pr_str_is(word, "distinct") ? &r->distinct
                      : pr_str_is(word, "premise") ? &r->premises : NULL;
    if (!list) return bad(r, "unknown clause");
    if (!read_term(r, &t)) return false;
    if (!pr_term_is_bool(r->T, t)) return bad(r, "a conjunct is a Boolean term");
    pr_vec_push(r->arena, list, t);
    return true;
}

pr_query *pr_query_parse(pr_terms *T, pr_arena *arena, pr_str text, const char **why)
{
    reader r = { .T = T, .arena = arena, .in = text };
    r.q = PR_NEW(arena, pr_query);
    r.q->terms = T;
    r.q->pair = -1;
    pr_vec_push(arena, &r.defs, PR_TERM_NONE);      /* definitions count from 1 */
    bool ok = pr_str_is(pr_text_token(&r.in), "(") && pr_str_is(pr_text_token(&r.in), "query");
    while (ok) {
        pr_str t = pr_text_token(&r.in);
        if (pr_str_is(t, ")")) break;
        ok = pr_str_is(t, "(") && read_clause(&r, pr_text_token(&r.in))
          && pr_str_is(pr_text_token(&r.in), ")");
    }
    if (ok && r.n_addr == 1) ok = bad(&r, "one address only");
    if (ok && (pr_i128)r.q->n_core_a + r.q->n_core_b > r.core.n) ok = bad(&r, "more conjuncts of one copy than there are");
    if (!ok) {
        *why = r.why ? r.why : "not a query";
        return NULL;
    }
    pr_var (*twins)[2] = pr_arena_alloc(arena, sizeof *twins * ((size_t)r.twins.n + 1));
    for (int i = 0; i < r.twins.n; i++)
        for (int c = 0; c < 2; c++) twins[i][c] = r.twins.data[i].of[c];
    r.q->twins = (const pr_var (*)[2])twins;
    r.q->n_twins = r.twins.n;
    r.q->vars = r.vars.data;
    r.q->n_vars = r.vars.n;
    r.q->core = r.core.data;
    r.q->n_core = r.core.n;
    r.q->distinct = r.distinct.data;
    r.q->n_distinct = r.distinct.n;
    r.q->premises = r.premises.data;
    r.q->n_premises = r.premises.n;
    return r.q;
}
