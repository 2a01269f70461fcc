/* Do the records touch the bytes that the kernel touches? For every launch given, the records are
 * enumerated point by point (program, iterations, lanes) and compared with the concrete evaluator, which
 * shares no code with the lowering. What neither side knows (loaded values) is skipped and counted.
 *
 * usage: test_access_points (LAUNCH.json | DIRECTORY)...   of a directory: the *.small.json files.
 * Prints one line a mismatch. */
#include <dirent.h>
#include <stdlib.h>
#include "check.h"
#include "front/access.h"
#include "front/interp.h"
#include "front/launch.h"

#define PIDS 24
#define POINTS 4000000

typedef struct point { int op_id, n_calls, lane; uint64_t addr; } point;
typedef PR_VEC(point) point_vec;
typedef struct side { pr_arena *arena; point_vec points; char *unknown; } side;
typedef struct run {
    pr_arena *arena;
    const pr_records *records;
    const pr_launch *launch;
    pr_i128 *value; bool *known;
    pr_env env;
    side mine, theirs;
    long work;
} run;

static void set_var(run *r, pr_var v, pr_i128 x)
{
    if (!v.id) return;
    r->value[v.id] = x;
    r->known[v.id] = true;
}

/* Does an obligation fail here (the machine value wraps)? Then the record says nothing. */
static bool wraps(run *r, const pr_record *x, pr_term held)
{
    pr_i128 v;
    if (pr_eval(r->records->terms, held, &r->env, &v) && v) return false;
    r->mine.unknown[x->site.op_id] = 1;
    return true;
}

static void lanes_of(run *r, const pr_record *x)
{
    pr_terms *T = r->records->terms;
    int64_t n = 1;
    for (int d = 0; d < x->rank; d++) n *= x->shape[d];
    for (int64_t l = 0; l < n; l++) {
        if (++r->work > POINTS) { r->mine.unknown[x->site.op_id] = 1; return; }
        int64_t rest = l;
        for (int d = x->rank - 1; d >= 0; d--) {
            set_var(r, r->records->lane[d], rest % x->shape[d]);
            rest /= x->shape[d];
        }
        pr_i128 active, offset;
        if (wraps(r, x, x->mask_held)) return;
        if (!pr_eval(T, x->mask, &r->env, &active)) { r->mine.unknown[x->site.op_id] = 1; return; }
        if (!active) continue;
        if (wraps(r, x, x->offset_held)) return;
        if (x->refused.kind || !pr_eval(T, x->offset, &r->env, &offset)) { r->mine.unknown[x->site.op_id] = 1; return; }
        const pr_arg *a = &r->launch->args[x->base];
        point p = { x->site.op_id, x->site.n_calls, (int)l, (uint64_t)(a->tensor->ptr + offset) };
        pr_vec_push(r->arena, &r->mine.points, p);
    }
}

static void frames_of(run *r, const pr_record *x, int depth)
{
    pr_terms *T = r->records->terms;
    const pr_frame *f = x->frame;
    while (f && f->depth > depth) f = f->outer;
    if (!x->frame || depth > x->frame->depth) { lanes_of(r, x); return; }
    pr_i128 c, lo, hi, st;
    if (wraps(r, x, f->kind == PR_FRAME_COND ? f->held : f->bounds_held)) return;
    if (f->kind == PR_FRAME_COND) {
        if (!pr_eval(T, f->cond, &r->env, &c)) r->mine.unknown[x->site.op_id] = 1;
        else if (c) frames_of(r, x, depth + 1);
        return;
    }
    if (!pr_eval(T, f->lower, &r->env, &lo) || !pr_eval(T, f->upper, &r->env, &hi) ||
        !pr_eval(T, f->step, &r->env, &st) || st <= 0) {
        r->mine.unknown[x->site.op_id] = 1;
        return;
    }
    if (lo < hi && wraps(r, x, f->increment_held)) return;
    for (pr_i128 k = 0; lo + k * st < hi && r->work < POINTS; k++) {
        set_var(r, f->k, k);
        frames_of(r, x, depth + 1);
    }
}

static void on_event(void *user, const pr_interp_event *e)
{
    run *r = user;
    if (e->reached == PR_MAYBE) { r->theirs.unknown[e->op->id] = 1; return; }
    for (int64_t l = 0; l < e->n_lanes; l++) {
        pr_interp_lane_info i = pr_interp_lane(e, l);
        if (i.active == PR_NO) continue;
        if (i.active == PR_MAYBE || !i.addr_known) { r->theirs.unknown[e->op->id] = 1; return; }
        point p = { e->op->id, e->n_calls, (int)l, i.addr };
        pr_vec_push(r->arena, &r->theirs.points, p);
    }
}

