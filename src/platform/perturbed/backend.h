/* SPDX-License-Identifier: MIT */
/*
 * The perturbed platform, for stress tests: the native one with random delays between
 * operations. Schedules that otherwise need a preemption at exactly the wrong
 * instruction become common.
 */
#ifndef HASP_PLATFORM_PERTURBED_BACKEND_H
#define HASP_PLATFORM_PERTURBED_BACKEND_H

#include "platform/native/backend.h"

/* Operations of the calling thread until its next delay. */
extern __thread uint32_t perturb_left
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

void perturb_now(void);

static inline void perturb(void)
{
    if (unlikely(perturb_left-- == 0))
        perturb_now();
}

/* Parentheses around the name of a macro select the native function. */
#define relax() (perturb(), (relax)())
#define release_window() perturb_now()
#define park(cell, expected, at) (perturb(), (park)(cell, expected, at))
#define unpark(cell, count) (perturb(), (unpark)(cell, count))
#define requeue(from, expected, to) (perturb(), (requeue)(from, expected, to))
#define acquire_if(c, from, to) (perturb(), (acquire_if)(c, from, to))
#define release_if(c, from, to) (perturb(), (release_if)(c, from, to))
#define test_and_set_acquire(c) (perturb(), (test_and_set_acquire)(c))

#undef load_acquire
#undef equals_relaxed
#undef equals_acquire
#undef store_relaxed
#undef store_release
#undef exchange_relaxed
#undef exchange_acquire
#undef exchange_release
#undef exchange_acq_rel
#undef fetch_add_relaxed
#undef fetch_add_acquire
#undef fetch_add_release
#undef fetch_add_acq_rel
#undef compare_exchange_with
#undef fence_seq_cst

#define perturbed(access) (perturb(), access)
#define load_acquire(c) perturbed(__atomic_load_n(&(c)->raw, __ATOMIC_ACQUIRE))
#define store_relaxed(c, v) perturbed(__atomic_store_n(&(c)->raw, v, __ATOMIC_RELAXED))
#define store_release(c, v) perturbed(__atomic_store_n(&(c)->raw, v, __ATOMIC_RELEASE))
#define perturbed_exchange(c, v, order)                                                \
    perturbed(__atomic_exchange_n(&(c)->raw, v, order))
#define exchange_relaxed(c, v) perturbed_exchange(c, v, __ATOMIC_RELAXED)
#define exchange_acquire(c, v) perturbed_exchange(c, v, __ATOMIC_ACQUIRE)
#define exchange_release(c, v) perturbed_exchange(c, v, __ATOMIC_RELEASE)
#define exchange_acq_rel(c, v) perturbed_exchange(c, v, __ATOMIC_ACQ_REL)
#define perturbed_fetch_add(c, v, order)                                               \
    perturbed(__atomic_fetch_add(&(c)->raw, v, order))
#define fetch_add_relaxed(c, v) perturbed_fetch_add(c, v, __ATOMIC_RELAXED)
#define fetch_add_acquire(c, v) perturbed_fetch_add(c, v, __ATOMIC_ACQUIRE)
#define fetch_add_release(c, v) perturbed_fetch_add(c, v, __ATOMIC_RELEASE)
#define fetch_add_acq_rel(c, v) perturbed_fetch_add(c, v, __ATOMIC_ACQ_REL)
#define compare_exchange_with(c, expected, desired, order)                             \
    perturbed(__atomic_compare_exchange_n(&(c)->raw, expected, desired, false, order,  \
                                          __ATOMIC_RELAXED))
#define fence_seq_cst() perturbed(fence_native())

#endif
