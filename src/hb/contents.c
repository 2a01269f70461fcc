/* What does a load return? A term over one copy of a record.
 *
 * A load is known by its own record: byte offset, mask and frames, over the iterations and lanes that the
 * arguments of its symbol name. With those put in, its value is entry offset/width of the tensor.
 *
 * Snapshot: the entry is a table of the launch's contents, if the tensor is an integer or bool tensor that
 * fills its storage, no access of the kernel may write to it, the load has the element's width, its addresses
 * are multiples of it, and the signed reading is exact. A read that happens (its frames and mask hold) outside
 * the table is an access outside its storage: that it stays inside is a conjunct of the record that uses the
 * value, checked at the launch by pr_bounds_check on the load's own record. Where the read does not happen
 * the value is not looked at (front/sem_mem.c selects `other`), so anything may stand for it.
 *
 * Without contents: a read at one fixed place of a tensor that nobody writes is one value for all programs;
 * other reads in an address are an unknown function of the index. Both can only prove. */
#include "hb/contents.h"
#include "term/table.h"
#include <assert.h>
#include <stdlib.h>

enum { MOST_NESTED = 40, OF_BYTES = INT32_MIN };

static bool may_write(const pr_record *r) { return r->kind != PR_RECORD_LOAD; }

static bool overlap(const pr_tensor *a, const pr_tensor *b)
{
    return a->storage_lo < b->storage_hi && b->storage_lo < a->storage_hi;
}

static bool may_be_written(const pr_records *R, const pr_launch *L, const pr_tensor *t)
{
    for (int i = 0; i < R->records.n; i++) {
        const pr_record *r = &R->records.data[i];
        if (!may_write(r)) continue;
        const pr_tensor *w = r->base >= 0 && r->base < L->n_args ? L->args[r->base].tensor : NULL;
        if (!w || overlap(w, t)) return true;
    }
    return false;
}

const char *pr_contents_why_not(const pr_records *R, const pr_launch *L, int arg, pr_refusal_kind *kind)
{
    if (kind) *kind = PR_REFUSAL_INDIRECT_ADDRESS;
    if (!L) return "no launch is given";
    if (arg < 0 || arg >= L->n_args || L->args[arg].kind != PR_ARG_TENSOR || !L->args[arg].tensor)
        return "it is not a tensor of the launch";
    const pr_tensor *t = L->args[arg].tensor;
    if (may_be_written(R, L, t)) return "written by the kernel";
    if (!t->has_values) {
        if (t->no_values && kind && strncmp(t->no_values, "too large", 9) == 0) *kind = PR_REFUSAL_SNAPSHOT_BOUND;
        if (t->no_values && kind && strcmp(t->no_values, "launch cap") == 0) *kind = PR_REFUSAL_SNAPSHOT_BOUND;
        return t->no_values ? t->no_values : "the launch does not give its contents";
    }
    if (!t->is_int && !t->is_bool) return "not an integer tensor";
    if (!t->contiguous) return "non-contiguous";
    if (t->numel < 1) return "empty";
    if (t->storage_lo != t->ptr || t->storage_hi != t->ptr + (pr_i128)t->numel * t->elem_bytes)
        return "a view of a larger allocation";
    for (int64_t k = 0; k < t->numel && t->is_unsigned; k++)
        if (t->values[k] < 0) return "an unsigned value without an exact signed reading";
    return NULL;
}

typedef struct reads { const pr_terms *T; bool *access; int n; } reads;

static void note_load(void *user, pr_term t)
{
    reads *x = user;
    if (pr_term_op_of(x->T, t) != PR_TERM_OP_APP) return;
    const pr_sym_info *s = pr_sym_get(x->T, pr_term_sym(x->T, t));
    if (s->kind == PR_SYM_LOADED && s->access >= 0 && s->access < x->n) x->access[s->access] = true;
}

static void visit_loads(reads *x, pr_term t) { pr_term_visit_in(x->T, &t, 1, PR_OCCURS_APP, note_load, x); }

