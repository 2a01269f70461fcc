/* Z3 as a library that is opened when it is needed (docs/decisions/0015-z3-when-needed.md). */
#include "z3_wrap.h"

#ifndef PR_Z3_LIBRARY
const char *pr_z3_load(void) { return NULL; }
#else
#include <dlfcn.h>
#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

pr_z3_functions pr_z3;
static _Thread_local char problem[512];

static bool load(void)
{
    /* By its name, where the system looks for libraries; else where the build found it. Never closed. */
    void *lib = dlopen(PR_Z3_LIBRARY, RTLD_LAZY | RTLD_LOCAL);
    if (!lib) snprintf(problem, sizeof problem, "Z3 cannot be loaded: %s", dlerror());
#ifdef PR_Z3_PATH
    if (!lib) lib = dlopen(PR_Z3_PATH, RTLD_LAZY | RTLD_LOCAL);
#endif
    if (!lib) return false;
    static const struct { const char *name; size_t at; } functions[] = {
#define X(name) { "Z3_" #name, offsetof(pr_z3_functions, name) },
        PR_Z3_FUNCTIONS(X)
#undef X
    };
    for (size_t i = 0; i < PR_LEN(functions); i++) {
        void *f = dlsym(lib, functions[i].name);
        memcpy((char *)&pr_z3 + functions[i].at, &f, sizeof f);
        if (f) continue;
        snprintf(problem, sizeof problem, "%s has no function %s", PR_Z3_LIBRARY, functions[i].name);
        return false;
    }
    return true;
}

const char *pr_z3_load(void)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static bool loaded; /* what failed is tried again: there may have been no memory */
    pthread_mutex_lock(&lock);
    if (!loaded) loaded = load();
    bool ok = loaded;
    pthread_mutex_unlock(&lock);
    return ok ? NULL : problem;
}
#endif
