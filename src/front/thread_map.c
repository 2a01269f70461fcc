/* Layouts of global accesses, see thread_map.h. */
#include "front/thread_map.h"
#include "front/ops.h"
#include "front/types.h"
#include <string.h>

/* ---- layouts (shared-memory.md 1.3) ------------------------------------------------------------------ */
enum { MOST_INTS = 256 };

/* "key = [[1, 2], [3]]" of the layout's text: the integers in order, brackets flattened; -1 when absent or
 * malformed. rows: how many inner lists there are. */
static int list_of(pr_str text, const char *key, int64_t *out, int *rows)
{
    size_t n = strlen(key);
    *rows = 0;
    for (size_t i = 0; i + n <= text.n; i++) {
        if (memcmp(text.s + i, key, n) || (i && text.s[i - 1] != ' ' && text.s[i - 1] != '{')) continue;
        for (i += n; i < text.n && text.s[i] == ' ';) i++;
        if (i >= text.n || text.s[i] != '=') return -1;
        for (i++; i < text.n && text.s[i] == ' ';) i++;
        int depth = 0, count = 0;
        for (; i < text.n; i++) {
            char c = text.s[i];
            if (c == '[') {
                if (++depth == 2) ++*rows;
                if (depth > 2) return -1;
            } else if (c == ']') {
                if (--depth == 0) return count;
            } else if (c >= '0' && c <= '9') {
                int64_t v = 0;
                for (; i < text.n && text.s[i] >= '0' && text.s[i] <= '9'; i++) {
                    if (v > (INT64_C(1) << 40)) return -1;
                    v = v * 10 + (text.s[i] - '0');
                }
                i--;
                if (count == MOST_INTS || depth == 0) return -1;
                out[count++] = v;
            } else if (c != ' ' && c != ',') {
                return -1;
            }
        }
        return -1;
    }
    return -1;
}

static bool power_of_two(int64_t v) { return v > 0 && !(v & (v - 1)); }

/* Each dimension holds at least one whole round of registers, lanes and warps: no thread's element is another's. */
static bool blocked(pr_str text, int rank, const int64_t *shape, int64_t warps, int64_t lanes)
{
    int64_t size[MOST_INTS], lane[MOST_INTS], warp[MOST_INTS], order[MOST_INTS], n_lanes = 1, n_warps = 1;
    int rows;
    if (list_of(text, "sizePerThread", size, &rows) != rank || list_of(text, "threadsPerWarp", lane, &rows) != rank ||
        list_of(text, "warpsPerCTA", warp, &rows) != rank || list_of(text, "order", order, &rows) != rank)
        return false;
    for (int d = 0; d < rank; d++) {
        if (!power_of_two(size[d]) || !power_of_two(lane[d]) || !power_of_two(warp[d]) || !power_of_two(shape[d])) return false;
        if (size[d] > 4096 || lane[d] > lanes || warp[d] > warps || shape[d] < size[d] * lane[d] * warp[d]) return false;
        n_lanes *= lane[d];
        n_warps *= warp[d];
    }
    return n_lanes == lanes && n_warps == warps;
}

/* Adds the basis vectors of one input dimension. Each must be a single bit of a single output dimension that no
 * other vector has. */
static bool bases(pr_str text, const char *key, int rank, int64_t *seen, int *n_rows)
{
    int64_t v[MOST_INTS];
    int n = list_of(text, key, v, n_rows);
    if (n < 0 || n != *n_rows * rank) return false;
    for (int i = 0; i < n; i += rank) {
        int at = -1;
        for (int d = 0; d < rank; d++) {
            if (!v[i + d]) continue;
            if (at >= 0) return false;
            at = d;
        }
        if (at < 0 || !power_of_two(v[i + at]) || (seen[at] & v[i + at])) return false;
        seen[at] |= v[i + at];
    }
    return true;
}

