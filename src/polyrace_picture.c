/* Footprints and grid maps; see polyrace_picture.h.
 *
 * Footprints come from the concrete evaluator, which shares no code with the records: the access of the witness with
 * all its lanes, and every execution of that operation by the same program. */
#include "polyrace_picture.h"
#include <stdlib.h>
#include "hb/explain.h"

enum { MAX_LANES = 1 << 21, MAX_BOXES = 1500, MAX_LEVELS = 3, MAX_RACES = 64 };

typedef struct span { pr_i128 lo, hi; } span;      /* elements, half open */

typedef struct touched {
    pr_arena *arena;
    const pr_interp_target *target; /* null: every execution of the operation */
    int op_id;
    const int *calls; int n_calls;
    pr_i128 origin;
    int elem;
    PR_VEC(span) spans;
    int64_t lanes, unknown, executions;
    bool too_many;
} touched;

static void take_lanes(void *user, const pr_interp_event *e)
{
    touched *t = user;
    if (e->op->id != t->op_id || e->n_calls != t->n_calls || t->too_many) return;
    for (int i = 0; i < e->n_calls; i++)
        if (e->calls[i] != t->calls[i]) return;
    t->executions++;
    for (int64_t lane = 0; lane < e->n_lanes; lane++) {
        pr_interp_lane_info info = pr_interp_lane(e, lane);
        if (info.active == PR_NO) continue;
        if (info.active == PR_MAYBE || !info.addr_known) {
            t->unknown++;
            continue;
        }
        if (++t->lanes > MAX_LANES) {
            t->too_many = true;
            return;
        }
        pr_i128 at = (pr_i128)info.addr - t->origin;
        span s = { pr_fdiv(at, t->elem), pr_fdiv(at + e->width - 1, t->elem) + 1 };
        span *last = t->spans.n ? &t->spans.data[t->spans.n - 1] : NULL;
        if (last && last->hi == s.lo) last->hi = s.hi;
        else pr_vec_push(t->arena, &t->spans, s);
    }
}

static int by_start(const void *a, const void *b)
{
    const span *x = a, *y = b;
    return x->lo < y->lo ? -1 : x->lo > y->lo ? 1 : x->hi < y->hi ? -1 : x->hi > y->hi;
}

static void normalise(touched *t)
{
    int kept = 0;
    if (t->spans.n) qsort(t->spans.data, (size_t)t->spans.n, sizeof *t->spans.data, by_start);
    for (int i = 0; i < t->spans.n; i++) {
        span s = t->spans.data[i];
        if (kept && t->spans.data[kept - 1].hi >= s.lo) {
            if (s.hi > t->spans.data[kept - 1].hi) t->spans.data[kept - 1].hi = s.hi;
        } else t->spans.data[kept++] = s;
    }
    t->spans.n = kept;
}

/* --- boxes: intervals repeated at constant distances ------------------------------------------------ */

typedef struct box { pr_i128 at, size; int levels; int64_t count[MAX_LEVELS]; pr_i128 step[MAX_LEVELS]; } box;

static bool alike(const box *a, const box *b)
{
    if (a->size != b->size || a->levels != b->levels) return false;
    for (int i = 0; i < a->levels; i++)
        if (a->count[i] != b->count[i] || a->step[i] != b->step[i]) return false;
    return true;
}

/* Joins neighbours that are alike and at one distance; one level more of repetition. */
static int fold(box *x, int n)
{
    int out = 0;
    for (int i = 0; i < n;) {
        int k = i + 1;
        while (k < n && alike(&x[i], &x[k]) && x[k].at - x[k - 1].at == x[i + 1].at - x[i].at) k++;
        if (k - i >= 2 && x[i].levels < MAX_LEVELS) {
            box b = x[i];
            b.count[b.levels] = k - i;
            b.step[b.levels++] = x[i + 1].at - x[i].at;
            x[out++] = b;
            i = k;
        } else x[out++] = x[i++];
    }
    return out;
}

static void spans_json(pr_buf *b, pr_arena *arena, const span *s, int n)
{
    pr_i128 elements = 0;
    box *x = PR_NEW_N(arena, box, n + 1);
    for (int i = 0; i < n; i++) {
        elements += s[i].hi - s[i].lo;
        x[i] = (box){ .at = s[i].lo, .size = s[i].hi - s[i].lo };
    }
    int m = n;
    for (int level = 0; level < MAX_LEVELS; level++) m = fold(x, m);
    pr_buf_puts(b, "\"elements\":");
    pr_buf_i128(b, elements);
    pr_buf_printf(b, ",\"intervals\":%d,\"boxes\":", n);
    if (m > MAX_BOXES) {
        pr_buf_puts(b, "null");
        return;
    }
    pr_buf_putc(b, '[');
    for (int i = 0; i < m; i++) {
        pr_buf_puts(b, i ? ",[" : "[");
        pr_buf_i128(b, x[i].at);
        pr_buf_putc(b, ',');
        pr_buf_i128(b, x[i].size);
        for (int k = 0; k < x[i].levels; k++) {
            pr_buf_printf(b, ",%lld,", (long long)x[i].count[k]);
            pr_buf_i128(b, x[i].step[k]);
        }
        pr_buf_putc(b, ']');
    }
    pr_buf_putc(b, ']');
}

