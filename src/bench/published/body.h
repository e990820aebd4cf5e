/* SPDX-License-Identifier: MIT */
/*
 * The data that published forms of locks keep outside the line of the lock itself:
 * queue nodes, slots, the locks of NUMA nodes.
 *
 * Published forms are locks as given in their papers, for the validation of the
 * simulator: a paper's claims are compared with the published lock where Hasp's differs
 * from it. They are not for users: they have no time-outs, do not support fork, and a
 * lock must be released by the thread that acquired it. They only run on a simulated
 * machine, which never interrupts a thread between two operations on cells; so plain
 * data needs no lock.
 *
 * If the claims come from SSYNC (T. David, R. Guerraoui, V. Trigonakis, SOSP 2013), the
 * forms follow its published library, libslock: on the Opteron it prefetches lines for
 * writing and checks every 24 pauses, and it reaches a lock and a thread's state of it
 * through pointers in memory.
 *
 * The lock study (R. Guerraoui, H. Guiroux, R. Lachaize, V. Quema, V. Trigonakis,
 * "Lock - unlock: is that all?", TOCS 2019) has a library of its own, LiTL. With
 * PUBLISHED_STUDY, a form has LiTL's constants, trylock and layout in cache lines.
 */
#ifndef HASP_BENCH_PUBLISHED_BODY_H
#define HASP_BENCH_PUBLISHED_BODY_H

#include "locks/lock.h"
#include "platform/workers.h"

/* On a pair of lines of its own, and on the next line. */
#define PUBLISHED_ALONE __attribute__((aligned(CACHE_LINE)))
#define PUBLISHED_NEXT_LINE __attribute__((aligned(CACHE_LINE / 2)))

/* How a form differs from the lock of its paper. */
enum published_how {
    PUBLISHED_PLAIN = 0,
    PUBLISHED_BACK_OFF = 1, /* pauses about as long as the threads ahead need */
    PUBLISHED_PREFETCH = 2, /* prefetches the line for writing before it reads it */
    PUBLISHED_ADAPTIVE = 4, /* skips levels that met no contention */
    PUBLISHED_STUDY = 8,    /* as in the lock study's library */
    PUBLISHED_PARKS = 16,   /* waiters sleep after a while */
};

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

/* Returns the number of threads that a lock has nodes for: at least one for a CPU. */
uint32_t published_threads(void);

/* Returns the number of the calling thread, from 0. */
static inline uint32_t published_thread(void)
{
    return current_thread() - 1;
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
