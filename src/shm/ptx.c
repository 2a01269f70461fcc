/* `--check-membar --ptx`: barriers and fences from the PTX of the same compile; see ptx.h.
 *
 * PTX is read as basic blocks of instructions, each with the source location of the .loc before it. An instruction that touches shared
 * memory belongs to the operations of the text with its location and of its sort; one that belongs to none refuses. An operation has a barrier before
 * it when at every place where it stands in PTX an unpredicated one comes first, in the same block and with nothing between that belongs to an
 * operation; after it likewise. Operations of one location and sort that stand there as often as in the text, inside and outside loops alike and
 * not in branches, are told apart by their order; of others no one instruction is known to be the first or last of its operation. An operation
 * without a location has its instructions under that of another one: refused. One whose location is nowhere in PTX (a wait, an mbarrier operation)
 * is told from all others of its sort by order alone. */
#include "shm/ptx.h"
#include <string.h>
#include "front/ops.h"

enum { LOAD = 1, STORE = 2, COPY = 4, ATOMIC = 8, TMA_LOAD = 16, TMA_STORE = 32, MBARRIER = 64, WGMMA = 128, TENSOR = 256,
       COPY_WAIT = 512, STORE_WAIT = 1024, WGMMA_WAIT = 2048, DATA = LOAD | STORE | COPY | ATOMIC | TMA_LOAD | TMA_STORE | WGMMA | TENSOR };
enum { MOST_LABELS = 1 << 20 };
enum { BARRIER = -1, FENCE = -2, EDGE = -3 };        /* EDGE: a block ends or begins                     */

typedef struct place { int sort, file, line, col, at; bool taken, repeats; int label; } place;   /* label: EDGE, of the block, or where a branch goes (negative) */
typedef struct files { int number[64]; pr_str name[64]; int n; } files;

typedef struct reader {
    pr_shm_prog *p;
    PR_VEC(place) places;
    files files;
    bool failed;
} reader;

static void refuse(reader *r, int line, const char *what)
{
    if (r->failed) return;
    r->failed = true;
    pr_shm_refuse(r->p, &r->p->refusals, PR_REFUSAL_OTHER, r->p->func, line ? pr_arena_printf(r->p->arena, "PTX line %d: %s", line, what) : pr_arena_printf(r->p->arena, "PTX: %s", what));
}

static bool has(pr_str s, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= s.n; i++)
        if (!memcmp(s.s + i, part, n)) return true;
    return false;
}

static pr_str trimmed(pr_str s)
{
    for (size_t i = 0; i + 1 < s.n; i++)
        if (s.s[i] == '/' && s.s[i + 1] == '/') s.n = i;
    while (s.n && (s.s[0] == ' ' || s.s[0] == '\t')) s.s++, s.n--;
    while (s.n && strchr(" \t\r", s.s[s.n - 1])) s.n--;
    return s;
}

static int number(pr_str *s)
{
    int v = -1;
    while (s->n && (s->s[0] == ' ' || s->s[0] == '\t')) s->s++, s->n--;
    for (; s->n && s->s[0] >= '0' && s->s[0] <= '9' && v < 1 << 24; s->s++, s->n--) v = (v < 0 ? 0 : v) * 10 + (s->s[0] - '0');
    return v;
}

