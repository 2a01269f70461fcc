/* Contexts and what lives in them; what happens when memory runs out.
 *
 * A child (module, launch, verdict) is one arena in the list of its context. An entry point of the library arms
 * the context first (PR_EXHAUSTED). When memory runs out, guards are released (util/arena.h), control comes back
 * there, and children that were not finished are ended. The budget (--max-memory) counts from the start of the
 * call; what it ends is refused by name where that is possible (pr_oom_within). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "polyrace_cache.h"
#include "polyrace_impl.h"

void *pr_child_new(polyrace_context *c, size_t bytes, void (*destroy)(pr_child *self))
{
    pr_arena *arena = pr_arena_new(0, &c->oom);
    pr_child *child = pr_arena_alloc(arena, bytes);
    pr_arena_keep(arena);
    child->ctx = c;
    child->arena = arena;
    child->refs = 1;
    child->open = true;
    child->destroy = destroy;
    child->next = c->first;
    child->link = &c->first;
    if (c->first) c->first->link = &child->next;
    c->first = child;
    return child;
}

static void child_end(pr_child *c)
{
    *c->link = c->next;
    if (c->next) c->next->link = c->link;
    if (c->destroy) c->destroy(c);
    pr_arena_free(c->arena);
}

void pr_child_keep(pr_child *c)
{ c->refs++; }

void pr_child_drop(pr_child *c)
{
    if (c->ctx->closing) return;
    if (--c->refs == 0) child_end(c);
}

void pr_child_abandon(polyrace_context *c, const pr_child *since)
{
    for (pr_child *k = c->first, *next; k && k != since; k = next) {
        next = k->next;
        if (k->open) child_end(k);
    }
}

/* ---- contexts ------------------------------------------------------------------------------- */
polyrace_context *polyrace_context_new(void)
{ return calloc(1, sizeof(polyrace_context)); /* outside arenas: its jump buffer must survive them */ }

void polyrace_context_free(polyrace_context *c)
{
    if (!c) return;
    c->closing = true;
    while (c->first) child_end(c->first);
    pr_answers_free(c->answers);
    pr_oom_drop(&c->oom);
    free(c);
}

void polyrace_interrupt(polyrace_context *c)
{ c->interrupt = 1; }

/* ---- running out of memory ------------------------------------------------------------------ */
void pr_context_arm(polyrace_context *c)
{
    c->oom.within = NULL;
    c->oom.limit = 0;
    c->oom.over = false;
    c->oom.stop = NULL;
    c->oom.stopped = false;
}

size_t pr_context_budget(const polyrace_context *c, const polyrace_options *o)
{
    size_t most = o->max_memory > 0 && (uint64_t)o->max_memory < SIZE_MAX ? (size_t)o->max_memory : 0;
    return most && most < SIZE_MAX - c->oom.bytes ? c->oom.bytes + most : 0;
}

bool pr_in_budget(polyrace_context *c, size_t budget, void (*f)(void *user), void *user)
{
    c->oom.limit = budget;
    c->oom.wants_block = !c->oom.block; /* not before there is work: workers that are forked after reading have one each */
    bool done = pr_oom_within(&c->oom, f, user);
    c->oom.limit = 0;
    return done;
}

const char *pr_over_budget(char text[96], const polyrace_options *o, const char *doing)
{
    snprintf(text, 96, "%s takes more than %lld bytes of memory (--max-memory)", doing, (long long)o->max_memory);
    return text;
}

polyrace_error_kind pr_context_exhausted(polyrace_context *c, polyrace_error *err)
{
    for (pr_child *k = c->first; k;) {
        if (k->open) {
            k->open = false;
            child_end(k); /* may end others: from the start again */
            k = c->first;
        } else k = k->next;
    }
    pr_error e = { 0 };
    if (c->oom.stopped) {
        c->interrupt = 0;
        pr_fail(&e, PR_ERR_INTERRUPTED, "", 0, 0, "interrupted");
    } else if (c->oom.over) pr_fail(&e, PR_ERR_LIMIT, "", 0, 0, "more memory is needed than --max-memory allows");
    else pr_fail(&e, PR_ERR_MEMORY, "", 0, 0, "out of memory");
    return pr_copy_error(err, &e);
}
