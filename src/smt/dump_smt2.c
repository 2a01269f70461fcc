/* A query as SMT-LIB 2.6 text, written from the terms without Z3.
 *
 * Every inner node is one define-fun, so shared nodes stay shared. Division semantics are six small
 * functions at the top; bit operations are sums over binary digits (floor division gives the digits
 * of negative numbers too), which any integer solver reads. Variables are named by the query's own
 * names. */
#include "dump.h"
#include "term/table.h"

enum { MAX_BITS = 70 };

typedef struct writer {
    pr_buf *b;
    const pr_query *q;
    bool *done;                 /* by term id */
    bool *table;                /* by table id */
    const char *why;
} writer;

static const char prologue[] =
    "(define-fun fdiv ((x Int) (y Int)) Int\n"
    "  (ite (> y 0) (div x y) (ite (< y 0) (div (- x) (- y)) 0)))\n"
    "(define-fun fmod ((x Int) (y Int)) Int\n"
    "  (ite (> y 0) (mod x y) (ite (< y 0) (- (mod (- x) (- y))) x)))\n"
    "(define-fun mag ((x Int)) Int (ite (>= x 0) x (- x)))\n"
    "(define-fun tdiv ((x Int) (y Int)) Int\n"
    "  (ite (= (< x 0) (< y 0)) (fdiv (mag x) (mag y)) (- (fdiv (mag x) (mag y)))))\n"
    "(define-fun trem ((x Int) (y Int)) Int\n"
    "  (ite (< x 0) (- (fmod (mag x) (mag y))) (fmod (mag x) (mag y))))\n"
    "(define-fun bit ((x Int) (unit Int)) Bool (= (mod (div x unit) 2) 1))\n";

static void put_int(pr_buf *b, pr_i128 v)
{
    if (v >= 0) {
        pr_buf_i128(b, v);
        return;
    }
    pr_buf_puts(b, "(- ");
    if (v == PR_I128_MIN) pr_buf_puts(b, "170141183460469231731687303715884105728");
    else pr_buf_i128(b, -v);
    pr_buf_putc(b, ')');
}

/* Variable names become quoted symbols, apart from the definitions' names. */
static void put_var(pr_buf *b, const pr_terms *T, pr_var v)
{
    pr_buf_printf(b, "|%s|", pr_var_get(T, v)->name);
}

static void put_ref(writer *w, pr_term t)
{
    const pr_terms *T = w->q->terms;
    switch (pr_term_op_of(T, t)) {
    case PR_TERM_OP_FALSE: pr_buf_puts(w->b, "false"); return;
    case PR_TERM_OP_TRUE: pr_buf_puts(w->b, "true"); return;
    case PR_TERM_OP_CONST: put_int(w->b, pr_term_value(T, t)); return;
    case PR_TERM_OP_VAR: put_var(w->b, T, pr_term_var(T, t)); return;
    default: pr_buf_printf(w->b, "t%u", t.id); return;
    }
}

static void put_call(writer *w, const char *word, pr_term t)
{
    pr_buf_printf(w->b, "(%s", word);
    for (int i = 0; i < pr_term_arity(w->q->terms, t); i++) {
        pr_buf_putc(w->b, ' ');
        put_ref(w, pr_term_child(w->q->terms, t, i));
    }
    pr_buf_putc(w->b, ')');
}

static void put_sum(writer *w, pr_term t)
{
    const pr_terms *T = w->q->terms;
    pr_buf_puts(w->b, "(+ ");
    put_int(w->b, pr_term_value(T, t));
    for (int i = 0; i < pr_term_arity(T, t); i++) {
        pr_buf_puts(w->b, " (* ");
        put_int(w->b, pr_term_coef(T, t, i));
        pr_buf_putc(w->b, ' ');
        put_ref(w, pr_term_child(T, t, i));
        pr_buf_putc(w->b, ')');
    }
    pr_buf_putc(w->b, ')');
}

