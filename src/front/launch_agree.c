/* Do the contents that a launch gives agree where tensors share bytes? See launch_tensor.h. */
#include <stdlib.h>
#include "front/launch_tensor.h"

/* One element with known contents. */
typedef struct placed {
    uint64_t at;
    int tensor, element;
} placed;

/* Who gave a byte last: elements come in order of their address and have at most 8 bytes, so sixteen bytes are enough. */
typedef struct given {
    bool known, truth; /* truth: only whether it is 0 */
    uint64_t at;
    unsigned value;
    int tensor, element;
} given;
enum { WINDOW = 16 };

static int by_address(const void *x, const void *y)
{
    const placed *a = x, *b = y;
    if (a->at != b->at) return a->at < b->at ? -1 : 1;
    if (a->tensor != b->tensor) return a->tensor < b->tensor ? -1 : 1;
    return (a->element > b->element) - (a->element < b->element);
}

/* A tensor and its place among the arguments. */
typedef struct numbered {
    const pr_tensor *t;
    int number;
} numbered;

static int by_start(const void *x, const void *y)
{
    const numbered *a = x, *b = y;
    if (a->t->storage_lo != b->t->storage_lo) return a->t->storage_lo < b->t->storage_lo ? -1 : 1;
    return (a->number > b->number) - (a->number < b->number);
}

/* May two elements of t have one address? */
static bool may_repeat(const pr_tensor *t) { return !t->contiguous; }

static placed *place(const pr_tensor *t, int number, placed *to)
{
    for (int64_t k = 0; k < t->numel; k++) {
        pr_i128 at = t->ptr;
        int64_t rest = k;
        for (int d = t->rank; d-- > 0; rest /= t->shape[d])
            at += (pr_i128)(rest % t->shape[d]) * t->stride[d] * t->elem_bytes;
        *to++ = (placed){ (uint64_t)at, number, (int)k };
    }
    return to;
}

static bool differs(const given *a, const given *b)
{
    if (a->truth || b->truth) return (a->value != 0) != (b->value != 0);
    return a->value != b->value;
}

/* Compares the elements of n tensors. */
static bool group(pr_arena *arena, const numbered *t, int n, pr_contents_clash *out)
{
    size_t count = 0;
    for (int i = 0; i < n; i++) count += (size_t)t[i].t->numel;
    placed *all = PR_NEW_N(arena, placed, count), *end = all;
    for (int i = 0; i < n; i++) end = place(t[i].t, i, end);
    qsort(all, count, sizeof *all, by_address);
    given window[WINDOW] = { 0 };
    for (const placed *p = all; p < end; p++) {
        const pr_tensor *x = t[p->tensor].t;
        uint64_t bits = (uint64_t)x->values[p->element];
        for (int k = 0; k < x->elem_bytes && k < 8; k++) {
            given now = { true, x->is_bool, p->at + (uint64_t)k, (unsigned)(bits >> (8 * k)) & 255, p->tensor, p->element };
            given *last = &window[now.at % WINDOW];
            if (last->known && last->at == now.at) {
                if (differs(last, &now)) {
                    *out = (pr_contents_clash){ t[last->tensor].t, x, last->element, p->element, now.at };
                    return true;
                }
                if (now.truth && !last->truth) continue; /* the byte itself says more */
            }
            *last = now;
        }
    }
    return false;
}

bool pr_contents_disagree(pr_arena *arena, pr_tensor *const *tensors, int n, pr_contents_clash *out)
{
    numbered *t = PR_NEW_N(arena, numbered, n ? n : 1);
    int known = 0;
    for (int i = 0; i < n; i++)
        if (tensors[i]->has_values && tensors[i]->numel > 0) t[known++] = (numbered){ tensors[i], i };
    if (known) qsort(t, (size_t)known, sizeof *t, by_start);
    for (int from = 0, to; from < known; from = to) { /* storages that hang together */
        pr_i128 reach = t[from].t->storage_hi;
        for (to = from + 1; to < known && t[to].t->storage_lo < reach; to++)
            if (t[to].t->storage_hi > reach) reach = t[to].t->storage_hi;
        if ((to - from > 1 || may_repeat(t[from].t)) && group(arena, t + from, to - from, out)) return true;
    }
    return false;
}