/* A permutation of the index bits: every element has exactly one register of one thread. */
static bool linear(pr_str text, int rank, const int64_t *shape, int64_t warps, int64_t lanes)
{
    int64_t seen[PR_MAX_RANK] = { 0 }, block[MOST_INTS];
    int n_register, n_lane, n_warp, n_block;
    if (!bases(text, "register", rank, seen, &n_register) || !bases(text, "lane", rank, seen, &n_lane) ||
        !bases(text, "warp", rank, seen, &n_warp) || list_of(text, "block", block, &n_block) != 0 || n_block)
        return false;
    for (int d = 0; d < rank; d++)
        if (!power_of_two(shape[d]) || seen[d] != shape[d] - 1) return false;
    return n_lane < 20 && n_warp < 20 && INT64_C(1) << n_lane == lanes && INT64_C(1) << n_warp == warps;
}

/* "key = 3" of the layout's text; -1: none. */
static int64_t number_of(pr_str text, const char *key)
{
    size_t n = strlen(key);
    int64_t v = 0;
    for (size_t i = 0; i + n + 3 < text.n; i++) {
        if (memcmp(text.s + i, key, n) || memcmp(text.s + i + n, " = ", 3) || (i && text.s[i - 1] != ' ' && text.s[i - 1] != '{')) continue;
        for (i += n + 3; i < text.n && text.s[i] >= '0' && text.s[i] <= '9' && v < 1 << 20; i++) v = v * 10 + (text.s[i] - '0');
        return v;
    }
    return -1;
}

static int log2_of(int64_t v)
{
    int k = 0;
    while (v >> (k + 1)) k++;
    return k;
}

/* Accumulators of tensor core instructions: a tile of 16 rows and n columns, two neighbours and rows 8 apart in one thread, four threads in a
 * row; then warps (columns first before Hopper), then the tile again. bit, when given, as in pr_layout_threads. */
static bool accumulator(pr_str text, int rank, const int64_t *shape, int64_t warps, int64_t lanes, int64_t bit[][32])
{
    int64_t warp[MOST_INTS], instr[MOST_INTS], major = number_of(text, "versionMajor"), cga[MOST_INTS];
    int rows, n = list_of(text, "instrShape", instr, &rows);
    if (rank != 2 || lanes != 32 || (major != 2 && major != 3) || n != (int)major || instr[0] != 16) return false;
    if (list_of(text, "warpsPerCTA", warp, &rows) != 2 || warp[0] * warp[1] != warps || list_of(text, "CGALayout", cga, &rows) > 0) return false;
    if (!power_of_two(instr[1]) || instr[1] < 8 || (major == 2 && instr[1] != 8)) return false;
    for (int d = 0; d < 2; d++)
        if (!power_of_two(warp[d]) || warp[d] > warps || !power_of_two(shape[d]) || shape[d] < instr[d] * warp[d]) return false;
    if (!bit) return true;
    bit[1][1] = 1;
    bit[1][2] = 2;
    for (int k = 0; k < 3; k++) bit[0][k] = INT64_C(4) << k;
    int64_t step = lanes;
    for (int i = 0; i < 2; i++) {
        int d = major == 3 ? i : 1 - i, from = log2_of(instr[d]);
        for (int k = 0; k < log2_of(warp[d]); k++) bit[d][from + k] = step << k;
        step *= warp[d];
    }
    return true;
}

bool pr_layout_is_injective(pr_str encoding, int rank, const int64_t *shape, int64_t warps, int64_t lanes)
{
    if (rank < 1 || rank > PR_MAX_RANK || warps < 1 || warps > 64 || lanes < 1 || lanes > 64) return false;
    if (pr_str_starts(encoding, "#ttg.blocked<{")) return blocked(encoding, rank, shape, warps, lanes);
    if (pr_str_starts(encoding, "#ttg.linear<{")) return linear(encoding, rank, shape, warps, lanes);
    if (pr_str_starts(encoding, "#ttg.nvidia_mma<{")) return accumulator(encoding, rank, shape, warps, lanes, NULL);
    return false;
}