static void put_bits(writer *w, pr_term t, const char *word)
{
    const pr_terms *T = w->q->terms;
    pr_box *box = pr_query_box(w->q);
    int width = 1;
    for (int i = 0; i < 2; i++) {
        pr_interval r = pr_range(box, pr_term_child(T, t, i));
        while (width <= MAX_BITS && (r.lo < pr_int_min(width) || r.hi > pr_int_max(width))) width++;
    }
    if (width > MAX_BITS) {
        w->why = "a bit operation on an unbounded operand";
        pr_buf_puts(w->b, "0");
        return;
    }
    pr_buf_puts(w->b, "(+");
    for (int i = 0; i < width; i++) {
        pr_i128 unit = (pr_i128)1 << i;
        pr_buf_printf(w->b, " (ite (%s", word);
        for (int k = 0; k < 2; k++) {
            pr_buf_puts(w->b, " (bit ");
            put_ref(w, pr_term_child(T, t, k));
            pr_buf_putc(w->b, ' ');
            put_int(w->b, unit);
            pr_buf_putc(w->b, ')');
        }
        pr_buf_puts(w->b, ") ");
        put_int(w->b, i == width - 1 ? -unit : unit);
        pr_buf_puts(w->b, " 0)");
    }
    pr_buf_puts(w->b, " 0)");
}

static void put_fits(writer *w, pr_term t)
{
    const pr_terms *T = w->q->terms;
    pr_i128 lo = 0, hi = 1;
    bool open = pr_term_fits_kind(T, t) == PR_FITS_NONNEG;
    if (pr_term_fits_kind(T, t) == PR_FITS_SIGNED) {
        int n = pr_term_bits(T, t) > 120 ? 120 : pr_term_bits(T, t);
        lo = pr_int_min(n);
        hi = pr_int_max(n);
    }
    pr_buf_puts(w->b, "(and (<= ");
    put_int(w->b, lo);
    pr_buf_putc(w->b, ' ');
    put_ref(w, pr_term_child(T, t, 0));
    pr_buf_puts(w->b, ") ");
    if (open) {
        pr_buf_puts(w->b, "true)");
        return;
    }
    pr_buf_puts(w->b, "(<= ");
    put_ref(w, pr_term_child(T, t, 0));
    pr_buf_putc(w->b, ' ');
    put_int(w->b, hi);
    pr_buf_puts(w->b, "))");
}

static void put_extremum(writer *w, pr_term t, bool is_min)
{
    pr_term a = pr_term_child(w->q->terms, t, is_min ? 0 : 1);
    pr_term b = pr_term_child(w->q->terms, t, is_min ? 1 : 0);
    put_call(w, "ite (<=", t);
    pr_buf_putc(w->b, ' ');
    put_ref(w, a);
    pr_buf_putc(w->b, ' ');
    put_ref(w, b);
    pr_buf_putc(w->b, ')');
}

/* A table as a function: a chain of choices over its runs, or over its entries. A function that nobody knows is
 * declared where certificates ask for it (every function of the index has to be without a solution then). */