bool pr_contents_readable(const pr_records *R, const pr_launch *L)
{
    reads x = { .T = R->terms };
    for (int i = 0; i < R->records.n; i++)
        if (R->records.data[i].access >= x.n) x.n = R->records.data[i].access + 1;
    if (!L || !x.n) return false;
    pr_temp hold;
    x.access = memset(pr_temp_new(pr_terms_arena(R->terms), &hold, (size_t)x.n), 0, (size_t)x.n);
    for (int i = 0; i < R->records.n; i++) {     /* loads whose values some address, mask, branch or bound mentions */
        const pr_record *r = &R->records.data[i];
        visit_loads(&x, r->offset);
        visit_loads(&x, r->mask);
        for (const pr_frame *f = r->frame; f; f = f->outer) {
            const pr_term own[] = { f->kind == PR_FRAME_COND ? f->cond : PR_TERM_NONE,
                                    f->kind == PR_FRAME_LOOP ? f->lower : PR_TERM_NONE,
                                    f->kind == PR_FRAME_LOOP ? f->upper : PR_TERM_NONE,
                                    f->kind == PR_FRAME_LOOP ? f->step : PR_TERM_NONE };
            for (size_t k = 0; k < PR_LEN(own); k++) visit_loads(&x, own[k]);
        }
    }
    for (int i = 0; i < R->fences.n; i++)
        for (const pr_frame *f = R->fences.data[i].frame; f; f = f->outer) {
            visit_loads(&x, f->kind == PR_FRAME_COND ? f->cond : f->lower);
            if (f->kind == PR_FRAME_LOOP) visit_loads(&x, f->upper);
        }
    bool any = false;
    for (int i = 0; i < R->records.n && !any; i++) {
        const pr_record *r = &R->records.data[i];
        any = r->kind == PR_RECORD_LOAD && !r->via_desc && x.access[r->access] && !pr_contents_why_not(R, L, r->base, NULL);
    }
    pr_temp_end(&hold);
    return any;
}

/* The one record of a load; null when its pointer has several bases or it is not understood. */
static const pr_record *load_record(const pr_encoding *e, int access)
{
    const pr_record *found = NULL;
    for (int i = 0; i < e->records->records.n; i++) {
        const pr_record *r = &e->records->records.data[i];
        if (r->access != access) continue;
        if (found || r->kind != PR_RECORD_LOAD || r->via_desc || r->refused.kind || r->base < 0) return NULL;
        found = r;
    }
    return found;
}

static bool is_free(void *user, const pr_terms *T, pr_term t)
{
    (void)user;
    if (pr_term_op_of(T, t) == PR_TERM_OP_APP) return true;
    return pr_term_op_of(T, t) == PR_TERM_OP_VAR && pr_var_get(T, pr_term_var(T, t))->role == PR_ROLE_FREE;
}

/* ---- the load's own terms at the arguments of its symbol ------------------------------------------ */

typedef struct place {
    const pr_record *load;
    const pr_frame *frame[64]; pr_term iter[64]; int n_frames; /* outermost first; iter of loops         */
    pr_subst choose;               /* iterations and lanes alone: choices by them are made before the loads in the
                                      arms that are not taken are looked at                     */
    pr_subst subst;
} place;

static pr_term in_place(place *p, pr_term t) { return pr_subst_apply(&p->subst, pr_subst_apply(&p->choose, t)); }

