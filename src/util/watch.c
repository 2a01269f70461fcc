/* See watch.h. */
#include "util/watch.h"
#include <pthread.h>
#include <stdlib.h>
#include <time.h>

enum { POLL_MS = 20 };

struct pr_watch {
    int64_t left_ms;
    const pr_flag *interrupt;
    void (*stop)(void *user);
    void *user;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool done, fired;
};

static void *watch(void *user)
{
    pr_watch *w = user;
    struct timespec at;
    clock_gettime(CLOCK_REALTIME, &at);
    int64_t passed = 0;
    pthread_mutex_lock(&w->lock);
    while (!w->done) {
        at.tv_nsec += POLL_MS * 1000000L;
        at.tv_sec += at.tv_nsec / 1000000000L;
        at.tv_nsec %= 1000000000L;
        pthread_cond_timedwait(&w->wake, &w->lock, &at);
        passed += POLL_MS;
        if (w->done) break;
        if ((w->left_ms > 0 && passed >= w->left_ms) || (w->interrupt && *w->interrupt)) {
            /* again at every turn: a library may miss it between two phases of a call */
            w->fired = true;
            w->stop(w->user);
        }
    }
    pthread_mutex_unlock(&w->lock);
    return NULL;
}

pr_watch *pr_watch_start(int64_t limit_ms, const pr_flag *interrupt, void (*stop)(void *user), void *user)
{
    if (limit_ms <= 0 && !interrupt) return NULL;
    pr_watch *w = calloc(1, sizeof *w);
    if (!w) return NULL;
    w->left_ms = limit_ms;
    w->interrupt = interrupt;
    w->stop = stop;
    w->user = user;
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->wake, NULL);
    if (pthread_create(&w->thread, NULL, watch, w) != 0) {
        free(w);
        return NULL;
    }
    return w;
}

bool pr_watch_end(pr_watch *w)
{
    if (!w) return false;
    pthread_mutex_lock(&w->lock);
    w->done = true;
    pthread_cond_signal(&w->wake);
    pthread_mutex_unlock(&w->lock);
    pthread_join(w->thread, NULL);
    bool fired = w->fired;
    pthread_cond_destroy(&w->wake);
    pthread_mutex_destroy(&w->lock);
    free(w);
    return fired;
}
