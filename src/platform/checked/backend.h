/* SPDX-License-Identifier: MIT */
/*
 * The checked platform: every operation is a choice point of the explorer, which runs
 * the threads of a client one step at a time and explores every outcome that the memory
 * model allows (docs/checking.md).
 */
#ifndef HASP_PLATFORM_CHECKED_BACKEND_H
#define HASP_PLATFORM_CHECKED_BACKEND_H

#include "platform/checked/operations.h"

#define likely(x) (x)
#define unlikely(x) (x)
enum { CACHE_LINE = 128 };
enum { SPINLOCK_FREE = 1, SPINLOCK_HELD = 0 };

#define checked_at(c) &(c)->raw, sizeof(c)->raw
#define checked_value(c) __typeof__((c)->raw)
/* A cast that does not warn if the value is unused. */
#define checked_as(type, value) __extension__({ (type)(value); })

#define checked_read(c, order)                                                         \
    ((checked_value(c))checked_load(checked_at(c), (order), __func__))
#define load_relaxed(c) checked_read(c, CHECKED_RELAXED)
#define load_acquire(c) checked_read(c, CHECKED_ACQUIRE)
#define checked_write(c, v, order) checked_store(checked_at(c), (v), (order), __func__)
#define store_relaxed(c, v) checked_write(c, v, CHECKED_RELAXED)
#define store_release(c, v) checked_write(c, v, CHECKED_RELEASE)

#define checked_rmw(c, change, v, order)                                               \
    checked_as(checked_value(c),                                                       \
               checked_change(checked_at(c), (change), (v), (order), __func__))

#define exchange_relaxed(c, v) checked_rmw(c, CHECKED_EXCHANGE, v, CHECKED_RELAXED)
#define exchange_acquire(c, v) checked_rmw(c, CHECKED_EXCHANGE, v, CHECKED_ACQUIRE)
#define exchange_release(c, v) checked_rmw(c, CHECKED_EXCHANGE, v, CHECKED_RELEASE)
#define exchange_acq_rel(c, v) checked_rmw(c, CHECKED_EXCHANGE, v, CHECKED_ACQ_REL)

#define fetch_add_relaxed(c, v) checked_rmw(c, CHECKED_ADD, v, CHECKED_RELAXED)
#define fetch_add_acquire(c, v) checked_rmw(c, CHECKED_ADD, v, CHECKED_ACQUIRE)
#define fetch_add_release(c, v) checked_rmw(c, CHECKED_ADD, v, CHECKED_RELEASE)
#define fetch_add_acq_rel(c, v) checked_rmw(c, CHECKED_ADD, v, CHECKED_ACQ_REL)

#define fetch_or_relaxed(c, v) checked_rmw(c, CHECKED_OR, v, CHECKED_RELAXED)
#define fetch_or_acquire(c, v) checked_rmw(c, CHECKED_OR, v, CHECKED_ACQUIRE)
#define fetch_or_release(c, v) checked_rmw(c, CHECKED_OR, v, CHECKED_RELEASE)
#define fetch_or_acq_rel(c, v) checked_rmw(c, CHECKED_OR, v, CHECKED_ACQ_REL)

#define fetch_and_relaxed(c, v) checked_rmw(c, CHECKED_AND, v, CHECKED_RELAXED)
#define fetch_and_acquire(c, v) checked_rmw(c, CHECKED_AND, v, CHECKED_ACQUIRE)
#define fetch_and_release(c, v) checked_rmw(c, CHECKED_AND, v, CHECKED_RELEASE)
#define fetch_and_acq_rel(c, v) checked_rmw(c, CHECKED_AND, v, CHECKED_ACQ_REL)

#define checked_cas(c, e, d, order)                                                    \
    __extension__({                                                                    \
        checked_value(c) *checked_expected = (e), checked_wanted = *checked_expected;  \
        *checked_expected = (checked_value(c))checked_compare_exchange(                \
            checked_at(c), checked_wanted, (d), (order), __func__);                    \
        *checked_expected == checked_wanted;                                           \
    })
#define compare_exchange_relaxed(c, e, d) checked_cas(c, e, d, CHECKED_RELAXED)
#define compare_exchange_acquire(c, e, d) checked_cas(c, e, d, CHECKED_ACQUIRE)
#define compare_exchange_release(c, e, d) checked_cas(c, e, d, CHECKED_RELEASE)
#define compare_exchange_acq_rel(c, e, d) checked_cas(c, e, d, CHECKED_ACQ_REL)