static bool place_of(pr_encoding *e, pr_side *s, pr_term app, place *p)
{
    pr_terms *T = e->terms;
    const pr_record *r = p->load;
    int loops = 0, n = 0;
    for (const pr_frame *f = r->frame; f; f = f->outer) n++;
    if (n > 64) return false;
    p->n_frames = n;
    for (const pr_frame *f = r->frame; f; f = f->outer) {
        p->frame[--n] = f;
        loops += f->kind == PR_FRAME_LOOP;
    }
    if (pr_term_arity(T, app) != loops + r->rank) return false;
    uint32_t top = 0;
    for (int i = 0; i < p->n_frames; i++)
        if (p->frame[i]->kind == PR_FRAME_LOOP && p->frame[i]->k.id > top) top = p->frame[i]->k.id;
    for (int d = 0; d < r->rank; d++)
        if (e->records->lane[d].id > top) top = e->records->lane[d].id;
    pr_term *map = PR_NEW_N(e->arena, pr_term, top + 1);
    int k = 0;
    for (int i = 0; i < p->n_frames; i++) {
        if (p->frame[i]->kind != PR_FRAME_LOOP) continue;
        p->iter[i] = pr_term_child(T, app, k++);
        map[p->frame[i]->k.id] = p->iter[i];
    }
    for (int d = 0; d < r->rank; d++)
        map[e->records->lane[d].id] = r->shape[d] > 1 ? pr_term_child(T, app, k + d) : PR_TERM_ZERO;
    p->choose = (pr_subst){ .T = T, .var_map = map, .n_var_map = top + 1 };
    p->subst = (pr_subst){ .T = T, .var_map = s->subst.var_map, .n_var_map = s->subst.n_var_map, .app = s->subst.app,
                           .user = s->subst.user };
    return true;
}

/* The read happens: its frames and its mask hold. What the record s shares with it holds anyway. */
static pr_term happens(pr_encoding *e, const pr_side *s, place *p)
{
    pr_terms *T = e->terms;
    pr_term all = PR_TERM_TRUE;
    int loop = 0;
    bool common = true;
    const pr_frame *own[64];
    int n = 0;
    for (const pr_frame *f = s->record->frame; f && n < 64; f = f->outer) n++;
    int at = n;
    for (const pr_frame *f = s->record->frame; f && at > 0; f = f->outer) own[--at] = f;
    for (int i = 0; i < p->n_frames; i++) {
        const pr_frame *f = p->frame[i];
        common = common && i < n && own[i] == f;
        if (f->kind == PR_FRAME_LOOP) {
            common = common && loop < s->n_loops && pr_term_is(s->iter[loop], p->iter[i]);
            loop++;
            if (common) continue;
            pr_term value = pr_add(T, in_place(p, f->lower),
                                   pr_mul(T, p->iter[i], in_place(p, f->step)));
            all = pr_and(T, all, pr_le(T, PR_TERM_ZERO, p->iter[i]));
            all = pr_and(T, all, pr_lt(T, value, in_place(p, f->upper)));
        } else if (!common) {
            all = pr_and(T, all, in_place(p, f->cond));
        }
    }
    return pr_and(T, all, in_place(p, p->load->mask));
}

/* ---- tables -------------------------------------------------------------------------------------- */

/* Every m-th element of an argument's contents, from r on; made once. */
static pr_tab table_of(pr_encoding *e, int arg, int64_t m, int64_t r)
{
    pr_terms *T = e->terms;
    for (int i = 0; i < e->tables.n; i++) {
        const pr_made_table *x = &e->tables.data[i];
        if (x->arg == arg && x->stride == m && x->first == r) return x->tab;
    }
    const pr_tensor *t = e->launch->args[arg].tensor;
    pr_str name = e->records->args[arg].name;
    pr_tab_info info = { .values = t->values, .n = t->numel };
    info.name = pr_arena_printf(pr_terms_arena(T), PR_STR_FMT, PR_STR_ARG(name));
    if (m > 1) {
        info.n = (t->numel - r + m - 1) / m;
        pr_i128 *v = PR_NEW_N(pr_terms_arena(T), pr_i128, info.n);
        for (int64_t i = 0; i < info.n; i++) v[i] = t->values[r + m * i];
        info.values = v;
        info.name = pr_arena_printf(pr_terms_arena(T), PR_STR_FMT "[%lld*i+%lld]", PR_STR_ARG(name), (long long)m, (long long)r);
    }
    pr_made_table made = { arg, m, r, pr_tab_new(T, info) };
    pr_vec_push(e->arena, &e->tables, made);
    return made.tab;
}

