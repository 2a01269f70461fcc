/* Verdicts to bytes and back. Reading trusts nothing: every number is checked against its range and the
 * records, and a proof must add up again (pr_verdict_recall). */
#include "hb/recall.h"
#include "hb/verdict_rule.h"
#include <string.h>

enum { MOST = 1 << 24 }; /* elements of one list */

/* --- writing --------------------------------------------------------------------------------- */

static void put(pr_buf *b, pr_i128 v)
{
    /* seven bits a byte, zigzag: most numbers are small */
    unsigned __int128 u = v < 0 ? ~((unsigned __int128)v << 1) : (unsigned __int128)v << 1;
    for (; u >= 0x80; u >>= 7) pr_buf_putc(b, (char)(0x80 | (int)(u & 0x7f)));
    pr_buf_putc(b, (char)u);
}

static void put_str(pr_buf *b, pr_str s)
{
    put(b, (pr_i128)s.n);
    pr_buf_add(b, s.s, s.n);
}

/* null is -1 */
static void put_text(pr_buf *b, const char *s)
{
    if (s) put_str(b, pr_str_of(s));
    else put(b, -1);
}

static void put_loc(pr_buf *b, const pr_loc *l)
{
    put_str(b, l->file);
    put(b, l->line);
    put(b, l->col);
    put(b, l->text_line);
    put_str(b, l->op);
}

static void put_access(pr_buf *b, const pr_witness_access *a)
{
    put(b, a->record);
    put(b, a->reads | a->writes << 1);
    for (int k = 0; k < 3; k++) put(b, a->program[k]);
    put(b, a->rank);
    for (int k = 0; k < a->rank; k++) put(b, a->lane[k]);
    put(b, a->n_iterations);
    for (int k = 0; k < a->n_iterations; k++) put(b, a->iteration[k]);
    put(b, a->address);
    put(b, a->element);
    put(b, a->byte);
}

static void put_set(pr_buf *b, const pr_race_set *s)
{
    put(b, s != NULL);
    if (!s) return;
    put_text(b, s->relation);
    put(b, s->pieces);
    put(b, s->symmetric | s->described << 1 | s->counted << 2);
    put(b, s->same_axes);
    for (int k = 0; k < (int)PR_LEN(s->axis); k++) {
        const pr_axis_relation *x = &s->axis[k];
        const int64_t v[] = { x->shape, x->c, x->lo, x->hi, x->boxed, x->a_lo, x->a_hi, x->b_lo, x->b_hi, x->a_step, x->mod, x->m_lo, x->m_hi, x->m_not };
        for (size_t i = 0; i < PR_LEN(v); i++) put(b, v[i]);
    }
    put_text(b, s->sentence);
    put(b, s->pairs);
    put_text(b, s->why);
}

static void put_race(pr_buf *b, const pr_race *r)
{
    put(b, r->type);
    put(b, r->intra);
    put_access(b, &r->a);
    put_access(b, &r->b);
    put_text(b, r->reason);
    put(b, r->confirmation);
    put_text(b, r->confirmation_why);
    put(b, r->not_replayed);
    for (int k = 0; k < 3; k++) put(b, r->grid[k]);
    put(b, r->pair);
    put(b, r->config);
    put_set(b, r->set);
}

static void counts(const pr_config_verdict *v, int64_t bucket[PR_BUCKETS])
{
    memset(bucket, 0, sizeof *bucket * PR_BUCKETS);
    for (int i = 0; i < v->ledger.n; i++) bucket[v->ledger.data[i].bucket]++;
}

