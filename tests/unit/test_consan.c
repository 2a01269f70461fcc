/* Each operation and each message of ConSan's tables (shm/tables.h), in both epochs. */
#include <string.h>
#include "check.h"
#include "shm/tables.h"

static const int a0[] = { 0 }, a1[] = { 1 }, both[] = { 0, 1 };
#define READABLE(t) (pr_cs_check_write(c, a0, 1, t) == PR_CS_NOTHING)
#define WRITABLE(t) (READABLE(t) && pr_cs_check_reads(c, a0, 1, t) == PR_CS_NOTHING)

static pr_cs *tables(pr_arena *a, pr_cs_epoch e) { return pr_cs_new(a, e, 2, 2); }

static void test_visibility(pr_arena *a, pr_cs_epoch e)
{
    pr_cs *c = tables(a, e);
    CHECK(READABLE(0) && WRITABLE(3));               /* nothing happened yet */
    pr_cs_write(c, a0, 1, 1, false);
    CHECK(READABLE(1) && READABLE(1 + PR_CS_TMA) && READABLE(1 + PR_CS_TC));
    CHECK(!READABLE(0) && !READABLE(PR_CS_TMA) && pr_cs_check_write(c, a1, 1, 0) == PR_CS_NOTHING);
    CHECK(pr_cs_check_write(c, both, 2, 0) == PR_CS_WRITES);
    pr_cs_init(c, 0, 1);
    pr_cs_track(c, 0, 1);
    pr_cs_arrive(c, 0, 1, 0);
    pr_cs_transfer(c, 0, 0, 0);
    CHECK(READABLE(0) && READABLE(PR_CS_TMA) && !READABLE(2));
    pr_cs_read(c, a0, 1, 0);
    CHECK(pr_cs_check_reads(c, a0, 1, 1) == PR_CS_READS && WRITABLE(0));
    pr_cs_init(c, 1, 1);
    pr_cs_track(c, 1, 0);
    pr_cs_arrive(c, 1, 1, 0);
    pr_cs_transfer(c, 1, 1, 0);
    CHECK(WRITABLE(1));
    pr_cs_write(c, a0, 1, 0, false);                 /* a new write: what barriers carried is of the old one */
    pr_cs_transfer(c, 0, 2, 0);
    CHECK(!READABLE(2) && !READABLE(1) && READABLE(0));
}

static void test_tma(pr_arena *a, pr_cs_epoch e)
{
    pr_cs *c = tables(a, e);
    pr_cs_init(c, 0, 1);
    pr_cs_write(c, a0, 1, PR_CS_TMA, true);
    CHECK(!READABLE(0) && (e == PR_CS_OLDER) == READABLE(PR_CS_TMA));   /* current: in flight, nobody sees it */
    if (e == PR_CS_OLDER) pr_cs_track(c, 0, PR_CS_TMA);
    else pr_cs_track_writes(c, 0, a0, 1);
    pr_cs_arrive(c, 0, 1, 0);
    pr_cs_transfer(c, 0, 0, 0);
    CHECK(READABLE(0) && READABLE(PR_CS_TMA) && !READABLE(1));
}

/* A wait for one phase publishes what arrived in the next too, without banks. */
static void test_banks(pr_arena *a, pr_cs_epoch e)
{
    pr_cs *c = tables(a, e);
    pr_cs_init(c, 0, 1);
    pr_cs_track(c, 0, 0);
    pr_cs_arrive(c, 0, 1, 0);
    pr_cs_write(c, a0, 1, 0, false);
    pr_cs_track(c, 0, 0);                            /* phase 1 */
    pr_cs_transfer(c, 0, 1, 0);
    CHECK((e == PR_CS_OLDER) == READABLE(1));
    pr_cs_transfer(c, 0, 1, 1);
    CHECK(READABLE(1));
}