/* Entries lo..hi have one stride: value = *a * i + *b. */
static bool one_run(const pr_tab_info *x, int64_t lo, int64_t hi, pr_i128 *a, pr_i128 *b)
{
    *a = hi > lo ? x->values[lo + 1] - x->values[lo] : 0;
    for (int64_t i = lo + 1; i <= hi; i++)
        if (x->values[i] - x->values[i - 1] != *a) return false;
    pr_i128 part;
    return pr_mul_ok(*a, lo, &part) && pr_sub_ok(x->values[lo], part, b);
}

/* The entry at an index that is in range where it matters: a constant, one linear form, or a table whose
 * index is as simple as the stride of the index allows. */
static pr_term entry(pr_encoding *e, int arg, pr_term index)
{
    pr_terms *T = e->terms;
    const pr_tensor *t = e->launch->args[arg].tensor;
    pr_i128 m = 0, r = 0;
    int64_t stride = 1, first = 0;
    if (pr_term_op_of(T, index) == PR_TERM_OP_SUM) {
        for (int i = 0; i < pr_term_arity(T, index); i++) m = pr_gcd(m, pr_term_coef(T, index, i));
        r = m > 1 ? pr_fmod(pr_term_value(T, index), m) : 0;
        if (m > 1 && m < t->numel) {
            stride = (int64_t)m;
            first = (int64_t)r;
            index = pr_fdiv_t(T, pr_sub(T, index, pr_const(T, r)), pr_const(T, m));
            if (pr_term_none(index)) return index;
        }
    }
    pr_tab tab = table_of(e, arg, stride, first);
    const pr_tab_info *x = pr_tab_get(T, tab);
    pr_interval at = pr_range(e->box, index);
    int64_t lo = at.lo < 0 ? 0 : at.lo >= x->n ? x->n - 1 : (int64_t)at.lo;
    int64_t hi = at.hi < lo ? lo : at.hi >= x->n ? x->n - 1 : (int64_t)at.hi;
    pr_i128 a = 0, b = 0;
    if (one_run(x, lo, hi, &a, &b)) return pr_add(T, pr_scale(T, index, a), pr_const(T, b));
    return pr_table(T, tab, index);
}

/* ---- values -------------------------------------------------------------------------------------- */

static pr_term snapshot(pr_encoding *e, pr_side *s, place *p, const pr_sym_info *sym)
{
    pr_terms *T = e->terms;
    int arg = p->load->base;
    if (!e->snapshot || !e->snapshot[arg]) return PR_TERM_NONE;
    const pr_tensor *t = e->launch->args[arg].tensor;
    if (p->load->width != t->elem_bytes) return PR_TERM_NONE;
    if (sym->is_bool || sym->bits == 1 ? !t->is_bool : sym->bits != 8 * t->elem_bytes) return PR_TERM_NONE;
    pr_term offset = in_place(p, p->load->offset);
    if (pr_term_none(offset) || pr_term_any_in(T, offset, PR_OCCURS_APP | PR_OCCURS(PR_ROLE_FREE), is_free, NULL)) return PR_TERM_NONE;
    pr_residue q = pr_residue_of(e->box, offset);
    if (q.modulus % t->elem_bytes || q.residue % t->elem_bytes) return PR_TERM_NONE;
    pr_term index = pr_fdiv_t(T, offset, pr_const(T, t->elem_bytes));
    pr_term v = pr_term_none(index) ? index : entry(e, arg, index);
    if (pr_term_none(v)) return v;
    pr_table_read read = { .happens = happens(e, s, p) };
    read.in_range = pr_and(T, pr_le(T, PR_TERM_ZERO, index), pr_lt(T, index, pr_const(T, t->numel)));
    if (pr_term_none(read.happens) || pr_term_none(read.in_range)) return PR_TERM_NONE;
    pr_vec_push(e->arena, &s->reads, read);
    e->contents_read = s->reads_contents = true;
    return v;
}

