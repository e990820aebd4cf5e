/* SPDX-License-Identifier: MIT */
/*
 * The simulated platform: every operation on a cell is executed on a simulated
 * multicore (src/simulator). Its memory model is x86-TSO, so memory orders make no
 * difference. Accesses to plain variables cost nothing: locks have few, in lines whose
 * cells they access at the same time.
 */
#ifndef HASP_PLATFORM_SIMULATED_BACKEND_H
#define HASP_PLATFORM_SIMULATED_BACKEND_H

#include "platform/simulated/operations.h"

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
enum { CACHE_LINE = 128 };
enum { SPINLOCK_FREE = 1, SPINLOCK_HELD = 0 };

#define simulated_value(c) __typeof__((c)->raw)
/* A cast that causes no warning if the value is unused. */
#define simulated_as(c, value) __extension__({ (simulated_value(c))(value); })

#define simulated_get(c) simulated_as(c, simulated_load(&(c)->raw, sizeof(c)->raw))
#define load_relaxed(c) simulated_get(c)
#define load_acquire(c) simulated_get(c)

#define simulated_set(c, v) simulated_store(&(c)->raw, sizeof(c)->raw, (v))
#define store_relaxed(c, v) simulated_set(c, v)
#define store_release(c, v) simulated_set(c, v)

#define simulated_rmw(c, change, v)                                                    \
    simulated_as(c, simulated_change(&(c)->raw, sizeof(c)->raw, (change), (v)))

#define exchange_relaxed(c, v) simulated_rmw(c, SIMULATED_EXCHANGE, v)
#define exchange_acquire(c, v) simulated_rmw(c, SIMULATED_EXCHANGE, v)
#define exchange_release(c, v) simulated_rmw(c, SIMULATED_EXCHANGE, v)
#define exchange_acq_rel(c, v) simulated_rmw(c, SIMULATED_EXCHANGE, v)
#define test_and_set_acquire(c) (simulated_rmw(c, SIMULATED_TEST_AND_SET, 1) != 0)

/* The addition wraps at the cell's width. */
#define simulated_sum(c, v) simulated_rmw(c, SIMULATED_ADD, (uint64_t)(v))
#define fetch_add_relaxed(c, v) simulated_sum(c, v)
#define fetch_add_acquire(c, v) simulated_sum(c, v)
#define fetch_add_release(c, v) simulated_sum(c, v)
#define fetch_add_acq_rel(c, v) simulated_sum(c, v)

#define fetch_or_relaxed(c, v) simulated_rmw(c, SIMULATED_OR, v)
#define fetch_or_acquire(c, v) simulated_rmw(c, SIMULATED_OR, v)
#define fetch_or_release(c, v) simulated_rmw(c, SIMULATED_OR, v)
#define fetch_or_acq_rel(c, v) simulated_rmw(c, SIMULATED_OR, v)

#define fetch_and_relaxed(c, v) simulated_rmw(c, SIMULATED_AND, v)
#define fetch_and_acquire(c, v) simulated_rmw(c, SIMULATED_AND, v)
#define fetch_and_release(c, v) simulated_rmw(c, SIMULATED_AND, v)
#define fetch_and_acq_rel(c, v) simulated_rmw(c, SIMULATED_AND, v)

#define simulated_cas(c, e, d)                                                         \
    __extension__({                                                                    \
        simulated_value(c) *simulated_expected = (e);                                  \
        uint64_t simulated_seen = *simulated_expected;                                 \
        bool simulated_done = simulated_compare_exchange(&(c)->raw, sizeof(c)->raw,    \
                                                         &simulated_seen, (d));        \
        *simulated_expected = (simulated_value(c))simulated_seen;                      \
        simulated_done;                                                                \
    })
#define compare_exchange_relaxed(c, e, d) simulated_cas(c, e, d)
#define compare_exchange_acquire(c, e, d) simulated_cas(c, e, d)
#define compare_exchange_release(c, e, d) simulated_cas(c, e, d)
#define compare_exchange_acq_rel(c, e, d) simulated_cas(c, e, d)

