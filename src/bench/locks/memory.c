/* SPDX-License-Identifier: MIT */
/*
 * Resident bytes per mutex: the pthread_mutex_t itself and memory that the lock keeps
 * for it elsewhere, after each of two threads has locked each mutex once. The threads
 * go through the mutexes in the same direction, so they contend now and then, like
 * users of shared data.
 */
#include "bench/locks/harness.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct plot {
    struct crew crew;
    pthread_mutex_t *mutexes;
    unsigned count;
    long resident_before;
    pthread_mutex_t warm_up;
};

static struct plot plot = {.warm_up = PTHREAD_MUTEX_INITIALIZER};

/* Returns the resident anonymous memory in bytes, or -1 if it is unknown; code that is
 * paged in meanwhile does not count. Read from the page tables, because the process's
 * counters lag by up to 32 pages per CPU, which exceeds the effect to be measured. */
static long resident_bytes(void)
{
    char text[1024];
    int file = open("/proc/self/smaps_rollup", O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return -1;
    ssize_t length = read(file, text, sizeof text - 1);
    close(file);
    if (length <= 0)
        return -1;
    text[length] = '\0';
    const char *line = strstr(text, "\nAnonymous:");
    return line ? strtol(line + strlen("\nAnonymous:"), NULL, 10) * 1024 : -1;
}

/* Memory that a thread needs once is not a cost of each mutex. */
static void warm_up(struct worker *worker)
{
    (void)worker;
    pthread_mutex_lock(&plot.warm_up);
    pthread_mutex_unlock(&plot.warm_up);
}

static void work_walk(struct worker *worker)
{
    for (unsigned i = 0; i < plot.count && !crew_stopped(&plot.crew); i++) {
        pthread_mutex_lock(&plot.mutexes[i]);
        pthread_mutex_unlock(&plot.mutexes[i]);
        count_one(worker);
    }
}

static void create_mutexes(struct crew *crew)
{
    (void)crew;
    plot.resident_before = resident_bytes();
    for (unsigned i = 0; i < plot.count; i++)
        pthread_mutex_init(&plot.mutexes[i], NULL);
}

void measure_bytes_per_mutex(const struct options *options, struct result *result)
{
    size_t bytes = options->mutexes * sizeof *plot.mutexes;
    plot.count = options->mutexes;
    plot.mutexes = map_pages(bytes);
    if (!plot.mutexes) {
        result_failed(result, "out of memory for %u mutexes: lower --mutexes",
                      plot.count);
        return;
    }
    /* Huge pages would make unused bytes resident. */
    madvise(plot.mutexes, bytes, MADV_NOHUGEPAGE);
    plot.crew.work_bound = true;
    plot.crew.prepare = warm_up;
    plot.crew.before_go = create_mutexes;
    plot.crew.work = work_walk;
    bool ended = crew_run(&plot.crew, options->threads, options, result);
    long resident_after = resident_bytes();
    result->fairness = -1;
    if (plot.resident_before < 0 || resident_after < 0)
        result_failed(result, "the kernel has no /proc/self/smaps_rollup");
    else if (ended && result->operations < (double)plot.count * options->threads)
        result_collapsed(
            result, "only %.0f of %.0f acquisitions were done after %.1f s",
            result->operations, (double)plot.count * options->threads, result->seconds);
    else if (ended)
        result->value = (double)(resident_after - plot.resident_before) / plot.count;
}
