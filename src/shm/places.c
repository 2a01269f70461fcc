/* Where allocations are, as a text from after allocation says: bytes of shared memory, or columns of tensor memory and which of
 * their rows (shared-memory.md 6.3). */
#include "shm/walk.h"
#include <string.h>

/* The number behind `key` in the text of a layout; -1: none. */
static int64_t number_behind(pr_str s, const char *key)
{
    size_t n = strlen(key);
    for (size_t i = 0; i + n < s.n; i++) {
        int64_t v = 0;
        if (memcmp(s.s + i, key, n) != 0 || (i && s.s[i - 1] != ' ' && s.s[i - 1] != '<')) continue;
        for (i += n; i < s.n && s.s[i] >= '0' && s.s[i] <= '9' && v < INT32_MAX; i++) v = 10 * v + (s.s[i] - '0');
        return v;
    }
    return -1;
}

static bool has(pr_str s, const char *part)
{
    size_t n = strlen(part);
    for (size_t i = 0; i + n <= s.n; i++)
        if (memcmp(s.s + i, part, n) == 0) return true;
    return false;
}

/* Tiles of blockM x blockN, one beside the other in columns of 32 bits: 128 rows, or every second group of 16 of them (the others hold the next tile). Other
 * encodings (scales, 64 rows of a taller tile) stay without a place. */
void pr_shm_place_columns(pr_shm_alloc *a, const pr_type *t)
{
    pr_str s = t->text;
    int64_t col = (int64_t)pr_op_attr_int(a->op, "tensor_memory_col_offset", -1), row = (int64_t)pr_op_attr_int(a->op, "tensor_memory_row_offset", -1);
    int64_t block_m = number_behind(s, "blockM = "), block_n = number_behind(s, "blockN = "), stride = number_behind(s, "colStride = ");
    a->col = -1;
    if (col < 0 || col > 1 << 16 || a->rank < 2 || !has(s, "tensor_memory_encoding<") || has(s, "scales")) return;
    if (stride < 0) stride = has(s, "unpacked = true") && a->elem_bits < 32 ? 32 / a->elem_bits : 1;
    int64_t m = a->shape[a->rank - 2], n = a->shape[a->rank - 1], tiles = 1;
    if (block_m < 1 || block_n < 1 || stride < 1 || stride > 4 || m % block_m || n % block_n || block_n * a->elem_bits * stride % 32) return;
    if (has(s, "CTASplit") || has(s, "twoCTAs = true") || has(s, "CGALayout")) return;
    if (block_m == 128 && row == 0) a->rows = 0xff;
    else if (block_m == 64 && m == 64 && n == block_n && (row == 0 || row == 16)) a->rows = row ? 0xaa : 0x55;
    else if (block_m == 64 && m == 64 && n / block_n % 2 == 0 && row == 0) {  /* two tiles by two in the same columns      */
        a->rows = 0xff;
        n /= 2;
    } else return;
    for (int i = 0; i + 2 < a->rank; i++) {
        if (a->shape[i] > 512 || tiles > 512) return;
        tiles *= a->shape[i];
    }
    if (m / block_m > 512 || n / block_n > 512) return;
    a->cols = tiles * (m / block_m) * (n / block_n) * (block_n * a->elem_bits * stride / 32);
    a->col = col;
}

bool pr_shm_placed(const pr_shm_alloc *a) { return a->memory == PR_SHM_TMEM ? a->col >= 0 : a->offset >= 0; }

static int64_t bytes_of(const pr_shm_alloc *a)
{
    int64_t bits = a->elem_bits;
    for (int i = 0; i < a->rank; i++) bits *= a->shape[i];
    return (bits + 7) / 8;
}

static bool places_meet(const pr_shm_alloc *a, const pr_shm_alloc *b)
{
    if (a->memory == PR_SHM_TMEM) return (a->rows & b->rows) && a->col < b->col + b->cols && b->col < a->col + a->cols;
    return a->offset < b->offset + bytes_of(b) && b->offset < a->offset + bytes_of(a);
}

/* Printed places decide; without them lives that overlap (then the compiler gives different bytes). */
bool pr_shm_apart(const pr_shm_alloc *a, const pr_shm_alloc *b)
{
    if (a->memory != b->memory) return true;
    if (!pr_shm_placed(a) || !pr_shm_placed(b)) return pr_shm_alloc_disjoint(a, b);
    return !places_meet(a, b);
}

bool pr_shm_misplaced(const pr_shm_alloc *a, const pr_shm_alloc *b)
{
    return a != b && a->op != b->op && a->memory == b->memory && pr_shm_placed(a) && pr_shm_placed(b) && places_meet(a, b) && pr_shm_alloc_disjoint(a, b);
}