/* The sort of an instruction without its predicate: 0 none of these. */
static int sort_of(reader *r, pr_str s, bool predicated, int line)
{
    if (pr_str_starts(s, "bar.") || pr_str_starts(s, "barrier.")) {
        pr_str rest = s;
        if (pr_str_starts(s, "bar.warp.sync")) return 0;
        if (pr_str_starts(s, "barrier.cluster")) return refuse(r, line, "a cluster barrier"), 0;
        if (!pr_str_starts(s, "bar.sync") && !pr_str_starts(s, "barrier.sync")) return refuse(r, line, "a barrier that is no bar.sync"), 0;
        while (rest.n && rest.s[0] != ' ' && rest.s[0] != '\t') rest.s++, rest.n--;
        int id = number(&rest);
        if (id != 0) return refuse(r, line, "a barrier with another number than 0"), 0;
        while (rest.n && (rest.s[0] == ',' || rest.s[0] == ' ')) rest.s++, rest.n--;
        if (rest.n && rest.s[0] != ';' && number(&rest) != r->p->num_warps * r->p->threads_per_warp)
            return refuse(r, line, "a barrier of other threads than those of the program"), 0;
        return predicated ? 0 : BARRIER;
    }
    if (pr_str_starts(s, "fence.proxy.async.global") || pr_str_starts(s, "fence.proxy.async::")) return 0;   /* of other memory, or of one direction */
    if (pr_str_starts(s, "fence.proxy.async")) return predicated ? 0 : FENCE;
    if (pr_str_starts(s, "ldmatrix.") || pr_str_starts(s, "ld.shared") || pr_str_starts(s, "ld.volatile.shared")) return LOAD;
    if (pr_str_starts(s, "stmatrix.") || pr_str_starts(s, "st.shared") || pr_str_starts(s, "st.volatile.shared")) return STORE;
    if (pr_str_starts(s, "red.shared") || pr_str_starts(s, "atom.shared")) return ATOMIC;
    if (pr_str_starts(s, "tensormap.")) return STORE;
    if (pr_str_starts(s, "cp.async.wait_")) return COPY_WAIT;
    if (pr_str_starts(s, "cp.async.bulk.wait_group")) return STORE_WAIT;
    if (pr_str_starts(s, "cp.async.bulk.commit_group") || pr_str_starts(s, "cp.async.commit_group")) return 0;
    if (pr_str_starts(s, "cp.async.mbarrier") || pr_str_starts(s, "mbarrier.")) return MBARRIER;
    if (pr_str_starts(s, "cp.async.bulk") || pr_str_starts(s, "cp.reduce.async.bulk")) {
        if (has(s, "cluster.global") || has(s, "shared::cta.global")) return TMA_LOAD;
        if (has(s, ".global.shared::cta")) return TMA_STORE;
        if (has(s, ".prefetch")) return 0;
        return refuse(r, line, "a bulk copy of another kind"), 0;
    }
    if (pr_str_starts(s, "cp.async.c")) return COPY;
    if (pr_str_starts(s, "wgmma.mma_async")) return WGMMA;
    if (pr_str_starts(s, "wgmma.wait_group")) return WGMMA_WAIT;
    if (pr_str_starts(s, "tcgen05.mma") || pr_str_starts(s, "tcgen05.cp") || pr_str_starts(s, "tcgen05.commit")) return TENSOR;
    bool ordered = pr_str_starts(s, "ld.relaxed") || pr_str_starts(s, "ld.acquire") || pr_str_starts(s, "st.relaxed") || pr_str_starts(s, "st.release");
    if (ordered && has(s, "shared")) return refuse(r, line, "an access to shared memory of another kind"), 0;
    if (pr_str_starts(s, "ld.global") || pr_str_starts(s, "ld.param") || pr_str_starts(s, "st.global") || pr_str_starts(s, "st.param") || pr_str_starts(s, "ld.const")
        || pr_str_starts(s, "ld.local") || pr_str_starts(s, "st.local") || (ordered && has(s, ".global")) || pr_str_starts(s, "ld.volatile.global")
        || pr_str_starts(s, "st.volatile.global")) return 0;
    if (pr_str_starts(s, "ld.") || pr_str_starts(s, "st.")) return refuse(r, line, "an access whose memory is not named"), 0;
    if ((pr_str_starts(s, "atom.") || pr_str_starts(s, "red.")) && !has(s, ".global")) return refuse(r, line, "an atomic operation whose memory is not named"), 0;
    if (pr_str_starts(s, "call") || pr_str_starts(s, "brx")) return refuse(r, line, "a call or an indirect branch"), 0;
    if (!pr_str_starts(s, "mov.") && !pr_str_starts(s, "cvta.") && !pr_str_starts(s, ".") && (has(s, ".shared") || has(s, "multimem")))
        return refuse(r, line, "an instruction on shared memory outside the vocabulary"), 0;
    return 0;
}

static void add(reader *r, int sort, const int *loc, int at)
{
    if (sort) pr_vec_push(r->p->arena, &r->places, ((place){ .sort = sort, .file = loc[0], .line = loc[1], .col = loc[2], .at = at }));
}

