/* One command as a process of its own, several times: bench_process REPEAT LIMIT_S COMMAND [ARGUMENT...]
 *
 * Prints {"cpu_ms":…,"wall_ms":…,"peak_kib":…,"status":…}: least processor and wall time, largest resident size. A
 * small parent matters: a child begins with the resident size of the process that made it. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

pid_t wait4(pid_t, int *, int, struct rusage *);   /* not in POSIX */

static double ms(struct timeval t) { return (double)t.tv_sec * 1e3 + (double)t.tv_usec / 1e3; }

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

int main(int argc, char **argv)
{
    if (argc < 4) {
        fprintf(stderr, "bench_process REPEAT LIMIT_S COMMAND [ARGUMENT...]\n");
        return 2;
    }
    double cpu = 1e12, wall = 1e12;
    long peak = 0;
    int status = 0, repeat = atoi(argv[1]);
    for (int i = 0; i < (repeat > 0 ? repeat : 1); i++) {
        double from = now_ms();
        pid_t child = fork();
        if (child < 0) {
            perror("fork");
            return 2;
        }
        if (child == 0) {
            int nowhere = open("/dev/null", O_WRONLY);
            if (nowhere >= 0) dup2(nowhere, 1), dup2(nowhere, 2);
            alarm((unsigned)atoi(argv[2]));           /* ends the command, unless it asks for the signal itself */
            execvp(argv[3], argv + 3);
            _exit(127);
        }
        struct rusage used;
        if (wait4(child, &status, 0, &used) != child) return 2;
        double spent = now_ms() - from, busy = ms(used.ru_utime) + ms(used.ru_stime);
        if (spent < wall) wall = spent;
        if (busy < cpu) cpu = busy;
        if (used.ru_maxrss > peak) peak = used.ru_maxrss;
    }
    printf("{\"cpu_ms\":%.3f,\"wall_ms\":%.3f,\"peak_kib\":%ld,\"status\":%d}\n", cpu, wall, peak,
           WIFEXITED(status) ? WEXITSTATUS(status) : -1);
    return 0;
}