static int compare(const void *a, const void *b)
{
    const point *x = a, *y = b;
    if (x->op_id != y->op_id) return x->op_id < y->op_id ? -1 : 1;
    if (x->lane != y->lane) return x->lane < y->lane ? -1 : 1;
    return x->addr < y->addr ? -1 : x->addr > y->addr;
}

static void known_only(point_vec *v, const char *a, const char *b)
{
    int n = 0;
    for (int i = 0; i < v->n; i++)
        if (!a[v->data[i].op_id] && !b[v->data[i].op_id]) v->data[n++] = v->data[i];
    v->n = n;
    if (n) qsort(v->data, (size_t)n, sizeof *v->data, compare);
}

static const char *read_file(pr_arena *arena, const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    if (!f) return NULL;
    fseek(f, 0, SEEK_END);
    *n = (size_t)ftell(f);
    rewind(f);
    char *s = pr_arena_alloc(arena, *n + 1);
    size_t got = fread(s, 1, *n, f);
    fclose(f);
    return got == *n ? s : NULL;
}

static int n_points, n_unknown, n_kernels;

static void check_pid(run *r, const char *name, pr_machine *m, const int64_t pid[3])
{
    const pr_records *rs = r->records;
    r->mine.points.n = r->theirs.points.n = 0;
    r->work = 0;
    for (int a = 0; a < 3; a++) {
        set_var(r, rs->pid[a], pid[a]);
        set_var(r, rs->grid[a], r->launch->grid[a]);
    }
    for (int i = 0; i < rs->n_args; i++)
        if (rs->args[i].is_int) set_var(r, rs->args[i].param, r->launch->args[i].value);
    for (int i = 0; i < rs->records.n; i++) frames_of(r, &rs->records.data[i], 1);
    if (pr_machine_run(m, pid, on_event, r) != PR_INTERP_DONE || pr_machine_ub(m)) return;
    known_only(&r->mine.points, r->mine.unknown, r->theirs.unknown);
    known_only(&r->theirs.points, r->mine.unknown, r->theirs.unknown);
    n_points += r->mine.points.n;
    const point_vec *a = &r->mine.points, *b = &r->theirs.points;
    CHECK(a->n == b->n);
    for (int i = 0; i < a->n && i < b->n; i++)
        if (compare(&a->data[i], &b->data[i])) {
            fprintf(stderr, "%s: program %d: record op %d lane %d byte %llu, evaluator op %d lane %d byte %llu\n", name,
                    (int)pid[0], a->data[i].op_id, a->data[i].lane, (unsigned long long)a->data[i].addr,
                    b->data[i].op_id, b->data[i].lane, (unsigned long long)b->data[i].addr);
            CHECK(false);
            return;
        }
    if (a->n != b->n) fprintf(stderr, "%s: program %d: %d points, evaluator has %d\n", name, (int)pid[0], a->n, b->n);
}