/* The number in "$L__BB0_12", 1 and up. */
static int label_of(pr_str s)
{
    size_t i = 0;
    while (i + 6 <= s.n && memcmp(s.s + i, "$L__BB", 6)) i++;
    while (i < s.n && s.s[i] != '_') i++;
    while (i < s.n && (s.s[i] < '0' || s.s[i] > '9') && s.s[i] != ' ') i++;
    for (; i < s.n && s.s[i] != '_'; i++) { }
    pr_str rest = { s.s + i + (i < s.n), s.n > i ? s.n - i - 1 : 0 };
    int n = number(&rest);
    return n < 0 ? 0 : n + 1;
}

/* The label of Triton's loops around mbarrier.try_wait: they end in front of what follows. */
#define WAIT_LOOP "waitLoop:"

static void statement(reader *r, pr_str s, const int *loc, int at)
{
    bool predicated = false;
    s = trimmed(s);
    while (s.n && (s.s[0] == '{' || s.s[0] == '}' || s.s[0] == ' ' || s.s[0] == '\t')) s.s++, s.n--;
    if (s.n && s.s[0] == '@') {
        predicated = true;
        while (s.n && s.s[0] != ' ' && s.s[0] != '\t') s.s++, s.n--;
        s = trimmed(s);
    }
    if (!s.n) return;
    if ((pr_str_starts(s, "bra") && !has(s, " waitLoop")) || pr_str_starts(s, "ret") || pr_str_starts(s, "exit")) {
        add(r, EDGE, loc, at);
        if (has(s, "$L__BB")) r->places.data[r->places.n - 1].label = -label_of(s);
    } else add(r, sort_of(r, s, predicated, at), loc, at);
}

static void read_lines(reader *r, const char *text, size_t length)
{
    int at = 0, loc[3] = { 0 }, bodies = 0;
    for (size_t i = 0, end; i < length; i = end + 1) {
        for (end = i; end < length && text[end] != '\n';) end++;
        pr_str s = trimmed((pr_str){ text + i, end - i });
        at++;
        if (!s.n) continue;
        if (pr_str_starts(s, ".loc")) {
            pr_str rest = { s.s + 4, s.n - 4 };
            for (int k = 0; k < 3; k++) loc[k] = number(&rest);
        } else if (pr_str_starts(s, ".file")) {
            pr_str rest = { s.s + 5, s.n - 5 };
            int n = number(&rest);
            size_t from = 0, to = rest.n;
            while (from < rest.n && rest.s[from] != '"') from++;
            while (to > from && rest.s[to - 1] != '"') to--;
            if (r->files.n < 64 && to > from + 1) {
                r->files.number[r->files.n] = n;
                r->files.name[r->files.n++] = (pr_str){ rest.s + from + 1, to - from - 2 };
            }
        } else if (pr_str_starts(s, "$L__BB")) {
            add(r, EDGE, loc, at);
            r->places.data[r->places.n - 1].label = label_of(s);
        } else if (has(s, ".entry ") || (pr_str_starts(s, ".func") && !has(s, ";"))) {
            if (++bodies > 1) refuse(r, at, "a second function");
            add(r, EDGE, loc, at);
        } else if (s.s[s.n - 1] == ':' && !pr_str_starts(s, "$L__tmp") && !pr_str_starts(s, "$L__func") && !pr_str_is(s, WAIT_LOOP)) {
            add(r, EDGE, loc, at);
        } else {
            while (s.n && !r->failed) {              /* several on a line                                 */
                size_t n = 0;
                while (n < s.n && s.s[n] != ';') n++;
                statement(r, (pr_str){ s.s, n }, loc, at);
                n += n < s.n;
                s = (pr_str){ s.s + n, s.n - n };
            }
        }
    }
    add(r, EDGE, loc, at);
    if (bodies != 1) refuse(r, at, "no kernel");
}

