/* SPDX-License-Identifier: MIT */
/*
 * The platform contract: everything that lock code wants from the world.
 *
 * Lock code is written once against this header and compiled for several platforms:
 * natively (C11-style atomics, futexes), later on a simulated machine and under a model
 * checker. The include path picks the implementation: each platform folder has a
 * `backend.h` that defines what is listed here, as functions or as macros.
 *
 * CELLS. Shared memory is accessed through cells: struct atomic_u8, _u16, _u32, _u64,
 * each with one member `raw`. Zeroed memory is a cell holding 0. A cell is only ever
 * accessed through the operations below and always with its own size; `raw` is touched
 * by nobody else.
 *
 * ATOMICS. The memory order is in the name; there is no unnamed default. C11 semantics.
 *
 *   load_relaxed(c) load_acquire(c)
 *   store_relaxed(c, v) store_release(c, v)
 *   exchange_relaxed/acquire/release/acq_rel(c, v)             -> old value
 *   fetch_add_relaxed/acquire/release/acq_rel(c, v)            -> old value
 *   fetch_or_relaxed/acquire/release/acq_rel(c, v)             -> old value
 *   fetch_and_relaxed/acquire/release/acq_rel(c, v)            -> old value
 *   compare_exchange_relaxed/acquire/release/acq_rel(c, &expected, desired) -> bool
 *   acquire_if(c, from, to), release_if(c, from, to)           -> bool
 *   test_and_set_acquire(c)                                    -> bool
 *   fence_seq_cst()
 *
 * compare_exchange is strong; a failure is relaxed, and `expected` receives the value
 * seen. acquire_if and release_if are compare_exchange_acquire and _release without
 * that value. test_and_set writes 1 and tells whether the cell was not 0. A platform
 * may run these three as plain accesses while the process has one thread, as glibc does
 * with its own locks.
 *
 * ASYMMETRIC BARRIER. light_barrier() on the frequent side is free (compiler only);
 * heavy_barrier() -> bool on the rare side makes every light_barrier() of the process
 * act as a full fence at some point during the call. False: this platform cannot
 * (forbidden by a sandbox, old kernel); the caller needs a protocol that does without.
 *
 * WAITING. There are no bare loops. relax() says: what I have read since my last
 * relax() does not let me go on. A platform may suspend the caller until one of those
 * cells changes; natively it is a pause instruction. relax_at_most(n) -> turns is
 * relax() that may stand for up to n of them, if nothing changes meanwhile, and says
 * for how many it did; natively for one. Waiting that counts its turns uses that.
 * spin_until(condition) repeats relax() until true. yield() offers the CPU to other
 * threads. pause_for(n) spends the time of about n relax() and expects nothing.
 * prefetch_for_write(c) hints that the caller will soon write the cell's line.
 *
 * PARKING. park(cell, expected, deadline) sleeps if the cell (u32) still holds
 * `expected`, until an unpark on that address, a spurious wake-up, or the deadline
 * (NULL: none); returns false only when the deadline has passed. unpark(cell, n) wakes
 * up to n sleepers; it uses the address only and never reads the cell: the memory may
 * be gone. requeue(from, expected, to) moves one sleeper of `from` to the sleepers of
 * `to` without waking it, if `from` still holds `expected`. An interrupted sleep counts
 * as spurious.
 *
 * TIME. struct deadline { clockid_t clock; struct timespec at; }, absolute,
 * CLOCK_REALTIME or CLOCK_MONOTONIC. deadline_passed(d). now_ns(): monotonic
 * nanoseconds. ticks(): a counter that is cheaper to read, at a constant rate;
 * ticks_to_ns(difference).
 *
 * SPINNING. spin_limit(): how many relax() a waiter should spend before it parks, so
 * that spinning costs about as much as parking and being woken (Karlin et al.,
 * "Empirical studies of competitive spinning for a shared-memory multiprocessor", SOSP
 * 1991). Calibrated on the machine, never 0. yield_limit(): how many before a waiter
 * that never parks offers its CPU. CLOCK_SPINS: how many turns of waiting between two
 * looks at the clock, which costs about as much. HANDOVER_LIMIT: how many hand-overs in
 * a row a lock may keep within a group that it prefers. ARRAY_SLOTS: how many slots
 * suit a lock that has an array of them, one for each waiter.
 *
 * THREADS. current_thread(): an id that is not 0, unique among live threads (the
 * kernel's). current_thread_if_known(): the same without a call, or 0 in a thread that
 * never asked. single_threaded(): true only when no other thread can run. wait_begin()
 * -> token and wait_end(token, undo, argument) bracket a wait: asynchronous cancellation
 * is deferred in between; if one is pending at the end, undo(argument), unless NULL,
 * runs first. wait_is_asynchronous(token): whether the thread may be cancelled
 * asynchronously outside the bracket. fork_generation(): a number from 1 to 0xfffe that changes in the
 * child of every fork.
 *
 * TOPOLOGY. cpu_count(): CPUs this process may use (affinity and quota, at least 1).
 * node_count(), current_node(): NUMA nodes, and the one that the caller runs on now.
 *
 * MEMORY. map_pages(bytes): zeroed memory that is never given back, or NULL.
 *
 * FAILING. die(text) prints "hasp: text" on the standard error and aborts the process.
 *
 * TESTING. release_window() stands behind every store that releases a lock and has
 * something left to do. Nothing natively; the perturbed platform dawdles there, so that
 * what touches the lock too late meets unmapped memory.
 *
 * HINTS. likely(x), unlikely(x), CACHE_LINE (bytes between cells that must not share a
 * transfer unit, adjacent-line prefetch included).
 */
#ifndef HASP_PLATFORM_PLATFORM_H
#define HASP_PLATFORM_PLATFORM_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct atomic_u8 {
    uint8_t raw;
};
struct atomic_u16 {
    uint16_t raw;
};
struct atomic_u32 {
    uint32_t raw;
};
struct atomic_u64 {
    uint64_t raw;
};

struct deadline {
    clockid_t clock;    /* CLOCK_REALTIME or CLOCK_MONOTONIC */
    struct timespec at; /* absolute; tv_nsec valid */
};

#include "backend.h"

#define spin_until(condition)                                                          \
    do {                                                                               \
        while (!(condition))                                                           \
            relax();                                                                   \
    } while (0)

#endif