static void text(pr_buf *b, const char *name, const char *s)
{
    pr_buf_printf(b, "\"%s\":", name);
    if (s) pr_buf_quote(b, pr_str_of(s), true);
    else pr_buf_puts(b, "null");
}

/* --- one race ----------------------------------------------------------------------------------- */

/* Fills *t with the access of the witness; a sentence when that cannot be. */
static const char *of_witness(pr_arena *own, const pr_interp_setup *setup, const pr_record *rec, const pr_witness_access *a, touched *t)
{
    pr_interp_target target = { .op_id = rec->site.op_id, .calls = rec->site.calls, .n_calls = rec->site.n_calls,
                                .iter = a->iteration, .n_iter = a->n_iterations, .lane = a->lane, .rank = a->rank };
    pr_probe p = pr_interp_probe_lanes(own, setup, a->program, &target, take_lanes, t);
    if (!p.available) return p.why && *p.why ? p.why : "the program cannot be executed";
    if (p.executed == PR_NO) return "the execution of the witness rests on values that only a run could know";
    if (t->too_many) return "the access has too many lanes";
    normalise(t);
    return t->spans.n ? NULL : "the addresses depend on values that only a run could know";
}

static void program_json(pr_buf *b, pr_arena *own, const pr_interp_setup *setup, const pr_witness_access *a, touched *t)
{
    pr_machine *m = pr_machine_new(own, setup);
    bool done = pr_machine_run(m, a->program, take_lanes, t) == PR_INTERP_DONE && !t->too_many && !t->unknown;
    normalise(t);
    if (!done || !t->spans.n) {
        pr_buf_puts(b, "null");
        return;
    }
    pr_buf_printf(b, "{\"executions\":%lld,", (long long)t->executions);
    spans_json(b, own, t->spans.data, t->spans.n);
    pr_buf_putc(b, '}');
}

static void tensor_json(pr_buf *b, const pr_tensor *t, pr_str name)
{
    pr_buf_puts(b, "\"tensor\":{\"name\":");
    pr_buf_quote(b, name, true);
    pr_buf_printf(b, ",\"element_bytes\":%d,\"shape\":[", t->elem_bytes);
    for (int i = 0; i < t->rank; i++) pr_buf_printf(b, "%s%lld", i ? "," : "", (long long)t->shape[i]);
    pr_buf_puts(b, "],\"strides\":[");
    for (int i = 0; i < t->rank; i++) pr_buf_printf(b, "%s%lld", i ? "," : "", (long long)t->stride[i]);
    pr_buf_puts(b, "],\"storage\":[");
    pr_buf_i128(b, pr_fdiv(t->storage_lo - t->ptr, t->elem_bytes));
    pr_buf_putc(b, ',');
    pr_buf_i128(b, pr_fdiv(t->storage_hi - t->ptr, t->elem_bytes));
    pr_buf_puts(b, "]}");
}