/* What instructions an operation of the text becomes; 0: none that touch shared memory. */
static int sorts_of(const pr_op *op)
{
    switch (op->opcode) {
    case PR_OP_TTG_LOCAL_LOAD: case PR_OP_TTG_LOCAL_GATHER: case PR_OP_TTNG_CLC_LOAD_RESULT: return LOAD;
    case PR_OP_TTG_LOCAL_ALLOC: return op->n_operands ? STORE : 0;
    case PR_OP_TTG_LOCAL_STORE: case PR_OP_TTG_LOCAL_SCATTER: return STORE;
    case PR_OP_TTG_LOCAL_ATOMIC_SCATTER_RMW: return ATOMIC;
    case PR_OP_TTG_ASYNC_COPY_GLOBAL_TO_LOCAL: return COPY | STORE;
    case PR_OP_TTG_ASYNC_WAIT: return COPY_WAIT;
    case PR_OP_TTNG_WARP_GROUP_DOT: return WGMMA;
    case PR_OP_TTNG_WARP_GROUP_DOT_WAIT: return WGMMA_WAIT;
    case PR_OP_TTNG_ASYNC_TMA_COPY_GLOBAL_TO_LOCAL: case PR_OP_TTNG_ASYNC_TMA_GATHER: return TMA_LOAD;
    case PR_OP_TTNG_ASYNC_TMA_COPY_LOCAL_TO_GLOBAL: case PR_OP_TTNG_ASYNC_TMA_REDUCE: case PR_OP_TTNG_ASYNC_TMA_SCATTER: return TMA_STORE;
    case PR_OP_TTNG_ASYNC_TMA_STORE_WAIT: return STORE_WAIT;
    case PR_OP_TTNG_TC_GEN5_MMA: case PR_OP_TTNG_TC_GEN5_MMA_SCALED: case PR_OP_TTNG_TMEM_COPY: case PR_OP_TTNG_TC_GEN5_COMMIT: return TENSOR;
    case PR_OP_TTNG_INIT_BARRIER: case PR_OP_TTNG_INVAL_BARRIER: case PR_OP_TTNG_WAIT_BARRIER: case PR_OP_TTNG_ARRIVE_BARRIER:
    case PR_OP_TTNG_BARRIER_EXPECT: case PR_OP_TTNG_ASYNC_COPY_MBARRIER_ARRIVE: return MBARRIER;
    case PR_OP_TTG_CONVERT_LAYOUT: case PR_OP_TT_REDUCE: case PR_OP_TT_SCAN: case PR_OP_TT_GATHER: return LOAD | STORE;
    case PR_OP_TT_HISTOGRAM: case PR_OP_TT_ATOMIC_RMW: case PR_OP_TT_ATOMIC_CAS: return LOAD | STORE | ATOMIC;
    default:
        if (pr_str_is(op->name, "ttng.tensormap_create")) return LOAD | STORE;
        return pr_str_is(op->name, "ttng.clc_try_cancel") ? TMA_LOAD : 0;
    }
}

static bool hidden(const pr_op *op)
{
    return (sorts_of(op) & LOAD) && (sorts_of(op) & STORE);
}

static bool same_file(const reader *r, int file, pr_str name)
{
    for (int i = 0; i < r->files.n; i++) {
        pr_str f = r->files.name[i];
        if (r->files.number[i] != file) continue;
        size_t n = f.n < name.n ? f.n : name.n;
        return n && !memcmp(f.s + f.n - n, name.s + name.n - n, n) && (f.n == name.n || (f.n > n ? f.s[f.n - n - 1] : name.s[name.n - n - 1]) == '/');
    }
    return false;
}

static bool belongs(const reader *r, const place *x, const pr_op *op)
{
    const pr_srcloc *l = op->loc;
    if (!l || x->sort < 0 || !(x->sort & sorts_of(op)) || x->line <= 0) return false;
    return l->line == x->line && l->col == x->col && same_file(r, x->file, l->file);
}

/* Waits of one sort that follow one another count as one place. */
static bool waits(int sort) { return sort == COPY_WAIT || sort == STORE_WAIT || sort == WGMMA_WAIT; }