bool pr_layout_threads(pr_str encoding, int rank, const int64_t *shape, int64_t warps, int64_t lanes, int64_t bit[][32])
{
    int64_t v[MOST_INTS];
    int rows;
    if (!pr_layout_is_injective(encoding, rank, shape, warps, lanes)) return false;
    for (int d = 0; d < rank; d++)
        for (int k = 0; k < 32; k++) bit[d][k] = 0;
    if (pr_str_starts(encoding, "#ttg.nvidia_mma<{")) return accumulator(encoding, rank, shape, warps, lanes, bit);
    if (pr_str_starts(encoding, "#ttg.linear<{")) {
        for (int part = 0; part < 2; part++) {
            int n = list_of(encoding, part ? "warp" : "lane", v, &rows);
            for (int i = 0; i < n; i++)
                if (v[i]) bit[i % rank][log2_of(v[i])] = (INT64_C(1) << i / rank) * (part ? lanes : 1);
        }
        return true;
    }
    int64_t size[MOST_INTS], lane[MOST_INTS], warp[MOST_INTS], lane_step = 1, warp_step = lanes;
    list_of(encoding, "sizePerThread", size, &rows);
    list_of(encoding, "threadsPerWarp", lane, &rows);
    list_of(encoding, "warpsPerCTA", warp, &rows);
    list_of(encoding, "order", v, &rows);
    for (int i = 0; i < rank; i++) {                 /* order: fastest first; rank was checked, a permutation was not */
        int64_t d = v[i];
        if (d >= rank) return false;
        for (int j = 0; j < i; j++)
            if (v[j] == d) return false;
        int from = log2_of(size[d]);
        for (int k = 0; k < log2_of(lane[d]); k++) bit[d][from + k] = lane_step << k;
        from += log2_of(lane[d]);
        for (int k = 0; k < log2_of(warp[d]); k++) bit[d][from + k] = warp_step << k;
        lane_step *= lane[d];
        warp_step *= warp[d];
    }
    return true;
}

/* ---- counterparts ------------------------------------------------------------------------------------ */
typedef struct gather {
    pr_arena *arena;
    PR_VEC(const pr_op *) touching; /* operations that take a pointer, a descriptor or memory */
    PR_VEC(const pr_op *) all;
    bool specialised;
} gather;

static bool reaches_memory(const pr_op *op)
{
    for (int i = 0; i < op->n_operands; i++) {
        const pr_type *t = op->operands[i]->type ? pr_type_scalar(op->operands[i]->type) : NULL;
        if (!t || t->kind == PR_TYPE_POINTER || t->kind == PR_TYPE_DESC || t->kind == PR_TYPE_MEMDESC || t->kind == PR_TYPE_OPAQUE)
            return true;
    }
    return false;
}

static void walk(gather *g, const pr_op *op)
{
    pr_vec_push(g->arena, &g->all, op);
    if (op->opcode == PR_OP_UNKNOWN || op->is_unknown_form || reaches_memory(op)) pr_vec_push(g->arena, &g->touching, op);
    if (pr_str_starts(op->name, "ttg.warp_specialize")) g->specialised = true;
    for (int i = 0; i < op->n_regions; i++)
        for (int b = 0; b < op->regions[i]->n_blocks; b++)
            for (int k = 0; k < op->regions[i]->blocks[b]->n_ops; k++) walk(g, op->regions[i]->blocks[b]->ops[k]);
}

static bool same_location(const pr_srcloc *a, const pr_srcloc *b)
{
    for (; a && b; a = a->caller, b = b->caller)
        if (a->line <= 0 || a->line != b->line || a->col != b->col || !pr_str_eq(a->file, b->file)) return false;
    return !a && !b;
}