bool pr_recall_write(pr_buf *b, const pr_config_verdict *v, const pr_records *r)
{
    int64_t bucket[PR_BUCKETS];
    if (v->nondeterministic || v->notes.n < r->notes.n) return false;
    for (int i = 0; i < v->refusals.n; i++)
        if (v->refusals.data[i].kind == PR_REFUSAL_INTERNAL) return false;
    counts(v, bucket);
    put(b, v->status);
    put(b, v->rung);
    for (int k = 0; k < PR_BUCKETS; k++) put(b, bucket[k]);
    put(b, v->withheld);
    for (int k = 0; k < 3; k++) put(b, v->grid_axis[k]);
    put_text(b, v->idempotent);
    put(b, v->deterministic);
    const pr_counts *c = &v->counts;
    put(b, c->pretest);
    put(b, c->isl);
    put(b, c->enumerated);
    put(b, c->z3);
    put(b, c->filtered);
    put(b, (pr_i128)c->isl_ops);
    put(b, (pr_i128)c->z3_units);
    put(b, c->queries);
    put(b, c->leaves);
    put(b, v->qualifiers.n);
    for (int i = 0; i < v->qualifiers.n; i++) put_text(b, v->qualifiers.data[i]);
    put(b, v->conditions.n);
    for (int i = 0; i < v->conditions.n; i++) {
        pr_buf t;
        pr_buf_init(&t, b->arena);
        pr_term_print(&t, r->terms, v->conditions.data[i]);
        put_str(b, (pr_str){ t.data, t.n });
    }
    put(b, v->notes.n - r->notes.n); /* the lowering's own come from the asking records */
    for (int i = r->notes.n; i < v->notes.n; i++) put_text(b, v->notes.data[i]);
    put(b, v->races.n);
    for (int i = 0; i < v->races.n; i++) put_race(b, &v->races.data[i]);
    put(b, v->grid_fragile.n);
    for (int i = 0; i < v->grid_fragile.n; i++) put_race(b, &v->grid_fragile.data[i]);
    put(b, v->refusals.n);
    for (int i = 0; i < v->refusals.n; i++) {
        const pr_refusal *f = &v->refusals.data[i];
        put(b, f->kind);
        put_loc(b, &f->loc);
        put_text(b, f->message);
        put_text(b, f->hint);
    }
    put(b, v->out_of_bounds.n);
    for (int i = 0; i < v->out_of_bounds.n; i++) {
        put_access(b, &v->out_of_bounds.data[i].access);
        put(b, v->out_of_bounds.data[i].confirmed);
    }
    put(b, v->z3_reasons.n);
    for (int i = 0; i < v->z3_reasons.n; i++) {
        int pair = v->z3_reasons.data[i].pair;
        put(b, pair);
        put_text(b, v->z3_reasons.data[i].reason);
        put(b, pair >= 0 && pair < v->ledger.n ? v->ledger.data[pair].a : -1);
    }
    return true;
}

/* "line 12" or "kernel.py:12" in a sentence */
static bool names_place(const char *s)
{
    for (; s && *s; s++) {
        if (strncmp(s, "line ", 5) == 0 && s[5] >= '0' && s[5] <= '9') return true;
        if (s[0] == ':' && s[1] >= '0' && s[1] <= '9') return true;
    }
    return false;
}

static bool race_names_place(const pr_race *r)
{
    return names_place(r->reason) || names_place(r->confirmation_why)
        || (r->set && (names_place(r->set->sentence) || names_place(r->set->why)));
}

bool pr_recall_has_places(const pr_config_verdict *v, const pr_records *r)
{
    bool found = v->refusals.n > 0;
    for (int i = 0; i < v->qualifiers.n && !found; i++) found = names_place(v->qualifiers.data[i]);
    for (int i = r->notes.n; i < v->notes.n && !found; i++) found = names_place(v->notes.data[i]);
    for (int i = 0; i < v->races.n && !found; i++) found = race_names_place(&v->races.data[i]);
    for (int i = 0; i < v->grid_fragile.n && !found; i++) found = race_names_place(&v->grid_fragile.data[i]);
    for (int i = 0; i < v->z3_reasons.n && !found; i++) {
        int pair = v->z3_reasons.data[i].pair; /* its place is the record's, or it cannot be given again */
        found = pair < 0 || pair >= v->ledger.n;
    }
    return found;
}

/* --- reading --------------------------------------------------------------------------------- */

typedef struct reader {
    pr_arena *arena;
    const unsigned char *p;
    size_t left;
    const pr_records *r;
    bool bad;
} reader;

static pr_i128 get(reader *x)
{
    unsigned __int128 u = 0;
    for (int shift = 0;; shift += 7) {
        if (!x->left || shift > 126) {
            x->bad = true;
            return 0;
        }
        unsigned char c = *x->p++;
        x->left--;
        u |= (unsigned __int128)(c & 0x7f) << shift;
        if (!(c & 0x80)) break;
    }
    return u & 1 ? (pr_i128)~(u >> 1) : (pr_i128)(u >> 1);
}