static void around(const reader *r, const pr_op *op, int at, bool back, bool *barrier, bool *fence)
{
    *barrier = *fence = false;
    for (int i = back ? at - 1 : at + 1; i >= 0 && i < r->places.n; i += back ? -1 : 1) {
        int s = r->places.data[i].sort;
        if (s == BARRIER) *barrier = true;
        else if (s == FENCE) *fence = true;
        else if (!back && s > 0 && waits(s) && s == r->places.data[at].sort && belongs(r, &r->places.data[i], op)) continue;
        else return;
    }
}

/* Marks the places between a label and a branch back to it. */
static void find_loops(reader *r)
{
    int n = r->places.n, most = 0, depth = 0;
    for (int i = 0; i < n; i++)
        if (r->places.data[i].label > most) most = r->places.data[i].label;
    if (most > MOST_LABELS) {
        refuse(r, 0, "too many blocks");
        return;
    }
    int *at = PR_NEW_N(r->p->arena, int, most + 1), *turn = PR_NEW_N(r->p->arena, int, n + 1);
    for (int i = 0; i < n; i++) {
        int label = r->places.data[i].label;
        if (label > 0) at[label] = i + 1;
        if (label >= 0 || -label > most || !at[-label]) continue;
        turn[at[-label] - 1]++;
        turn[i]--;
    }
    for (int i = 0; i < n; i++) r->places.data[i].repeats = (depth += turn[i]) > 0;
}

static bool in_loop(const pr_op *op)
{
    for (; op->block && op->block->region->op; op = op->block->region->op)
        if (op->block->region->op->opcode == PR_OP_SCF_FOR || op->block->region->op->opcode == PR_OP_SCF_WHILE) return true;
    return false;
}

/* In a branch: PTX may have its blocks in another order. */
static bool in_branch(const pr_op *op)
{
    for (; op->block && op->block->region->op; op = op->block->region->op)
        if (op->block->region->op->opcode == PR_OP_SCF_IF) return true;
    return false;
}

typedef struct search { const pr_op *like; bool anywhere; PR_VEC(const pr_op *) found; } search;

/* Operations that have the same instructions, in text order. */
static void alike(reader *r, search *s, const pr_region *g)
{
    for (int b = 0; g && b < g->n_blocks; b++) {
        for (int i = 0; i < g->blocks[b]->n_ops; i++) {
            const pr_op *op = g->blocks[b]->ops[i];
            const pr_srcloc *x = op->loc, *y = s->like->loc;
            if ((sorts_of(op) & sorts_of(s->like)) && (s->anywhere || (x && y && x->line == y->line && x->col == y->col && pr_str_eq(x->file, y->file))))
                pr_vec_push(r->p->arena, &s->found, op);
            for (int k = 0; k < op->n_regions; k++) alike(r, s, op->regions[k]);
        }
    }
}

/* An operation writes its scratch memory, and other threads read it: a barrier between, and before it is written again. */
static void phases(reader *r, const pr_op *op)
{
    int last = 0, at = 0;
    bool met = false;
    for (int i = 0; hidden(op) && i < r->places.n; i++) {
        const place *x = &r->places.data[i];
        if (x->sort == BARRIER) met = true;
        if (!belongs(r, x, op)) continue;
        if (last && last != x->sort && !met) {
            refuse(r, x->at, pr_arena_printf(r->p->arena, "no barrier between two phases of the scratch memory of `" PR_STR_FMT "` (the other at line %d)", PR_STR_ARG(op->name), at));
            return;
        }
        last = x->sort;
        at = x->at;
        met = false;
    }
}

static bool own(const reader *r, int at, const pr_op *op, bool anywhere)
{
    return anywhere ? r->places.data[at].sort > 0 && (r->places.data[at].sort & sorts_of(op)) : belongs(r, &r->places.data[at], op);
}

/* What stands before a place and after another one. */
static unsigned beside(const reader *r, const pr_op *op, int first, int last)
{
    bool b, f;
    around(r, op, first, true, &b, &f);
    unsigned here = (b ? PR_SHM_MEETS_BEFORE : 0) | (f ? PR_SHM_FENCED_BEFORE : 0);
    around(r, op, last, false, &b, &f);
    return here | (b ? PR_SHM_MEETS_AFTER : 0) | (f ? PR_SHM_FENCED_AFTER : 0);
}

