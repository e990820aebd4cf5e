/* SPDX-License-Identifier: MIT */
/*
 * What published forms of locks keep outside the lock's own line: queue nodes, slots,
 * the locks of NUMA nodes.
 *
 * Published forms are locks as their papers give them, for the simulator's validation:
 * claims about such a lock can be compared with the very lock, where Hasp's differs.
 * They are no locks for users: there is no fork, no time-out, one thread a CPU, and a
 * lock is released by the thread that acquired it. They only run on a simulated
 * machine, where nobody comes in between two operations on cells; so what is plain
 * needs no lock.
 *
 * Where SSYNC (T. David, R. Guerraoui, V. Trigonakis, SOSP 2013) is the source of the
 * claims, the forms do as its published library libslock does: it fetches lines for
 * writing on the Opteron, looks every 24 pauses there, and reaches a lock and a
 * thread's part of it through pointers in memory.
 */
#ifndef HASP_BENCH_PUBLISHED_BODY_H
#define HASP_BENCH_PUBLISHED_BODY_H

#include "locks/lock.h"
#include "platform/workers.h"

/* A line of its own. */
#define PUBLISHED_ALONE __attribute__((aligned(CACHE_LINE)))

/* How an Opteron's variant waits: for a line in a writable state, and not too often. */
enum { PUBLISHED_PAUSES = 24 };
#define published_spin(cell, prefetch, condition)                                      \
    do {                                                                               \
        if (prefetch)                                                                  \
            prefetch_for_write(cell);                                                  \
        if (condition)                                                                 \
            break;                                                                     \
        if (prefetch)                                                                  \
            pause_for(PUBLISHED_PAUSES);                                               \
        else                                                                           \
            relax();                                                                   \
    } while (true)

/* Zeroed, made when first asked for; always the same size for a lock. */
void *published_body(struct lock *lock, size_t bytes);

/* Of the caller, from 0. */
static inline uint32_t published_thread(void)
{
    uint32_t thread = current_thread() - 1;
    if (thread >= cpu_count())
        die("published forms of locks are for one thread a CPU");
    return thread;
}

/* What a library keeps of a lock for each thread: pointers, here numbers. */
struct published_part {
    struct atomic_u32 lock; /* stands for the way to what the threads share */
    struct atomic_u32 mine, before;
} PUBLISHED_ALONE;

#endif
