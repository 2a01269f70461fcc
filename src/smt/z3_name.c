/* Run by the build. Prints the file of the Z3 that programs linked with it load; with PR_Z3_LIBRARY: can it be opened
 * under that name? */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#ifdef PR_Z3_LIBRARY
int main(void) { return dlopen(PR_Z3_LIBRARY, RTLD_LAZY) ? 0 : 1; }
#else
#include <z3.h>
int main(void)
{
    Dl_info where;
    if (!dladdr((void *)Z3_get_full_version, &where) || !where.dli_fname) return 1;
    const char *slash = strrchr(where.dli_fname, '/');
    if (strncmp(slash ? slash + 1 : where.dli_fname, "libz3.", 6) != 0) return 1; /* the program itself: a static library */
    puts(where.dli_fname);
    return 0;
}
#endif