enum { RUNS = 64 };
/* What stands around the runs of an operation's own instructions: all of them, all instructions, each run. */
typedef struct runs { int n; unsigned all, each, flags[RUNS]; bool loops[RUNS]; } runs;

/* anywhere: instructions of its sort, whatever their locations. */
static void runs_of(reader *r, const pr_op *op, bool anywhere, runs *o)
{
    *o = (runs){ .all = PR_SHM_MEETS_BEFORE | PR_SHM_FENCED_BEFORE | PR_SHM_MEETS_AFTER | PR_SHM_FENCED_AFTER };
    o->each = o->all;
    for (int i = 0; i < r->places.n; i++) {
        int first = i;
        if (!own(r, i, op, anywhere)) continue;
        while (i + 1 < r->places.n && own(r, i + 1, op, anywhere)) i++;
        for (int k = first; k <= i; k++) {
            r->places.data[k].taken = r->places.data[k].taken || !anywhere;
            o->each &= beside(r, op, k, k);
        }
        unsigned here = beside(r, op, first, i);
        o->all &= here;
        if (o->n < RUNS) o->flags[o->n] = here, o->loops[o->n] = r->places.data[i].repeats;
        o->n++;
    }
}

/* As many runs as operations of the text, one each, in order: the number of op among them. Plain accesses may be left out or divided by the code
 * generator, others not. -1: not known. */
static int in_order(reader *r, const pr_op *op, const runs *o, search *s)
{
    int which = -1;
    s->like = op;
    alike(r, s, r->p->func->regions[0]);
    if (o->n > RUNS || s->found.n != o->n || !(sorts_of(op) & ~(LOAD | STORE | ATOMIC))) return -1;
    for (int i = 0; i < s->found.n; i++) {
        const pr_op *x = s->found.data[i];
        bool fits = in_loop(x) == o->loops[i] && sorts_of(x) == sorts_of(op) && (s->found.n == 1 || x->block == s->found.data[0]->block || !in_branch(x));
        if (!fits) return -1;
        if (x == op) which = i;
    }
    return which;
}

static void mark(reader *r, const pr_op *op)
{
    runs here;
    search s = { 0 }, others = { .anywhere = true };
    if (!sorts_of(op)) return;
    if (!op->loc || op->loc->line <= 0) refuse(r, 0, pr_arena_printf(r->p->arena, "`" PR_STR_FMT "` at line %d of the text has no source location", PR_STR_ARG(op->name), op->line));
    runs_of(r, op, false, &here);
    phases(r, op);
    int which = in_order(r, op, &here, &s);
    unsigned flags = which >= 0 ? here.flags[which] : s.found.n > 1 ? here.each : here.all;
    if (!here.n && hidden(op)) flags = PR_SHM_NO_SCRATCH;
    else if (!here.n) {                              /* under another location: all of its sort, in order          */
        runs_of(r, op, true, &here);
        which = in_order(r, op, &here, &others);
        flags = which >= 0 ? here.flags[which] : 0;
    }
    r->p->beside[op->id] = (unsigned char)flags;
}

static void within(reader *r, const pr_region *g)
{
    for (int b = 0; g && b < g->n_blocks; b++) {
        for (int i = 0; i < g->blocks[b]->n_ops; i++) {
            const pr_op *op = g->blocks[b]->ops[i];
            if (op->opcode == PR_OP_TTG_WARP_SPECIALIZE) refuse(r, 0, "barriers of partitions are not told apart");
            mark(r, op);
            for (int k = 0; k < op->n_regions; k++) within(r, op->regions[k]);
        }
    }
}

void pr_shm_read_ptx(pr_shm_prog *p, const char *text, size_t length)
{
    reader r = { .p = p };
    p->beside = PR_NEW_N(p->arena, unsigned char, p->ir->n_ops + 1);
    read_lines(&r, text, length);
    find_loops(&r);
    if (!r.failed) within(&r, p->func->regions[0]);
    for (int i = 0; i < r.places.n && !r.failed; i++) {
        const place *x = &r.places.data[i];
        if (x->sort > 0 && (x->sort & DATA) && !x->taken)
            refuse(&r, x->at, "an access to shared memory that no operation of the text has at its source location");
    }
}
