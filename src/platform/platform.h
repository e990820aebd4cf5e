/* SPDX-License-Identifier: MIT */
/*
 * The platform contract: everything that lock code needs from its environment.
 *
 * Lock code is written once against this header and compiled for several platforms:
 * natively (C11-style atomics, futexes), for the model checker and for a simulated
 * machine. The include path selects the implementation: each platform folder has a
 * `backend.h` that defines the operations below as functions or macros.
 *
 * CELLS. Shared memory is accessed through cells: struct atomic_u8, _u16, _u32, _u64,
 * each with one member `raw`. Zeroed memory is a cell that holds 0. A cell is accessed
 * only through the operations below, always with its own size; only a backend accesses
 * `raw`.
 *
 * ATOMICS. Each name states the memory order; there is no unnamed default. The
 * semantics are those of C11.
 *
 *   load_relaxed(c) load_acquire(c)
 *   equals_relaxed(c, v) equals_acquire(c, v)   -> load(c) == v; 64-bit cells only
 *   store_relaxed(c, v) store_release(c, v)
 *   exchange_relaxed/acquire/release/acq_rel(c, v)             -> old value
 *   fetch_add_relaxed/acquire/release/acq_rel(c, v)            -> old value
 *   fetch_or_relaxed/acquire/release/acq_rel(c, v)             -> old value
 *   fetch_and_relaxed/acquire/release/acq_rel(c, v)            -> old value
 *   compare_exchange_relaxed/acquire/release/acq_rel(c, &expected, desired) -> bool
 *   acquire_if(c, from, to), release_if(c, from, to)           -> bool
 *   test_and_set_acquire(c)                                    -> bool
 *   fence_seq_cst()
 *   fence_after_atomic()
 *   fence_before_stores()
 *
 * compare_exchange is strong. On failure its order is relaxed and it stores the value
 * found in `expected`. fence_after_atomic() makes the read-modify-write before it a
 * full fence, and fence_before_stores() orders all earlier accesses before the stores
 * that follow; on x86-64 neither is an instruction. acquire_if and release_if are
 * compare_exchange_acquire and _release that do not return that value. test_and_set
 * writes 1 and returns whether the cell was nonzero. While the process has one thread,
 * a platform may implement these three with plain accesses, as glibc does in its own
 * locks.
 *
 * ASYMMETRIC BARRIER. light_barrier() on the frequent side restrains only the compiler.
 * heavy_barrier() -> bool on the rare side makes every light_barrier() of the process
 * act as a full fence at some point during the call. It returns false where the
 * platform cannot do that (forbidden by a sandbox, old kernel); the caller then needs a
 * protocol that works without it. heavy_barrier_works() -> bool tells the frequent side
 * whether a light barrier, executed before the call, suffices. It is false unless the
 * platform has been told otherwise while there was one thread; when it becomes false
 * again, heavy_barrier() fails only after all earlier light barriers have acted as a
 * full fence. BIASED_RELEASE: 1 if locks may rely on it, 0 if they
 * should not even try.
 *
 * WAITING. Lock code never waits in a bare loop. relax() declares that the values read
 * since the last relax() do not let the caller proceed. A platform may suspend the
 * caller until one of those cells changes; natively, relax() is a pause instruction.
 * relax_at_most(n) -> iterations replaces up to n calls of relax() if nothing changes
 * meanwhile, and returns how many; natively 1. Waiting loops that count iterations use
 * it. spin_until(condition) repeats relax() until the condition is true. yield() offers
 * the CPU to other threads. relax_or_yield(&turns) is relax(), and then yield() after
 * more than yield_limit() of them; `turns`, 0 at first, counts those since the last
 * yield. A platform may suspend the caller as in relax(). pause_for(n) takes about as
 * long as n calls of relax() and does not wait for any cell. prefetch_for_read(c) and
 * prefetch_for_write(c) hint that the caller is about to read, or to write, the cell's
 * cache line.
 *
 * PARKING. park(cell, expected, deadline) sleeps if the cell (u32) still holds
 * `expected`, until an unpark on that address, a spurious wake-up, or the deadline
 * (NULL: none). It returns false only if the deadline has passed. unpark(cell, n) wakes
 * up to n sleepers; it uses only the address and never reads the cell, which may
 * already be unmapped. requeue(from, expected, to) moves one sleeper from `from` to
 * `to` without waking it, if `from` still holds `expected`. An interrupted sleep counts
 * as a spurious wake-up. SLEEP_SLICE_NS: how long a thread should sleep at most where a
 * process without Hasp may omit the wake-up; 0 if there is none. park_shared() and
 * unpark_shared() are the same for cells in memory that processes share.
 *
 * TIME. struct deadline { clockid_t clock; struct timespec at; }, absolute,
 * CLOCK_REALTIME or CLOCK_MONOTONIC. deadline_passed(d). clock_ns(clock): nanoseconds
 * by that clock; now_ns(): by CLOCK_MONOTONIC. ticks(): a counter with a constant rate
 * that is cheaper to read; ticks_to_ns(difference). Native only: ticks_after_all(),
 * which is read after all earlier instructions.
 *
 * SPINNING. spin_limit(): the number of relax() calls that a waiter should spend before
 * it parks, so that spinning costs about as much as parking and being woken (Karlin et
 * al., "Empirical studies of competitive spinning for a shared-memory multiprocessor",
 * SOSP 1991). Calibrated on the machine, never 0. yield_limit(): the number of relax()
 * calls before a waiter that never parks yields its CPU. CLOCK_SPINS: spin iterations
 * between two reads of the clock, chosen to take about as long as one read.
 * HANDOVER_LIMIT: the number of consecutive handovers within a group that a lock
 * prefers. array_slots(): the number of slots for a lock with an array of one slot per
 * waiter: a power of two, no less than ARRAY_SLOTS and cpu_count(), that never changes.
 *
 * THREADS. current_thread(): a nonzero id, unique among live threads (the kernel's
 * thread id). expect_wait(bool) notes whether the calling thread had to wait for the
 * last lock that it acquired on a slow path; its next acquisition then probably has to,
 * too. current_thread_if_known(): the id without a call, or 0 if the thread expects to
 * wait, has entries in held_nodes(), or has never called expect_wait().
 * single_threaded(): true only if no other thread can run. wait_begin() -> token and
 * wait_end(token, undo, argument) bracket a wait: asynchronous cancellation is deferred
 * in between; if one is pending at the end, undo(argument), unless NULL, runs first.
 * wait_is_asynchronous(token): whether the thread may be cancelled asynchronously
 * outside the bracket. fork_generation(): a number up to 0xfffe that changes in the
 * child of every fork; 1 only in a process that is not a forked child.
 * is_forked_child(): the same as fork_generation() != 1, but cheaper. held_nodes(): the
 * calling thread's struct held_nodes, zero in a new thread, inherited by the child of a
 * fork; only its thread uses it, and calls expect_wait(false) after it has added the
 * first entry or removed the last one. at_thread_end(function) -> bool: the calling
 * thread will call function() when it ends before its process does. One function for
 * each thread. False if that is impossible; nothing is called then.
 *
 * TIME EXTENSIONS. A holder can ask the scheduler not to take its CPU for some
 * microseconds. time_extension_prepare() -> bool: called before a wait for a lock;
 * false if requests of the calling thread will be in vain. The caller of
 * time_extension_ask() has acquired a lock, and calls time_extension_end() when it has
 * released it, which gives the CPU up if the caller has run for longer. Native only.
 *
 * LIVENESS. name_this_thread(name) stores the calling thread in a zeroed struct
 * thread_name, unless that holds another; returns whether it did. The name is valid in
 * other processes of the same PID namespace. thread_is_gone(name): whether the named
 * thread has ended; the caller then sees all that it did. False while nobody is named.
 * threads_can_die(): false if that can never be true.
 *
 * TOPOLOGY. cpu_count(): the CPUs that this process may use (affinity and quota), at
 * least 1. node_count(): the number of NUMA nodes. current_node(): the node that the
 * caller runs on. current_cohort(): the number of the group of CPUs that the caller
 * runs on, which NUMA-aware locks keep a lock within: a node, or a last-level cache
 * (cohort_rule.h).
 *
 * MEMORY. map_pages(bytes): zeroed memory that is never unmapped, or NULL.
 *
 * FAILING. die(text) prints "hasp: text" to standard error and aborts the process.
 * complain(text, detail) prints both, and returns.
 *
 * SERVERS. STARTS_THREADS: 1 if start_thread(body, argument, urgency) can start threads
 * of the library itself. They are detached and block all signals. With `urgency` 0,
 * they inherit the caller's scheduling; otherwise they run under SCHED_FIFO, with a
 * priority that grows with `urgency`, if the process may use it. start_thread() returns
 * false if it cannot start a thread. Where STARTS_THREADS is 0, the program under check
 * or simulation provides such threads itself.
 *
 * CHECKING. MODEL_CHECKED: 1 on the platform that explores every schedule, 0 elsewhere.
 * Code uses it for limits that are as small as possible there, since larger ones only
 * multiply the states, and for choices that it otherwise makes by measuring time.
 *
 * COUNTING. STATISTICS: 1 if code should count what it does for its users, 0 where that
 * would only multiply the states.
 *
 * TESTING. release_window() follows every store that releases a lock and after which
 * the releaser has more to do. Natively it does nothing; the perturbed platform delays
 * the caller there, so that code that accesses the lock too late hits unmapped memory.
 *
 * C LIBRARY. SPINLOCK_FREE, SPINLOCK_HELD: the word of its spin locks, a free one and
 * one that is held without waiters.
 *
 * HINTS. likely(x), unlikely(x), CACHE_LINE (the distance in bytes between cells that
 * must not be transferred together, adjacent-line prefetch included).
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

/* A thread's memory for locks/waiting/held_nodes.h, its position at its last barrier,
 * plus one (barriers/algorithms/positions.h), the id of its record of
 * rwlocks/read_holds.h, the server that it serves (delegation/server.h), the lock that
 * it waited for or tried last (locks/waiting/waited_for.h), its signals to a condition
 * variable that nobody waited on (condition/queue.h), when it released a lock within
 * its cohort (locks/algorithms/auto_cohorts.h), and the call that it keeps
 * (delegation/call.h). */
enum { HELD_NODES = 6 };

struct held_nodes {
    struct atomic_u16 count, seat;
    struct atomic_u32 reads, serves, waited, signalled, signals, released, call;
    struct {
        struct atomic_u32 lock, node;
    } entries[HELD_NODES];
};

/* A thread, among all processes. */
struct thread_name {
    struct atomic_u32 thread, process;
    struct atomic_u64 started; /* distinguishes threads with the same id; 0: unknown */
};

struct deadline {
    clockid_t clock;    /* CLOCK_REALTIME or CLOCK_MONOTONIC */
    struct timespec at; /* absolute; tv_nsec valid */
};

#include "backend.h"

/* For backends that have no single instruction for this. */
#ifndef equals_acquire
#define equals_relaxed(c, v) (load_relaxed(c) == (v))
#define equals_acquire(c, v) (load_acquire(c) == (v))
#endif

#define spin_until(condition)                                                          \
    do {                                                                               \
        while (!(condition))                                                           \
            relax();                                                                   \
    } while (0)

#ifndef relax_or_yield
static inline void relax_or_yield(uint32_t *turns)
{
    relax();
    if (++*turns > yield_limit()) {
        *turns = 0;
        yield();
    }
}
#endif

#endif