/* One value for all programs: a read at a fixed place. */
static pr_term uniform(pr_encoding *e, int arg, int width, pr_i128 offset, const pr_sym_info *sym)
{
    pr_terms *T = e->terms;
    for (int i = 0; i < e->uniform_reads.n; i++) {
        const pr_uniform_read *u = &e->uniform_reads.data[i];
        if (u->arg == arg && u->width == width && u->offset == offset && u->bits == sym->bits) return u->value;
    }
    int bits = sym->is_bool || sym->bits == 1 ? 1 : sym->bits ? sym->bits : 64;
    pr_str name = e->records->args[arg].name;
    pr_var_info v = { .role = PR_ROLE_FREE, .index = (1 << 24) + (int)pr_vars_count(T), .copy = PR_COPY_SHARED,
                      .lo = bits == 1 ? 0 : pr_int_min(bits), .hi = bits == 1 ? 1 : pr_int_max(bits) };
    v.name = pr_arena_printf(e->arena, PR_STR_FMT ".at%lld", PR_STR_ARG(name), (long long)offset);
    pr_uniform_read made = { arg, width, sym->bits, offset, pr_var_term(T, pr_var_new(T, v)) };
    pr_vec_push(e->arena, &e->uniform_reads, made);
    return made.value;
}

static bool premised(const pr_encoding *e)
{
    return e->contents == PR_CONTENTS_NONDECREASING || e->contents == PR_CONTENTS_DISTINCT;
}

static pr_term unknown(pr_encoding *e, int arg, int width, pr_term offset, const pr_sym_info *sym)
{
    pr_terms *T = e->terms;
    int bits = sym->is_bool || sym->bits == 1 ? 1 : sym->bits ? sym->bits : 64;
    pr_residue q = pr_residue_of(e->box, offset);
    bool whole = q.modulus % width == 0 && q.residue % width == 0;
    if (!whole && premised(e)) return PR_TERM_NONE;
    if (whole) offset = pr_fdiv_t(T, offset, pr_const(T, width));
    int64_t key = whole ? -width : OF_BYTES; /* function of the element's number, or of the byte */
    for (int i = 0; i < e->tables.n; i++) {
        const pr_made_table *x = &e->tables.data[i];
        if (x->arg == arg && x->stride == key && x->first == bits) return pr_table(T, x->tab, offset);
    }
    pr_str name = e->records->args[arg].name;
    pr_tab_info info = { .lo = bits == 1 ? 0 : pr_int_min(bits), .hi = bits == 1 ? 1 : pr_int_max(bits),
                         .injective = e->contents == PR_CONTENTS_DISTINCT && bits > 1, /* truth values: too few for the
                                                                                           reads that do not happen */
                         .nondecreasing = e->contents == PR_CONTENTS_NONDECREASING };
    info.name = pr_arena_printf(pr_terms_arena(T), PR_STR_FMT, PR_STR_ARG(name));
    pr_made_table made = { arg, key, bits, pr_tab_new(T, info) };
    pr_vec_push(e->arena, &e->tables, made);
    return pr_table(T, made.tab, offset);
}

/* Is the load's value part of the address of the record, other than through a bound of a loop around it? */
static bool in_address(const pr_side *s, int access)
{
    for (int i = 0; i < s->n_address_loads; i++)
        if (s->address_loads[i] == access) return true;
    return false;
}

static pr_term content_free(pr_encoding *e, pr_side *s, place *p, const pr_sym_info *sym)
{
    pr_terms *T = e->terms;
    int arg = p->load->base;
    pr_i128 at;
    if (e->written[arg] || sym->from_atomic) return PR_TERM_NONE;
    pr_term offset = in_place(p, p->load->offset);
    if (pr_term_none(offset) || pr_term_any_in(T, offset, PR_OCCURS_APP | PR_OCCURS(PR_ROLE_FREE), is_free, NULL)) return PR_TERM_NONE;
    if (pr_term_const(T, offset, &at)) return uniform(e, arg, p->load->width, at, sym);
    if (!premised(e) && s->nested <= 1 && !in_address(s, sym->access)) return PR_TERM_NONE;
    return unknown(e, arg, p->load->width, offset, sym);
}

