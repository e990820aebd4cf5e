/* SPDX-License-Identifier: MIT */
/*
 * The bucket of Linux's hash table of futexes: one line with the number of waiters and
 * a spin lock, which waiters and wakers of a futex take (kernel/futex.c). Threads that
 * contend for the futex contend for this line, too.
 *
 *   KERNEL_LOCK_NONE     not simulated
 *   KERNEL_LOCK_TICKET   Linux on x86 from 3.14 to 4.1: those who wait for the lock
 *                        all poll the line, and the waker wakes others as its holder
 *   KERNEL_LOCK_QUEUE    since 4.2: they queue, each polls a line of its own, and the
 *                        waker wakes others after the release
 *
 * A thread is not preempted while it waits for the lock or holds it.
 */
#ifndef HASP_SIMULATOR_FUTEX_BUCKET_H
#define HASP_SIMULATOR_FUTEX_BUCKET_H

#include "simulator/thread.h"

struct futex_bucket;

/* Returns NULL if buckets are not simulated. The functions below accept that: they do
 * not count or lock anything then, and say that there may be waiters. */
struct futex_bucket *futex_bucket_of(const void *futex);

bool futex_bucket_has_waiters(struct futex_bucket *bucket);
void futex_bucket_count(struct futex_bucket *bucket, int change);
void futex_bucket_lock(struct futex_bucket *bucket);
void futex_bucket_unlock(struct futex_bucket *bucket);

#endif