#define checked_if(c, from, to, order)                                                 \
    (checked_compare_exchange(checked_at(c), (from), (to), (order), __func__) == (from))
#define acquire_if(c, from, to) checked_if(c, from, to, CHECKED_ACQUIRE)
#define release_if(c, from, to) checked_if(c, from, to, CHECKED_RELEASE)
#define test_and_set_acquire(c) (exchange_acquire(c, 1) != 0)
#define test_and_set_relaxed(c) (exchange_relaxed(c, 1) != 0) /* mutants only */

#define fence_seq_cst() checked_fence(__func__)
#define fence_after_atomic() checked_fence(__func__)
#define fence_before_stores() checked_fence(__func__)

#define light_barrier() checked_light_barrier(__func__)
#define heavy_barrier() checked_heavy_barrier(__func__)
#define heavy_barrier_works() (!checked_without_barrier)

#define relax() checked_relax(__func__)
#define relax_at_most(turns) (relax(), 1u)
#define yield() ((void)0)
#define pause_for(turns) ((void)(turns))
#define prefetch_for_read(c) ((void)(c))
#define prefetch_for_write(c) ((void)(c))

static inline bool checked_long_ago(const struct deadline *deadline)
{
    return deadline->at.tv_sec == 0 && deadline->at.tv_nsec == 0;
}

static inline enum checked_deadline checked_kind(const struct deadline *deadline)
{
    return !deadline                    ? CHECKED_NEVER
           : checked_long_ago(deadline) ? CHECKED_LONG_AGO
                                        : CHECKED_ANY_TIME;
}

#define deadline_passed(d) checked_deadline_passed(checked_long_ago(d), __func__)
#define park(c, expected, deadline)                                                    \
    checked_park(&(c)->raw, (expected), checked_kind(deadline), __func__)
#define unpark(c, count) checked_unpark(&(c)->raw, (count), __func__)
#define requeue(from, expected, to)                                                    \
    checked_requeue(&(from)->raw, (expected), &(to)->raw, __func__)

#define park_shared(c, expected, deadline) park(c, expected, deadline)
#define unpark_shared(c, count) unpark(c, count)

#define clock_ns(clock) ((void)(clock), checked_now_ns())
#define now_ns() checked_now_ns()
#define ticks() checked_now_ns()
#define ticks_to_ns(difference) ((uint64_t)(difference))

/* Longer spinning would not lead to new behaviour. */
enum { CLOCK_SPINS = 1, HANDOVER_LIMIT = 1, ARRAY_SLOTS = 2 };
enum { MODEL_CHECKED = 1, STATISTICS = 0 };
enum { BIASED_RELEASE = 1 };
enum { SLEEP_SLICE_NS = 0 };
#define spin_limit() checked_spin_limit()
#define yield_limit() 0u /* all iterations are alike */

#define current_thread() checked_thread()
#define current_thread_if_known() checked_thread_if_known()
#define expect_wait(waits) ((void)(waits))
#define single_threaded() false
#define wait_begin() 0
#define wait_is_asynchronous(token) ((void)(token), false)
#define wait_end(token, undo, argument) ((void)(token), (void)(undo), (void)(argument))
#define fork_generation() checked_fork_generation()
#define held_nodes() checked_held_nodes()
/* Clients end their threads by call_end_thread(). */
#define at_thread_end(function) ((void)(function), true)
#define is_forked_child() (checked_fork_generation() != 1)

/* A name is the id of the thread. */
static inline bool name_this_thread(struct thread_name *name)
{
    uint32_t nobody = 0;
    return compare_exchange_acq_rel(&name->thread, &nobody, checked_thread());
}

#define threads_can_die() checked_threads_can_die()
#define thread_is_gone(name) checked_thread_gone(load_acquire(&(name)->thread))

#define cpu_count() 2u
#define array_slots() ((uint32_t)ARRAY_SLOTS)
#define node_count() 2u
#define current_node() checked_node()
#define current_cohort() checked_node()

/* The program under check provides the threads of servers. */
enum { STARTS_THREADS = 0 };
#define start_thread(body, argument, urgency)                                          \
    ((void)(body), (void)(argument), (void)(urgency), false)

#define map_pages(bytes) checked_pages(bytes)
#define die(text) checked_die(text)
#define complain(text, detail) ((void)(text), (void)(detail))
#define release_window() ((void)0)

#endif