static int64_t get_in(reader *x, int64_t least, int64_t most)
{
    pr_i128 v = get(x);
    if (v < least || v > most) x->bad = true;
    return x->bad ? least : (int64_t)v;
}

static int64_t get_i64(reader *x) { return get_in(x, INT64_MIN, INT64_MAX); }
static bool get_bool(reader *x) { return get_in(x, 0, 1) != 0; }
/* Every element of a list takes at least one byte. */
static int get_count(reader *x) { return (int)get_in(x, 0, x->left < MOST ? (int64_t)x->left : MOST); }

static pr_str get_bytes(reader *x, int64_t n)
{
    if (x->bad || n < 0 || (uint64_t)n > x->left) {
        x->bad = true;
        return (pr_str){ "", 0 };
    }
    pr_str s = { pr_arena_strndup(x->arena, (const char *)x->p, (size_t)n), (size_t)n };
    x->p += n;
    x->left -= (size_t)n;
    return s;
}

static pr_str get_str(reader *x) { return get_bytes(x, get_in(x, 0, MOST)); }

static const char *get_text(reader *x)
{
    int64_t n = get_in(x, -1, MOST);
    if (n < 0) return NULL;
    pr_str s = get_bytes(x, n);
    if (memchr(s.s, 0, s.n)) x->bad = true;
    return s.s;
}

/* A text that is never null. */
static const char *get_words(reader *x)
{
    const char *s = get_text(x);
    if (!s) x->bad = true;
    return s ? s : "";
}

static pr_loc get_loc(reader *x)
{
    pr_loc l = { 0 };
    l.file = get_str(x);
    l.line = (int)get_in(x, 0, INT32_MAX);
    l.col = (int)get_in(x, 0, INT32_MAX);
    l.text_line = (int)get_in(x, 0, INT32_MAX);
    l.op = get_str(x);
    return l;
}

static pr_witness_access get_access(reader *x)
{
    pr_witness_access a = { 0 };
    a.record = (int)get_in(x, 0, x->r->records.n - 1);
    int64_t how = get_in(x, 0, 3);
    a.reads = how & 1;
    a.writes = how >> 1;
    for (int k = 0; k < 3; k++) a.program[k] = get_i64(x);
    a.rank = (int)get_in(x, 0, PR_RANK_MAX);
    for (int k = 0; k < a.rank && !x->bad; k++) a.lane[k] = get_i64(x);
    a.n_iterations = (int)get_in(x, 0, (int64_t)PR_LEN(a.iteration));
    for (int k = 0; k < a.n_iterations && !x->bad; k++) a.iteration[k] = get_i64(x);
    a.address = get(x);
    a.element = get(x);
    a.byte = get(x);
    return a;
}

static const pr_race_set *get_set(reader *x)
{
    if (!get_bool(x)) return NULL;
    pr_race_set *s = PR_NEW(x->arena, pr_race_set);
    s->relation = get_text(x);
    s->pieces = (int)get_in(x, 0, INT32_MAX);
    int64_t how = get_in(x, 0, 7);
    s->symmetric = how & 1;
    s->described = how >> 1 & 1;
    s->counted = how >> 2;
    s->same_axes = get_bool(x);
    for (int k = 0; k < (int)PR_LEN(s->axis); k++) {
        pr_axis_relation *a = &s->axis[k];
        a->shape = (pr_axis_shape)get_in(x, PR_AXIS_ANY, PR_AXIS_NONE);
        a->c = get_i64(x);
        a->lo = get_i64(x);
        a->hi = get_i64(x);
        a->boxed = get_bool(x);
        a->a_lo = get_i64(x);
        a->a_hi = get_i64(x);
        a->b_lo = get_i64(x);
        a->b_hi = get_i64(x);
        a->a_step = get_i64(x);
        a->mod = get_i64(x);
        a->m_lo = get_i64(x);
        a->m_hi = get_i64(x);
        a->m_not = get_bool(x);
    }
    s->sentence = get_text(x);
    s->pairs = get(x);
    s->why = get_text(x);
    return s;
}