static void define_table(writer *w, pr_tab tab)
{
    const pr_terms *T = w->q->terms;
    const pr_tab_info *x = pr_tab_get(T, tab);
    int n;
    if (w->table[tab.id]) return;
    w->table[tab.id] = true;
    if (!x->values) {
        if (!w->q->trace) w->why = "a value loaded from memory";
        pr_buf_printf(w->b, "; function tab%u %s%s%s\n(declare-fun tab%u (Int) Int)\n", tab.id, x->name,
                      x->injective ? " distinct" : "", x->nondecreasing ? " nondecreasing" : "", tab.id);
        return;
    }
    const pr_tab_piece *p = pr_tab_pieces(T, tab, &n);
    int64_t count = p ? n : x->n;
    pr_buf_printf(w->b, "; table tab%u %s\n(define-fun tab%u ((i Int)) Int (ite (< i 0) ", tab.id, x->name, tab.id);
    put_int(w->b, x->values[0]);
    for (int64_t i = 0; i < count; i++) {
        pr_buf_puts(w->b, " (ite (<= i ");
        put_int(w->b, p ? p[i].last : i);
        pr_buf_puts(w->b, ") ");
        if (!p) {
            put_int(w->b, x->values[i]);
            continue;
        }
        pr_buf_puts(w->b, "(+ (* ");
        put_int(w->b, p[i].a);
        pr_buf_puts(w->b, " i) ");
        put_int(w->b, p[i].b);
        pr_buf_putc(w->b, ')');
    }
    pr_buf_putc(w->b, ' ');
    put_int(w->b, x->values[x->n - 1]);
    for (int64_t i = 0; i <= count; i++) pr_buf_putc(w->b, ')');
    pr_buf_puts(w->b, ")\n");
}

static void put_entry(writer *w, pr_term t)
{
    const pr_terms *T = w->q->terms;
    pr_buf_printf(w->b, "(tab%u ", pr_term_tab(T, t).id);
    put_ref(w, pr_term_child(T, t, 0));
    pr_buf_putc(w->b, ')');
}

static void define(void *user, pr_term t)
{
    writer *w = user;
    const pr_terms *T = w->q->terms;
    pr_term_op op = pr_term_op_of(T, t);
    if (w->done[t.id]) return;
    w->done[t.id] = true;
    if (op == PR_TERM_OP_APP && w->q->trace) {      /* certificates: any value at all, which has more solutions */
        pr_buf_printf(w->b, "(declare-const t%u %s)\n", t.id, pr_term_is_bool(T, t) ? "Bool" : "Int");
        return;
    }
    if (pr_term_arity(T, t) == 0 && op != PR_TERM_OP_APP) return;
    if (op == PR_TERM_OP_TABLE) define_table(w, pr_term_tab(T, t));
    pr_buf_printf(w->b, "(define-fun t%u () %s ", t.id, pr_term_is_bool(T, t) ? "Bool" : "Int");
    switch (op) {
    case PR_TERM_OP_SUM: put_sum(w, t); break;
    case PR_TERM_OP_MUL: put_call(w, "*", t); break;
    case PR_TERM_OP_FDIV: put_call(w, "fdiv", t); break;
    case PR_TERM_OP_FMOD: put_call(w, "fmod", t); break;
    case PR_TERM_OP_TDIV: put_call(w, "tdiv", t); break;
    case PR_TERM_OP_TREM: put_call(w, "trem", t); break;
    case PR_TERM_OP_MIN: put_extremum(w, t, true); break;
    case PR_TERM_OP_MAX: put_extremum(w, t, false); break;
    case PR_TERM_OP_SELECT: put_call(w, "ite", t); break;
    case PR_TERM_OP_BAND: put_bits(w, t, "and"); break;
    case PR_TERM_OP_BOR: put_bits(w, t, "or"); break;
    case PR_TERM_OP_BXOR: put_bits(w, t, "xor"); break;
    case PR_TERM_OP_LE0: put_call(w, ">= 0", t); break;
    case PR_TERM_OP_EQ0: put_call(w, "= 0", t); break;
    case PR_TERM_OP_NOT: put_call(w, "not", t); break;
    case PR_TERM_OP_AND: put_call(w, "and", t); break;
    case PR_TERM_OP_OR: put_call(w, "or", t); break;
    case PR_TERM_OP_FITS: put_fits(w, t); break;
    case PR_TERM_OP_TABLE: put_entry(w, t); break;
    case PR_TERM_OP_NONE: case PR_TERM_OP_FALSE: case PR_TERM_OP_TRUE: case PR_TERM_OP_CONST:
    case PR_TERM_OP_VAR: case PR_TERM_OP_APP:
        w->why = "an unmodelled value";
        pr_buf_puts(w->b, pr_term_is_bool(T, t) ? "true" : "0");
        break;
    }
    pr_buf_puts(w->b, ")\n");
}

