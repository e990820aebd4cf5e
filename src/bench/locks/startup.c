/* SPDX-License-Identifier: MIT */
/*
 * The time to start `true` and wait until it ends. It inherits the libraries that are
 * preloaded into this program.
 */
#include "bench/locks/bench.h"
#include "platform/platform.h"

#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { STARTS_MAX = 4096 };

static int compare_times(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left;
    uint64_t b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static bool start_once(struct result *result)
{
    char name[] = "true";
    char *arguments[] = {name, NULL};
    pid_t child;
    int error = posix_spawnp(&child, name, NULL, NULL, arguments, environ);
    if (error) {
        result_failed(result, "cannot start `true`: %s", strerror(error));
        return false;
    }
    int status;
    if (waitpid(child, &status, 0) != child || status != 0) {
        result_failed(result, "`true` ended with wait status 0x%x", (unsigned)status);
        return false;
    }
    return true;
}

void measure_startup(const struct options *options, struct result *result)
{
    static uint64_t times_ns[STARTS_MAX];
    unsigned count = 0;
    uint64_t start_ns = now_ns();
    uint64_t end_ns = start_ns + (uint64_t)(options->seconds * 1e9);
    uint64_t now = start_ns;
    while (now < end_ns && count < STARTS_MAX) {
        uint64_t before_ns = now;
        if (!start_once(result))
            return;
        now = now_ns();
        times_ns[count++] = now - before_ns;
        result->operations = count;
        result->seconds = (double)(now - start_ns) / 1e9;
    }
    qsort(times_ns, count, sizeof *times_ns, compare_times);
    result->value = (double)times_ns[count / 2] / 1e6;
}