static void check_launch(const char *path)
{
    pr_arena *arena = pr_arena_new(0, NULL);
    size_t n, tn;
    pr_error e = { 0 };
    const char *json = read_file(arena, path, &n);
    char *dir = pr_arena_strndup(arena, path, strlen(path)), *slash = strrchr(dir, '/');
    if (slash) *slash = 0;
    pr_launch_doc *doc = json ? pr_launch_doc_parse(arena, json, n, path, slash ? dir : "", false, &e) : NULL;
    pr_launch_text text = { 0 };
    pr_launch_limits limits;
    pr_launch_limits_default(&limits);
    pr_launch launch = { 0 };
    pr_refusal_vec refusals = { 0 };
    const char *why = NULL, *source = NULL;
    pr_ir *ir = NULL;
    if (!doc || pr_launch_doc_check(doc, 0, &e) != PR_OK) goto out;
    pr_launch_doc_text(arena, doc, 0, 0, &text);
    if (text.kind == PR_LAUNCH_TEXT_FILE) source = read_file(arena, text.path, &tn);
    if (text.kind == PR_LAUNCH_TEXT_INLINE) source = text.text.s, tn = text.text.n;
    if (!source || text.ttgir || !(ir = pr_ir_parse(arena, source, tn, path, NULL, &e))) goto out;
    pr_op *kernel = pr_ir_kernel(ir, pr_launch_doc_kernel(doc, 0), &why);
    if (!kernel || pr_launch_bind(arena, doc, 0, 0, ir, kernel, &limits, NULL, &launch, &refusals, &e) != PR_OK) goto out;
    pr_lower_options o;
    pr_lower_options_default(&o);
    const char *fault = getenv("PR_FAULT");
    o.fault = fault ? atoi(fault) : 0;
    pr_desc_binding *desc = PR_NEW_N(arena, pr_desc_binding, launch.n_args + 1);
    pr_interp_arg *args = PR_NEW_N(arena, pr_interp_arg, launch.n_args + 1);
    for (int i = 0; i < launch.n_args; i++) {
        const pr_arg *a = &launch.args[i];
        if (a->kind == PR_ARG_INT) args[i] = (pr_interp_arg){ .kind = PR_INTERP_ARG_INT, .value = a->value };
        if (a->kind == PR_ARG_TENSOR)
            args[i] = (pr_interp_arg){ .kind = PR_INTERP_ARG_POINTER, .value = a->tensor->ptr };
        if (a->kind != PR_ARG_DESCRIPTOR) continue;
        args[i] = (pr_interp_arg){ .kind = PR_INTERP_ARG_DESC, .value = a->tensor->ptr, .rank = a->desc_rank };
        desc[o.n_desc] = (pr_desc_binding){ .arg = i, .rank = a->desc_rank };
        for (int d = 0; d < a->desc_rank; d++) {
            args[i].shape[d] = desc[o.n_desc].shape[d] = a->desc_shape[d];
            args[i].stride[d] = desc[o.n_desc].stride[d] = a->desc_stride[d];
        }
        o.n_desc++;
    }
    o.desc = desc;
    pr_records rs;
    pr_terms *T = pr_terms_new(arena);
    CHECK(pr_lower_kernel(arena, T, ir, kernel, &o, &rs, &e) == PR_OK);
    pr_interp_setup setup = { .ir = ir, .func = kernel, .args = args, .n_args = launch.n_args, .max_work = 1 << 24 };
    for (int a = 0; a < 3; a++) setup.grid[a] = launch.grid[a];
    pr_machine *m = pr_machine_new(arena, &setup);
    run r = { .arena = arena, .records = &rs, .launch = &launch };
    r.value = PR_NEW_N(arena, pr_i128, pr_vars_count(T));
    r.known = PR_NEW_N(arena, bool, pr_vars_count(T));
    r.env = (pr_env){ r.value, r.known, pr_vars_count(T) };
    r.mine.unknown = PR_NEW_N(arena, char, ir->n_ops + 1);
    r.theirs.unknown = PR_NEW_N(arena, char, ir->n_ops + 1);
    int64_t count = launch.grid[0] * launch.grid[1] * launch.grid[2];
    for (int64_t p = 0; p < count && p < PIDS && launch.grid_known && rs.refusals.n == 0; p++) {
        int64_t id = count > PIDS ? p * (count / PIDS) : p;
        int64_t pid[3] = { id % launch.grid[0], id / launch.grid[0] % launch.grid[1],
                           id / (launch.grid[0] * launch.grid[1]) };
        check_pid(&r, path, m, pid);
    }
    for (int i = 0; i < rs.records.n; i++) n_unknown += r.mine.unknown[rs.records.data[i].site.op_id];
    n_kernels++;
out:
    pr_launch_doc_free(doc);
    pr_arena_free(arena);
}

static int by_name(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static bool check_directory(const char *path)
{
    DIR *d = opendir(path);
    if (!d) return false;
    pr_arena *arena = pr_arena_new(0, NULL);
    PR_VEC(char *) names = { 0 };
    for (struct dirent *e; (e = readdir(d));) {
        size_t n = strlen(e->d_name), m = strlen(".small.json");
        if (n <= m || strcmp(e->d_name + n - m, ".small.json")) continue;
        char *name = pr_arena_printf(arena, "%s/%s", path, e->d_name);
        pr_vec_push(arena, &names, name);
    }
    closedir(d);
    if (names.n) qsort(names.data, (size_t)names.n, sizeof *names.data, by_name);
    for (int i = 0; i < names.n; i++) check_launch(names.data[i]);
    pr_arena_free(arena);
    return true;
}

int main(int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (!check_directory(argv[i])) check_launch(argv[i]);
    printf("%d launches, %d points, %d records skipped\n", n_kernels, n_points, n_unknown);
    CHECK(argc == 1 || n_kernels > 0);
    return check_done();
}
