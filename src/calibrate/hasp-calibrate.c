/* SPDX-License-Identifier: MIT */
/*
 * Measures what parking costs: two threads pass a baton through futexes, each sleeping
 * until it is woken. Prints one JSON line: park_ns, the time from the wake-up call to
 * the sleeper running (median round trip / 2), and pause_ns, one spinning pause. Takes
 * about 0.1 s.
 *
 * The threads run on two CPUs if they may: a waiter that spins has a CPU of its own,
 * and what it would save is the wake-up of that CPU from idle, not a switch between
 * threads.
 */
#include "platform/platform.h"

#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { ROUNDS = 2000, WARM_UP = 200, PAUSES = 2000 };

static struct atomic_u32 turn;

/* Waits for `mine`, passes `other`. */
static void pass(uint32_t mine, uint32_t other)
{
    while (load_acquire(&turn) != mine)
        park(&turn, other, NULL);
    store_release(&turn, other);
    unpark(&turn, 1);
}

/* Keeps the calling thread on the n-th CPU that it may use, if there are two. */
static void stay_on(int n)
{
    cpu_set_t allowed, one;
    if (sched_getaffinity(0, sizeof allowed, &allowed) != 0 || CPU_COUNT(&allowed) < 2)
        return;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && n-- == 0)
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void *partner(void *unused)
{
    stay_on(1);
    for (int i = 0; i < ROUNDS; i++)
        pass(1, 0);
    return unused;
}

static int ascending(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

int main(void)
{
    static uint64_t round_ns[ROUNDS];
    pthread_t thread;
    if (pthread_create(&thread, NULL, partner, NULL) != 0) {
        fputs("hasp-calibrate: cannot create a thread\n", stderr);
        return 1;
    }
    stay_on(0);
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