#define simulated_if(c, from, to)                                                      \
    simulated_compare_exchange(&(c)->raw, sizeof(c)->raw, &(uint64_t){(from)}, (to))
#define acquire_if(c, from, to) simulated_if(c, from, to)
#define release_if(c, from, to) simulated_if(c, from, to)

#define fence_seq_cst() simulated_fence()
#define fence_after_atomic() __asm__ volatile("" ::: "memory")
#define fence_before_stores() __asm__ volatile("" ::: "memory")
#define light_barrier() __asm__ volatile("" ::: "memory")
#define heavy_barrier() simulated_heavy_barrier()
#define heavy_barrier_works() true
#define prefetch_for_read(c) simulated_prefetch(&(c)->raw, false)
#define prefetch_for_write(c) simulated_prefetch(&(c)->raw, true)

#define relax() ((void)simulated_relax(UINT32_MAX))
#define relax_at_most(turns) simulated_relax(turns)
#define relax_or_yield(turns) simulated_relax_or_yield(yield_limit() + 1, (turns))
#define pause_for(turns) simulated_pause(turns)
#define yield() simulated_yield()

#define park(c, expected, deadline) simulated_park(&(c)->raw, (expected), (deadline))
#define unpark(c, count) simulated_unpark(&(c)->raw, (count))
#define park_shared(c, expected, deadline) park(c, expected, deadline)
#define unpark_shared(c, count) unpark(c, count)
#define requeue(from, expected, to)                                                    \
    simulated_requeue(&(from)->raw, (expected), &(to)->raw)

#define deadline_passed(d) simulated_deadline_passed(d)
#define clock_ns(clock) ((void)(clock), simulated_now_ns())
#define now_ns() simulated_now_ns()
#define ticks() simulated_ticks()
#define ticks_to_ns(difference) simulated_ticks_to_ns(difference)

/* These values are the same as on the native platform. */
enum { CLOCK_SPINS = 32, HANDOVER_LIMIT = 64, ARRAY_SLOTS = 16 };
enum { MODEL_CHECKED = 0, STATISTICS = 1 };
enum { BIASED_RELEASE = 1 };
enum { SLEEP_SLICE_NS = 1000000 };
#define spin_limit() simulated_spin_limit()
#define yield_limit() (8 * simulated_spin_limit())

#define current_thread() simulated_thread()
#define current_thread_if_known() simulated_thread_if_known()
#define expect_wait(waits) simulated_expect_wait(waits)
#define single_threaded() false
#define wait_begin() 0
#define wait_is_asynchronous(token) ((void)(token), false)
#define wait_end(token, undo, argument) ((void)(token), (void)(undo), (void)(argument))
#define fork_generation() 1u
#define held_nodes() simulated_held_nodes()
#define at_thread_end(function) ((void)(function), true)
#define is_forked_child() false

/* Threads do not end before their process. */
static inline bool name_this_thread(struct thread_name *name)
{
    uint32_t nobody = 0;
    return compare_exchange_acq_rel(&name->thread, &nobody, simulated_thread());
}

#define thread_is_gone(name) ((void)(name), false)
#define threads_can_die() false

#define cpu_count() simulated_cpus()

static inline uint32_t array_slots(void)
{
    uint32_t slots = ARRAY_SLOTS;
    while (slots < cpu_count())
        slots *= 2;
    return slots;
}

#define node_count() simulated_nodes()
#define current_node() simulated_node()
#define current_cohort() simulated_cohort()

/* The program under simulation provides the threads of servers. */
enum { STARTS_THREADS = 0 };
#define start_thread(body, argument, urgency)                                          \
    ((void)(body), (void)(argument), (void)(urgency), false)

#define map_pages(bytes) simulated_pages(bytes)
#define die(text) simulated_die(text)
#define release_window() ((void)0)

#endif
