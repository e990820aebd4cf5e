/* SPDX-License-Identifier: MIT */
/*
 * Time-slice extensions of Linux 7.0 (Documentation/userspace-api/rseq.rst).
 *
 * A thread that holds a lock sets `request` in its restartable-sequences area. If the
 * scheduler wants its CPU then, the kernel sets `granted`, clears `request`, and lets
 * it run on, for 5 us by default. The thread gives the CPU up as soon as it has
 * released the lock, by any system call. glibc registers the area in the form that this
 * needs since 2.41.
 *
 * The area belongs to the thread and to the kernel when it interrupts the thread, so
 * only the compiler has to be restrained.
 */
#ifndef HASP_PLATFORM_NATIVE_TIME_EXTENSION_H
#define HASP_PLATFORM_NATIVE_TIME_EXTENSION_H

#include "platform/native/atomics.h"

#include <stdbool.h>

/* The distance in bytes from the thread pointer to the thread's struct rseq, the same
 * in all threads; 0 until a thread has been told that it gets extensions. */
extern struct atomic_u64 time_extension_area __attribute__((visibility("hidden")));

/* Members of struct rseq, <linux/rseq.h>. */
enum {
    TIME_EXTENSION_FLAGS = 16, /* a word, the next two are bytes */
    TIME_EXTENSION_REQUEST = 28,
    TIME_EXTENSION_GRANTED = 29,
    TIME_EXTENSION_ENABLED = 1 << 5, /* in the flags, by the kernel */
};

/* Called by a thread that is about to wait for a lock: makes the kernel accept its
 * requests. Returns false if it does not, or if a seccomp filter could forbid that. */
bool time_extension_prepare(void);

/* Called before a seccomp filter is installed: threads call prctl for this no more. */
void time_extension_forbid(void);

void time_extension_yield(void);

static inline volatile unsigned char *time_extension_byte(uint64_t area, int member)
{
    return thread_pointer() + (int64_t)area + member;
}

/* The caller holds a lock that others want. */
static inline void time_extension_ask(void)
{
    uint64_t area = load_relaxed(&time_extension_area);
    if (likely(area)) {
        *time_extension_byte(area, TIME_EXTENSION_REQUEST) = 1;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
}

/* The caller has released such a lock. */
static inline void time_extension_end(void)
{
    uint64_t area = load_relaxed(&time_extension_area);
    if (likely(area)) {
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        *time_extension_byte(area, TIME_EXTENSION_REQUEST) = 0;
        if (unlikely(*time_extension_byte(area, TIME_EXTENSION_GRANTED)))
            time_extension_yield();
    }
}

#endif