/* Pointer arithmetic and control flow move pointers; they do not follow them. */
static bool only_moves(const pr_op *op)
{
    static const char *const name[] = { "tt.addptr", "tt.splat", "tt.broadcast", "tt.expand_dims", "tt.reshape", "tt.trans",
                                        "ttg.convert_layout", "arith.select", "scf.for", "scf.if", "scf.yield", "cf.br", "cf.cond_br" };
    for (size_t i = 0; i < PR_LEN(name); i++)
        if (pr_str_is(op->name, name[i])) return true;
    return false;
}

static const pr_type *pointers(const pr_op *op)
{
    const pr_type *t = op->n_operands ? op->operands[0]->type : NULL;
    return t && t->kind == PR_TYPE_TENSOR && t->elem && t->elem->kind == PR_TYPE_POINTER && !pr_type_is_deep(t) ? t : NULL;
}

/* The tensor of pointers of op's counterparts when all agree, else null. */
static const pr_type *counterpart(const gather *g, const pr_op *op, const pr_record *r)
{
    const pr_type *found = NULL;
    for (int i = 0; i < g->touching.n; i++) {
        const pr_op *x = g->touching.data[i];
        if (!same_location(op->loc, x->loc)) continue;
        if (only_moves(x)) continue;
        const pr_type *t = pointers(x);
        if (!pr_str_eq(x->name, op->name) || !t || t->rank != r->rank) return NULL;
        for (int d = 0; d < t->rank; d++)
            if (t->shape[d] != r->shape[d]) return NULL;
        if (found && !pr_str_eq(found->encoding, t->encoding)) return NULL;
        found = t;
    }
    return found;
}

void pr_thread_maps(pr_arena *arena, const pr_ir *ttir, const pr_op *kernel, const pr_ir *ttgir,
                    const pr_op *gpu_kernel, pr_records *r)
{
    gather here = { .arena = arena }, there = { .arena = arena };
    pr_i128 warps = pr_op_attr_int(ttgir->module, "ttg.num-warps", 0);
    pr_i128 lanes = pr_op_attr_int(ttgir->module, "ttg.threads-per-warp", 32);
    if (pr_op_attr_int(ttgir->module, "ttg.num-ctas", 1) != 1 || warps < 1 || warps > 64 || lanes < 1 || lanes > 64) return;
    walk(&here, kernel);
    walk(&there, gpu_kernel);
    if (there.specialised) return; /* equal layouts of two partitions are different threads */
    const pr_op **by_id = PR_NEW_N(arena, const pr_op *, ttir->n_ops);
    for (int i = 0; i < here.all.n; i++) by_id[here.all.data[i]->id] = here.all.data[i];
    PR_VEC(const pr_type *) maps = { 0 };
    for (int i = 0; i < r->records.n; i++) {
        pr_record *x = &r->records.data[i];
        x->thread_map = 0;
        if (x->rank < 1 || x->via_desc || x->site.n_calls || (x->kind != PR_RECORD_LOAD && x->kind != PR_RECORD_STORE)) continue;
        const pr_op *op = x->site.op_id >= 0 && x->site.op_id < ttir->n_ops ? by_id[x->site.op_id] : NULL;
        if (!op || !op->loc || (!pr_str_is(op->name, "tt.load") && !pr_str_is(op->name, "tt.store"))) continue;
        const pr_type *t = counterpart(&there, op, x);
        if (!t || !pr_layout_is_injective(t->encoding, t->rank, t->shape, (int64_t)warps, (int64_t)lanes)) continue;
        int k = 0;
        for (; k < maps.n; k++) {
            bool same = pr_str_eq(maps.data[k]->encoding, t->encoding) && maps.data[k]->rank == t->rank;
            for (int d = 0; d < t->rank && same; d++) same = maps.data[k]->shape[d] == t->shape[d];
            if (same) break;
        }
        if (k == maps.n) pr_vec_push(arena, &maps, t);
        x->thread_map = k + 1;
    }
}