static pr_race get_race(reader *x)
{
    pr_race r = { 0 };
    r.type = (pr_race_type)get_in(x, PR_RACE_WAW, PR_RACE_WAR);
    r.intra = get_bool(x);
    r.a = get_access(x);
    r.b = get_access(x);
    r.reason = get_text(x);
    r.confirmation = (pr_confirmation)get_in(x, PR_CONFIRMED, PR_CONFIRM_UNAVAILABLE);
    r.confirmation_why = get_text(x);
    r.not_replayed = (pr_refusal_kind)get_in(x, 0, PR_REFUSAL_COUNT - 1);
    for (int k = 0; k < 3; k++) r.grid[k] = get_i64(x);
    r.pair = (int)get_in(x, -1, INT32_MAX);
    r.config = (int)get_in(x, 0, INT32_MAX);
    r.set = get_set(x);
    return r;
}

static void get_lists(reader *x, pr_config_verdict *v)
{
    for (int n = get_count(x); n-- > 0 && !x->bad;) pr_vec_push(x->arena, &v->qualifiers, get_words(x));
    for (int n = get_count(x); n-- > 0 && !x->bad;) {
        pr_term t;
        const char *why;
        pr_str text = get_str(x);
        if (x->bad || !pr_term_parse(x->r->terms, text, &t, &why) || !pr_term_is_bool(x->r->terms, t)) x->bad = true;
        else pr_vec_push(x->arena, &v->conditions, t);
    }
    for (int i = 0; i < x->r->notes.n; i++) pr_vec_push(x->arena, &v->notes, x->r->notes.data[i]);
    for (int n = get_count(x); n-- > 0 && !x->bad;) pr_vec_push(x->arena, &v->notes, get_words(x));
    for (int n = get_count(x); n-- > 0 && !x->bad;) pr_vec_push(x->arena, &v->races, get_race(x));
    for (int n = get_count(x); n-- > 0 && !x->bad;) pr_vec_push(x->arena, &v->grid_fragile, get_race(x));
    for (int n = get_count(x); n-- > 0 && !x->bad;) {
        pr_refusal f = { 0 };
        f.kind = (pr_refusal_kind)get_in(x, 1, PR_REFUSAL_COUNT - 1);
        f.loc = get_loc(x);
        f.message = get_text(x);
        f.hint = get_text(x);
        pr_vec_push(x->arena, &v->refusals, f);
    }
    for (int n = get_count(x); n-- > 0 && !x->bad;) {
        pr_out_of_bounds o = { .access = get_access(x) };
        o.confirmed = get_bool(x);
        pr_vec_push(x->arena, &v->out_of_bounds, o);
    }
    for (int n = get_count(x); n-- > 0 && !x->bad;) {
        pr_z3_reason z = { .pair = (int)get_in(x, -1, INT32_MAX) };
        z.reason = get_words(x);
        int a = (int)get_in(x, -1, x->r->records.n - 1);
        if (a >= 0) z.loc = x->r->records.data[a].loc;
        pr_vec_push(x->arena, &v->z3_reasons, z);
    }
}

bool pr_recall_read(pr_arena *arena, const void *bytes, size_t n, const pr_records *r, pr_config_verdict *out)
{
    reader x = { .arena = arena, .p = bytes, .left = n, .r = r };
    pr_config_verdict v = *out;
    int64_t bucket[PR_BUCKETS];
    pr_verdict_status status = (pr_verdict_status)get_in(&x, PR_VERDICT_OK, PR_VERDICT_VACUOUS);
    pr_rung rung = (pr_rung)get_in(&x, PR_RUNG_NONE, PR_RUNG_T1_LAUNCH);
    for (int k = 0; k < PR_BUCKETS; k++) bucket[k] = get_in(&x, 0, INT32_MAX);
    v.withheld = (int)get_in(&x, 0, INT32_MAX);
    for (int k = 0; k < 3; k++) v.grid_axis[k] = get_i64(&x);
    v.idempotent = get_words(&x);
    v.deterministic = get_bool(&x);
    pr_counts *c = &v.counts;
    c->pretest = get_i64(&x);
    c->isl = get_i64(&x);
    c->enumerated = get_i64(&x);
    c->z3 = get_i64(&x);
    c->filtered = get_i64(&x);
    c->isl_ops = (uint64_t)get_i64(&x);
    c->z3_units = (uint64_t)get_i64(&x);
    c->queries = get_i64(&x);
    c->leaves = get_i64(&x);
    get_lists(&x, &v);
    if (x.bad || x.left || !pr_verdict_recall(&v, r, bucket, status, rung)) return false;
    *out = v;
    return true;
}