static void put_assert(writer *w, pr_term t, const char *role)
{
    pr_term_visit(w->q->terms, t, define, w);
    pr_buf_puts(w->b, "(assert ");
    put_ref(w, t);
    pr_buf_printf(w->b, ")%s\n", role);
}

static void put_name(writer *w, const char *word, int number, const char *sort, pr_term t)
{
    pr_term_visit(w->q->terms, t, define, w);
    pr_buf_printf(w->b, "(define-fun %s-%d () %s ", word, number, sort);
    put_ref(w, t);
    pr_buf_puts(w->b, ")\n");
}

bool pr_smt_dump(const pr_query *q, const pr_limits *limits, pr_buf *out, const char **why)
{
    (void)limits;
    const pr_terms *T = q->terms;
    pr_term overlap[2];
    int n = pr_query_overlap(q, pr_query_box(q), overlap);
    writer w = { .b = out, .q = q };
    w.done = PR_NEW_N(out->arena, bool, pr_terms_count(T));
    w.table = PR_NEW_N(out->arena, bool, pr_tabs_count(T) + 1);
    if (q->pair >= 0) pr_buf_printf(out, "; pair %d\n", q->pair);
    pr_buf_puts(out, "; unsat: no two distinct accesses overlap\n(set-logic ALL)\n");
    pr_buf_puts(out, prologue);
    for (int i = 0; i < q->n_vars; i++) {
        const pr_var_info *v = pr_var_get(T, q->vars[i]);
        pr_buf_puts(out, "(declare-const ");
        put_var(out, T, q->vars[i]);
        pr_buf_puts(out, " Int)\n");
        for (int side = 0; side < 2; side++) {
            pr_i128 bound = side ? v->hi : v->lo;
            if (bound <= -PR_INF || bound >= PR_INF) continue;
            pr_buf_printf(out, "(assert (%s ", side ? "<=" : ">=");
            put_var(out, T, q->vars[i]);
            pr_buf_putc(out, ' ');
            put_int(out, bound);
            pr_buf_puts(out, "))\n");
        }
    }
    bool ok = true;
    const struct { const pr_term *t; int n; } lists[] = {
        { q->core, q->n_core }, { q->premises, q->n_premises }, { overlap, n },
    };
    for (size_t l = 0; l < PR_LEN(lists); l++) {
        for (int i = 0; i < lists[l].n; i++) {
            if (pr_term_none(lists[l].t[i])) ok = false;
            else put_assert(&w, lists[l].t[i], lists[l].t == q->premises ? " ; premise" : "");
        }
    }
    for (int i = 0; i < q->n_distinct; i++) {
        if (pr_term_none(q->distinct[i])) ok = false;
        else pr_term_visit(T, q->distinct[i], define, &w);
    }
    if (q->n_distinct) {
        pr_buf_puts(out, "(assert (or");
        for (int i = 0; i < q->n_distinct; i++) {
            pr_buf_putc(out, ' ');
            put_ref(&w, q->distinct[i]);
        }
        pr_buf_puts(out, "))\n");
    }
    for (int i = 0; q->trace && i < q->trace->facts.n; i++) {   /* for certificates: named, not asserted */
        const pr_trace_fact *f = &q->trace->facts.data[i];
        put_name(&w, "fact", i, "Bool", f->fact);
        if (pr_term_none(f->factor)) continue;
        put_name(&w, "factor", i, "Int", f->factor);
        put_name(&w, "difference", i, "Int", f->difference);
    }
    pr_buf_puts(out, "(check-sat)\n");
    if (!ok) w.why = "a constant leaves the exact integer range";
    *why = w.why;
    return w.why == NULL;
}
