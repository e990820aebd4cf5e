/* SPDX-License-Identifier: MIT */
/*
 * The data that published forms of locks keep outside the line of the lock itself:
 * queue nodes, slots, the locks of NUMA nodes.
 *
 * Published forms are locks as given in their papers, for the validation of the
 * simulator: a paper's claims are compared with the published lock where Hasp's differs
 * from it. They are not for users: they have no time-outs, do not support fork, assume
 * one thread per CPU, and a lock must be released by the thread that acquired it. They
 * only run on a simulated machine, which never interrupts a thread between two
 * operations on cells; so plain data needs no lock.
 *
 * If the claims come from SSYNC (T. David, R. Guerraoui, V. Trigonakis, SOSP 2013), the
 * forms follow its published library, libslock: on the Opteron it prefetches lines for
 * writing and checks every 24 pauses, and it reaches a lock and a thread's state of it
 * through pointers in memory.
 */
#ifndef HASP_BENCH_PUBLISHED_BODY_H
#define HASP_BENCH_PUBLISHED_BODY_H

#include "locks/lock.h"
#include "platform/workers.h"

/* One cache line. */
#define PUBLISHED_ALONE __attribute__((aligned(CACHE_LINE)))

/* The variant for the Opteron waits with a writable line, and checks less often. */
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

/* Returns the body of a lock; the first call creates it, zeroed. All calls for one lock
 * pass the same size. */
void *published_body(struct lock *lock, size_t bytes);

/* Threads of the largest machine. */
enum { PUBLISHED_THREADS = 4096 };

/* Returns the number of the calling thread, from 0. */
static inline uint32_t published_thread(void)
{
    uint32_t thread = current_thread() - 1;
    if (thread >= cpu_count())
        die("published forms of locks are for one thread a CPU");
    return thread;
}

/* Returns 32 random bits. D. Knuth's MMIX generator, whose upper bits are the most
 * random; the increment differs by thread. */
static inline uint32_t published_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 2 * published_thread() + 1;
    return (uint32_t)(*state >> 32);
}

/* A library's per-thread state of a lock: pointers, represented by numbers here. */
struct published_thread_state {
    struct atomic_u32 lock; /* models the pointer to the shared state */
    struct atomic_u32 mine, before;
} PUBLISHED_ALONE;

#endif
