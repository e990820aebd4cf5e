/* SPDX-License-Identifier: MIT */
/* Cells and their operations, implemented with the compiler's atomics. */
#ifndef HASP_PLATFORM_NATIVE_ATOMICS_H
#define HASP_PLATFORM_NATIVE_ATOMICS_H

#include "platform/native/fence.h"
#include "platform/native/single_threaded.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

#define load_relaxed(c) __atomic_load_n(&(c)->raw, __ATOMIC_RELAXED)
#define load_acquire(c) __atomic_load_n(&(c)->raw, __ATOMIC_ACQUIRE)
#define store_relaxed(c, v) __atomic_store_n(&(c)->raw, (v), __ATOMIC_RELAXED)
#define store_release(c, v) __atomic_store_n(&(c)->raw, (v), __ATOMIC_RELEASE)

#define exchange_relaxed(c, v) __atomic_exchange_n(&(c)->raw, (v), __ATOMIC_RELAXED)
#define exchange_acquire(c, v) __atomic_exchange_n(&(c)->raw, (v), __ATOMIC_ACQUIRE)
#define exchange_release(c, v) __atomic_exchange_n(&(c)->raw, (v), __ATOMIC_RELEASE)
#define exchange_acq_rel(c, v) __atomic_exchange_n(&(c)->raw, (v), __ATOMIC_ACQ_REL)

#define fetch_add_relaxed(c, v) __atomic_fetch_add(&(c)->raw, (v), __ATOMIC_RELAXED)
#define fetch_add_acquire(c, v) __atomic_fetch_add(&(c)->raw, (v), __ATOMIC_ACQUIRE)
#define fetch_add_release(c, v) __atomic_fetch_add(&(c)->raw, (v), __ATOMIC_RELEASE)
#define fetch_add_acq_rel(c, v) __atomic_fetch_add(&(c)->raw, (v), __ATOMIC_ACQ_REL)
#define fetch_or_relaxed(c, v) __atomic_fetch_or(&(c)->raw, (v), __ATOMIC_RELAXED)
#define fetch_or_acquire(c, v) __atomic_fetch_or(&(c)->raw, (v), __ATOMIC_ACQUIRE)
#define fetch_or_release(c, v) __atomic_fetch_or(&(c)->raw, (v), __ATOMIC_RELEASE)
#define fetch_or_acq_rel(c, v) __atomic_fetch_or(&(c)->raw, (v), __ATOMIC_ACQ_REL)

#define fetch_and_relaxed(c, v) __atomic_fetch_and(&(c)->raw, (v), __ATOMIC_RELAXED)
#define fetch_and_acquire(c, v) __atomic_fetch_and(&(c)->raw, (v), __ATOMIC_ACQUIRE)
#define fetch_and_release(c, v) __atomic_fetch_and(&(c)->raw, (v), __ATOMIC_RELEASE)
#define fetch_and_acq_rel(c, v) __atomic_fetch_and(&(c)->raw, (v), __ATOMIC_ACQ_REL)

#define compare_exchange_with(c, expected, desired, order)                             \
    __atomic_compare_exchange_n(&(c)->raw, (expected), (desired), false, (order),      \
                                __ATOMIC_RELAXED)
#define compare_exchange_relaxed(c, e, d)                                              \
    compare_exchange_with(c, e, d, __ATOMIC_RELAXED)
#define compare_exchange_acquire(c, e, d)                                              \
    compare_exchange_with(c, e, d, __ATOMIC_ACQUIRE)
#define compare_exchange_release(c, e, d)                                              \
    compare_exchange_with(c, e, d, __ATOMIC_RELEASE)
#define compare_exchange_acq_rel(c, e, d)                                              \
    compare_exchange_with(c, e, d, __ATOMIC_ACQ_REL)

#define fence_seq_cst() fence_native()

/* While there is one thread, plain accesses suffice: pthread_create orders them before
 * anything that a second thread does. */
static inline bool acquire_if(struct atomic_u32 *cell, uint32_t from, uint32_t to)
{
    if (single_threaded()) {
        if (load_relaxed(cell) != from)
            return false;
        store_relaxed(cell, to);
        return true;
    }
    return compare_exchange_acquire(cell, &from, to);
}

static inline bool release_if(struct atomic_u32 *cell, uint32_t from, uint32_t to)
{
    if (single_threaded()) {
        if (load_relaxed(cell) != from)
            return false;
        store_relaxed(cell, to);
        return true;
    }
    return compare_exchange_release(cell, &from, to);
}

static inline bool test_and_set_acquire(struct atomic_u32 *cell)
{
    if (single_threaded()) {
        bool was_set = load_relaxed(cell) != 0;
        store_relaxed(cell, 1);
        return was_set;
    }
    return exchange_acquire(cell, 1) != 0;
}

#endif