/* An observer that knew an older read of a thread does not know the next one. */
static void test_generations(pr_arena *a, pr_cs_epoch e)
{
    pr_cs *c = tables(a, e);
    pr_cs_init(c, 0, 1);
    pr_cs_read(c, a0, 1, PR_CS_TC);
    pr_cs_track(c, 0, PR_CS_TC);
    pr_cs_arrive(c, 0, 1, 0);
    pr_cs_transfer(c, 0, 1, 0);
    CHECK(WRITABLE(1));
    pr_cs_read(c, a0, 1, PR_CS_TC);
    CHECK((e == PR_CS_OLDER) == WRITABLE(1));
    pr_cs_transfer(c, 0, 1, 0);                      /* nor does the old snapshot of the barrier */
    CHECK((e == PR_CS_OLDER) == WRITABLE(1));
}

static void test_commits(pr_arena *a, pr_cs_epoch e)
{
    for (int kind = 0; kind < PR_CS_KINDS; kind++) {
        pr_cs *c = tables(a, e);
        pr_cs_commit k = (pr_cs_commit)kind;
        pr_cs_stage(c, a0, 1, k, 2);
        CHECK(pr_cs_check_commits(c, a0, 1, k) == PR_CS_PENDING && c->kind == k);
        CHECK(pr_cs_check_commits(c, a1, 1, k) == PR_CS_NOTHING);
        pr_cs_commit_wait(c, k, 2, 0);               /* not committed yet: a wait covers nothing */
        CHECK(pr_cs_check_commits(c, a0, 1, k) == PR_CS_PENDING);
        pr_cs_commit_group(c, k, 2);
        pr_cs_stage(c, a1, 1, k, 2);
        pr_cs_commit_group(c, k, 2);
        pr_cs_commit_wait(c, k, 1, 0);               /* another partition's wait */
        CHECK(pr_cs_check_commits(c, a0, 1, k) == PR_CS_PENDING);
        pr_cs_commit_wait(c, k, 2, 2);
        CHECK(pr_cs_check_commits(c, a0, 1, k) == PR_CS_PENDING);
        pr_cs_commit_wait(c, k, 2, 1);
        CHECK(pr_cs_check_commits(c, a0, 1, k) == PR_CS_NOTHING && pr_cs_check_commits(c, a1, 1, k) == PR_CS_PENDING);
        if (k == PR_CS_CP) CHECK(READABLE(2) && !READABLE(0));
        else CHECK(WRITABLE(2) && (e == PR_CS_OLDER) == WRITABLE(0));   /* older: every thread is told */
        pr_cs_commit_wait(c, k, 2, 0);
        CHECK(pr_cs_check_commits(c, both, 2, k) == PR_CS_NOTHING);
    }
    /* who saw the contents before a cp.async is believed to see the new ones, in the older epoch */
    pr_cs *c = tables(a, e);
    pr_cs_write(c, a0, 1, 0, false);
    pr_cs_stage(c, a0, 1, PR_CS_CP, 1);
    pr_cs_commit_group(c, PR_CS_CP, 1);
    pr_cs_commit_wait(c, PR_CS_CP, 1, 0);
    CHECK(READABLE(1) && (e == PR_CS_OLDER) == READABLE(0));
}

static void test_tensor(pr_arena *a, pr_cs_epoch e)
{
    pr_cs *c = tables(a, e);
    pr_cs_init(c, 0, 1);
    pr_cs_read(c, a0, 1, 0);                         /* by threads: not what a commit covers */
    pr_cs_write(c, a1, 1, PR_CS_TC, false);
    pr_cs_read(c, a0, 1, PR_CS_TC);
    pr_cs_track_tensor(c, 0, PR_CS_TC);
    pr_cs_arrive(c, 0, 1, 0);
    pr_cs_transfer(c, 0, 1, 0);
    CHECK(pr_cs_check_write(c, a1, 1, 1) == PR_CS_NOTHING);
    CHECK((e == PR_CS_OLDER) == WRITABLE(1));
}

