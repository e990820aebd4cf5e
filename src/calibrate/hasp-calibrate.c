/* SPDX-License-Identifier: MIT */
/*
 * Measures the cost of parking: two threads pass a baton through futexes, each sleeping
 * until it is woken. Prints one JSON line: park_ns, the time from the wake-up call
 * until the sleeper runs (half the median round trip), and pause_ns, the time of one
 * pause instruction. Takes about 0.1 s.
 *
 * The threads run on two CPUs if possible: a waiter that spins has a CPU of its own, so
 * by spinning it saves waking that CPU from idle, not a context switch.
 *
 * With --topology, measures nothing and prints one JSON line about the groups of CPUs
 * that NUMA-aware locks keep a lock within: cohorts, their number; by_cache, whether
 * they are last-level caches and not NUMA nodes; also the online CPUs, their last-level
 * caches (0: unknown) and their NUMA nodes. HASP_COHORTS chooses, as under Hasp.
 */
#include "platform/platform.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 2000, WARM_UP = 200, PAUSES = 2000, CPUS_MAX = 1 << 15 };

static struct atomic_u32 baton; /* the thread that holds it, 0 or 1 */

/* Waits until the baton is at `mine` and passes it on to `other`. */
static void pass(uint32_t mine, uint32_t other)
{
    while (load_acquire(&baton) != mine)
        park(&baton, other, NULL);
    store_release(&baton, other);
    unpark(&baton, 1);
}

/* Pins the calling thread to the n-th CPU of its affinity mask, if there are two. */
static void pin_to(int n)
{
    const size_t bytes = CPU_ALLOC_SIZE(CPUS_MAX);
    cpu_set_t *allowed = CPU_ALLOC(CPUS_MAX), *one = CPU_ALLOC(CPUS_MAX);
    if (allowed && one && sched_getaffinity(0, bytes, allowed) == 0 &&
        CPU_COUNT_S(bytes, allowed) >= 2) {
        CPU_ZERO_S(bytes, one);
        for (int cpu = 0; cpu < CPUS_MAX; cpu++)
            if (CPU_ISSET_S(cpu, bytes, allowed) && n-- == 0)
                CPU_SET_S(cpu, bytes, one);
        sched_setaffinity(0, bytes, one);
    }
    CPU_FREE(allowed);
    CPU_FREE(one);
}

static void *partner(void *unused)
{
    pin_to(1);
    for (int i = 0; i < ROUNDS; i++)
        pass(1, 0);
    return unused;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

static int print_topology(void)
{
    const char *choice = getenv("HASP_COHORTS");
    if (choice)
        topology_choose_cohorts(choice);
    const struct cohorts found = topology_cohorts();
    printf("{\"schema\":1,\"cohorts\":%u,\"by_cache\":%s,\"cpus\":%u,"
           "\"caches\":%u,\"nodes\":%u}\n",
           found.count, found.by_cache ? "true" : "false", found.cpus, found.caches,
           found.nodes);
    return fflush(stdout) == 0 ? 0 : 1;
}

int main(int count, char **arguments)
{
    if (count == 2 && strcmp(arguments[1], "--topology") == 0)
        return print_topology();
    static uint64_t round_ns[ROUNDS];
    pthread_t thread;
    if (pthread_create(&thread, NULL, partner, NULL) != 0) {
        fputs("hasp-calibrate: cannot create a thread\n", stderr);
        return 1;
    }
    pin_to(0);
    uint64_t before = now_ns();
    for (int i = 0; i < ROUNDS; i++) {
        pass(0, 1);
        uint64_t now = now_ns();
        round_ns[i] = now - before;
        before = now;
    }
    pthread_join(thread, NULL);
    qsort(round_ns + WARM_UP, ROUNDS - WARM_UP, sizeof round_ns[0], ascending);
    uint64_t park_ns = round_ns[WARM_UP + (ROUNDS - WARM_UP) / 2] / 2;

    before = now_ns();
    for (int i = 0; i < PAUSES; i++)
        relax();
    double pause_ns = (double)(now_ns() - before) / PAUSES;
    printf("{\"schema\":1,\"park_ns\":%lu,\"pause_ns\":%.1f}\n", (unsigned long)park_ns,
           pause_ns);
    return fflush(stdout) == 0 ? 0 : 1;
}