pr_term pr_contents_value(pr_encoding *e, pr_side *s, pr_term app)
{
    pr_terms *T = e->terms;
    const pr_sym_info sym = *pr_sym_get(T, pr_term_sym(T, app));
    place p = { .load = load_record(e, sym.access) };
    if (!p.load || s->nested >= MOST_NESTED || !place_of(e, s, app, &p)) return PR_TERM_NONE;
    s->nested++;
    pr_term v = e->contents == PR_CONTENTS_SNAPSHOT ? snapshot(e, s, &p, &sym) : PR_TERM_NONE;
    if (pr_term_none(v)) v = content_free(e, s, &p, &sym);
    s->nested--;
    if (pr_term_none(v)) return v;
    e->table_load[p.load->id] = true;
    return sym.is_bool ? pr_ne(T, v, PR_TERM_ZERO) : v;
}

void pr_contents_premises(pr_encoding *e, pr_side *s, void (*activate)(pr_encoding *, pr_side *, pr_term))
{
    pr_terms *T = e->terms;
    for (int i = 0; i < s->reads.n; i++) {
        pr_term_vec parts = { 0 };
        pr_term rest = PR_TERM_TRUE;
        pr_conjuncts(T, s->reads.data[i].happens, &parts, e->arena);
        for (int j = 0; j < parts.n; j++) {
            pr_term t = pr_encode_simplify(e, parts.data[j]);
            bool holds = pr_term_is(t, PR_TERM_TRUE);
            for (int k = 0; k < s->active.n && !holds; k++) holds = pr_term_is(s->active.data[k], t);
            if (!holds) rest = pr_and(T, rest, t);
        }
        activate(e, s, pr_implies(T, rest, s->reads.data[i].in_range));
    }
    s->reads.n = 0;
}

/* ---- words --------------------------------------------------------------------------------------- */

const char *pr_contents_explain(const pr_encoding *e, pr_sym sym, pr_refusal_kind *kind)
{
    const pr_sym_info *s = pr_sym_get(e->terms, sym);
    const char *what = s->reason ? s->reason : "a value that is not modelled";
    *kind = s->refusal ? (pr_refusal_kind)s->refusal : s->from_memory ? PR_REFUSAL_INDIRECT_ADDRESS : PR_REFUSAL_OTHER;
    const pr_record *r = s->kind == PR_SYM_LOADED && e->launch ? load_record(e, s->access) : NULL;
    if (!r) return pr_arena_printf(e->arena, "the address depends on %s", what);
    pr_refusal_kind other;
    const char *why = pr_contents_why_not(e->records, e->launch, r->base, &other);
    if (!why) why = "the load does not read whole elements, or its own address is not known";
    else if (*kind == PR_REFUSAL_INDIRECT_ADDRESS) *kind = other;
    return pr_arena_printf(e->arena, "the address depends on %s (contents of '" PR_STR_FMT "' are not used: %s)", what,
                           PR_STR_ARG(e->records->args[r->base].name), why);
}

const char *pr_contents_assumed(const pr_encoding *e)
{
    pr_buf b;
    pr_buf_init(&b, e->arena);
    for (int arg = 0; arg < e->records->n_args; arg++) {
        bool used = false;
        for (int i = 0; i < e->tables.n; i++)
            used = used || (e->tables.data[i].arg == arg && e->tables.data[i].stride < 0);
        if (used) pr_buf_printf(&b, "%s" PR_STR_FMT, b.n ? ", " : "", PR_STR_ARG(e->records->args[arg].name));
    }
    return b.n ? b.data : NULL;
}