static void test_barriers(pr_arena *a, pr_cs_epoch e)
{
    pr_cs *c = tables(a, e);
    bool old = e == PR_CS_OLDER;
    CHECK(pr_cs_live(c, 0) == (old ? PR_CS_NOTHING : PR_CS_UNINIT));
    CHECK(pr_cs_inval(c, 0) == (old ? PR_CS_NOTHING : PR_CS_UNINIT));
    CHECK(pr_cs_arrive_check(c, 0, 1, 0) == (old ? PR_CS_UNDERFLOW : PR_CS_UNINIT));
    CHECK(pr_cs_init(c, 0, 2) == PR_CS_NOTHING);
    CHECK(pr_cs_init(c, 0, 2) == (old ? PR_CS_NOTHING : PR_CS_REINIT));
    CHECK(pr_cs_arrive_check(c, 0, 2, 0) == PR_CS_NOTHING && pr_cs_arrive_check(c, 0, 3, 0) == PR_CS_UNDERFLOW);
    CHECK(pr_cs_arrive_check(c, 0, 1, 1 << 20) == (old ? PR_CS_NOTHING : PR_CS_UNDERFLOW));
    pr_cs_arrive(c, 0, 2, 64);
    CHECK(c->bar[0].phase == (old ? 1 : 0));         /* older: bytes do not count */
    if (!old) pr_cs_arrive(c, 0, 0, -64);
    CHECK(c->bar[0].phase == 1 && c->bar[0].count == 2);
    pr_cs_set_waiting(c, 0, 0, 1);
    CHECK(pr_cs_inval(c, 0) == (old ? PR_CS_NOTHING : PR_CS_WAITER));
    pr_cs_clear_waiting(c, 0, 0);
    CHECK(pr_cs_inval(c, 0) == PR_CS_NOTHING);
    CHECK(old || pr_cs_live(c, 0) == PR_CS_UNINIT);
    CHECK(pr_cs_init(c, 0, 1) == PR_CS_NOTHING && c->bar[0].phase == 0);
}

static void test_deadlock(pr_arena *a, pr_cs_epoch e)
{
    pr_cs *c = tables(a, e);
    pr_cs_init(c, 0, 1);
    pr_cs_init(c, 1, 1);
    CHECK(pr_cs_deadlock(c) == PR_CS_NOTHING);
    c->active = 3;
    pr_cs_set_waiting(c, 0, 0, 0);
    CHECK(pr_cs_deadlock(c) == PR_CS_NOTHING);
    pr_cs_set_waiting(c, 1, 1, 1);                   /* passes: the phase before is complete */
    CHECK(pr_cs_deadlock(c) == PR_CS_NOTHING);
    pr_cs_set_waiting(c, 1, 1, 0);
    CHECK(pr_cs_deadlock(c) == PR_CS_DEADLOCK);
    pr_cs_arrive(c, 0, 1, 0);
    CHECK(pr_cs_deadlock(c) == PR_CS_NOTHING);
    pr_cs_clear_waiting(c, 0, 0);
    c->active = 2;
    CHECK(pr_cs_deadlock(c) == PR_CS_DEADLOCK);
}

static void test_regions(pr_arena *a, pr_cs_epoch e)
{
    pr_cs *c = tables(a, e);
    pr_cs_write(c, a0, 1, 0, false);
    CHECK(!READABLE(1));
    pr_cs_enter(c, 3);
    CHECK(READABLE(1) && READABLE(2 + PR_CS_TMA) && !READABLE(3));
    pr_cs_write(c, a0, 1, 2, false);
    pr_cs_join(c, 3);
    CHECK((e == PR_CS_CURRENT) == READABLE(0));
    pr_cs_write(c, a0, 1, 2 + PR_CS_TMA, true);      /* the join completes nothing */
    pr_cs_join(c, 3);
    CHECK(!READABLE(0));
}