static void footprints(pr_buf *b, pr_job *j, const pr_race *race)
{
    const pr_records *R = j->records;
    const pr_witness_access *side[2] = { &race->a, &race->b };
    const pr_record *rec[2] = { &R->records.data[side[0]->record], &R->records.data[side[1]->record] };
    const pr_tensor *t = rec[0]->base >= 0 && j->launch && rec[0]->base < j->launch->n_args ? j->launch->args[rec[0]->base].tensor : NULL;
    pr_arena *own = pr_arena_new(0, pr_arena_oom(j->arena));
    pr_interp_setup setup;
    const char *why = !own ? "out of memory" : !t ? "the tensor is not known" : !pr_job_interp(own, j, false, &setup) ? "the grid is not known" : NULL;
    touched at[2] = { 0 }, whole[2] = { 0 };
    for (int k = 0; k < 2 && !why; k++) {
        memcpy(setup.grid, race->grid[0] ? race->grid : j->launch->grid, sizeof setup.grid);
        setup.max_work = (int64_t)1 << 24;
        at[k] = (touched){ .arena = own, .op_id = rec[k]->site.op_id, .calls = rec[k]->site.calls, .n_calls = rec[k]->site.n_calls,
                           .origin = t->ptr, .elem = t->elem_bytes > 0 ? t->elem_bytes : 1 };
        whole[k] = at[k];
        why = of_witness(own, &setup, rec[k], side[k], &at[k]);
    }
    if (why) {
        pr_buf_puts(b, "\"footprints\":null,");
        text(b, "footprints_why", why);
        if (own) pr_arena_free(own);
        return;
    }
    pr_buf_puts(b, "\"footprints\":{");
    tensor_json(b, t, R->args[rec[0]->base].name);
    for (int k = 0; k < 2; k++) {
        pr_buf_printf(b, ",\n\"%s\":{", k ? "second" : "first");
        spans_json(b, own, at[k].spans.data, at[k].spans.n);
        pr_buf_printf(b, ",\"unknown_lanes\":%lld,\"program\":", (long long)at[k].unknown);
        program_json(b, own, &setup, side[k], &whole[k]);
        pr_buf_putc(b, '}');
    }
    PR_VEC(span) both = { 0 };
    for (int i = 0, k = 0; i < at[0].spans.n && k < at[1].spans.n;) {
        const span *x = &at[0].spans.data[i], *y = &at[1].spans.data[k];
        span s = { x->lo > y->lo ? x->lo : y->lo, x->hi < y->hi ? x->hi : y->hi };
        if (s.lo < s.hi) pr_vec_push(own, &both, s);
        if (x->hi < y->hi) i++;
        else k++;
    }
    pr_buf_puts(b, ",\n\"both\":{");
    spans_json(b, own, both.data, both.n);
    pr_buf_puts(b, "}},\"footprints_why\":null");
    pr_arena_free(own);
}

static void map_json(pr_buf *b, const char *name, const pr_race_map *m)
{
    pr_buf_printf(b, ",\n\"%s\":", name);
    if (!m->cell) {
        pr_buf_puts(b, "null");
        return;
    }
    pr_buf_puts(b, "{\"axes\":[");
    for (int i = 0; i < m->n_axes; i++)
        pr_buf_printf(b, "%s{\"axis\":\"%s\",\"extent\":%lld,\"from\":%lld,\"size\":%lld,\"cells\":%lld}", i ? "," : "", m->axis[i],
                      (long long)m->extent[i], (long long)m->from[i], (long long)m->size[i], (long long)m->cells[i]);
    pr_buf_puts(b, "],\"rows\":[");
    int64_t width = m->cells[0], rows = 1;
    for (int i = 1; i < m->n_axes; i++) rows *= m->cells[i];
    for (int64_t row = 0; row < rows; row++) {
        pr_buf_puts(b, row ? ",\"" : "\"");
        for (int64_t x = 0; x < width; x++) pr_buf_putc(b, (char)('0' + m->cell[row * width + x]));
        pr_buf_putc(b, '"');
    }
    pr_buf_puts(b, "]}");
}

pr_status pr_pictures_json(pr_buf *b, pr_job *j, const pr_options *o, const pr_config_verdict *v, pr_error *err)
{
    int n = v->races.n + v->grid_fragile.n;
    pr_buf_puts(b, "\"pictures\":[");
    if (n > MAX_RACES) n = MAX_RACES;
    const pr_race **races = pr_arena_alloc(j->arena, sizeof *races * (size_t)(n + 1));
    pr_race_map(*maps)[2] = pr_arena_alloc(j->arena, sizeof *maps * (size_t)(n + 1));
    for (int i = 0; i < n; i++) races[i] = i < v->races.n ? &v->races.data[i] : &v->grid_fragile.data[i - v->races.n];
    if (n && j->launch && j->launch->grid_known) {
        pr_status s = pr_explain_maps(j->arena, j->records, j->launch, o, races, n, maps, err);
        if (s != PR_OK) return s;
    }
    for (int i = 0; i < n; i++) {
        pr_buf_printf(b, "%s\n{\"%s\":%d,\"pair\":%d,", i ? "," : "", i < v->races.n ? "race" : "grid_fragile", i < v->races.n ? i : i - v->races.n,
                      races[i]->pair);
        footprints(b, j, races[i]);
        map_json(b, "map", &maps[i][0]);
        map_json(b, "near", &maps[i][1]);
        pr_buf_putc(b, ',');
        text(b, "map_why", maps[i][0].cell ? NULL : maps[i][0].why ? maps[i][0].why : "the grid is not known");
        pr_buf_putc(b, '}');
    }
    pr_buf_putc(b, ']');
    return PR_OK;
}