static void test_fences(pr_arena *a, pr_cs_epoch e)
{
    pr_cs *c = tables(a, e);
    pr_cs_message missing = e == PR_CS_CURRENT ? PR_CS_FENCE : PR_CS_NOTHING;
    pr_cs_init(c, 0, 1);
    pr_cs_generic(c, a0, 1, 0);
    CHECK(pr_cs_check_fence(c, a0, 1, 0) == PR_CS_NOTHING);      /* its own: the compiler's to insert */
    pr_cs_generic(c, a0, 1, 0);
    pr_cs_track_proxy(c, 0, 0, NULL, 0);
    pr_cs_transfer_proxy(c, 0, 1);
    CHECK(pr_cs_check_fence(c, a0, 1, 1) == missing);
    pr_cs_fence(c, 1);
    CHECK(pr_cs_check_fence(c, a0, 1, 1) == PR_CS_NOTHING);
    pr_cs_generic(c, a0, 1, 0);                      /* a newer access */
    pr_cs_fence(c, 0);
    pr_cs_track_proxy(c, 0, 0, NULL, 0);
    pr_cs_transfer_proxy(c, 0, 2);
    CHECK(pr_cs_check_fence(c, a0, 1, 2) == PR_CS_NOTHING);
    pr_cs_generic(c, a0, 1, 0);
    pr_cs_track_proxy(c, 0, 0, a1, 1);               /* other lanes only */
    pr_cs_transfer_proxy(c, 0, 2);
    CHECK(pr_cs_check_fence(c, a0, 1, 2) == PR_CS_NOTHING);
}

static void test_texts(void)
{
    static const struct { pr_cs_message m; const char *current, *older; } texts[] = {
        { PR_CS_WRITES, "Buffer being accessed has outstanding writes.", NULL },
        { PR_CS_READS, "Buffer being accessed has outstanding reads", NULL },
        { PR_CS_DEADLOCK, "Deadlock detected: all unfinished threads are waiting on mbarriers",
          "Deadlock detected: all active threads are waiting on mbarriers" },
        { PR_CS_UNDERFLOW, "Barrier arrive underflow: current count or tx-count would become invalid",
          "Barrier arrive underflow: current count would become negative" },
        { PR_CS_UNINIT, "Barrier used before initialization or after invalidation", NULL },
        { PR_CS_REINIT, "Barrier re-initialized without prior invalidation", NULL },
        { PR_CS_LIVE_REUSE, "Shared memory reused before barrier invalidation", NULL },
        { PR_CS_WAITER, "Barrier invalidated while a thread is waiting", NULL },
        { PR_CS_FENCE, "Async shared-memory access is missing fence_async_shared", NULL },
    };
    static const char *const pending[] = { "async_copy_global_to_shared", "warpgroup_mma operand read", "async_copy_shared_to_global" };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        CHECK(strcmp(pr_cs_text(PR_CS_CURRENT, texts[i].m, PR_CS_CP), texts[i].current) == 0);
        CHECK(strcmp(pr_cs_text(PR_CS_OLDER, texts[i].m, PR_CS_CP), texts[i].older ? texts[i].older : texts[i].current) == 0);
    }
    for (int k = 0; k < PR_CS_KINDS; k++) {
        const char *t = pr_cs_text(PR_CS_OLDER, PR_CS_PENDING, (pr_cs_commit)k), *end = t + strlen(t) - strlen(pending[k]);
        CHECK(strncmp(t, "Accessing buffer with pending access. Pending access type: ", 59) == 0 && strcmp(end, pending[k]) == 0);
    }
}

int main(void)
{
    pr_arena *a = pr_arena_new(0, NULL);
    for (int e = PR_CS_CURRENT; e <= PR_CS_OLDER; e++) {
        pr_cs_epoch epoch = (pr_cs_epoch)e;
        test_visibility(a, epoch);
        test_tma(a, epoch);
        test_banks(a, epoch);
        test_generations(a, epoch);
        test_commits(a, epoch);
        test_tensor(a, epoch);
        test_barriers(a, epoch);
        test_deadlock(a, epoch);
        test_regions(a, epoch);
        test_fences(a, epoch);
    }
    test_texts();
    pr_arena_free(a);
    return check_done();
}
