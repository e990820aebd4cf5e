/* SPDX-License-Identifier: MIT */
#include "borrowing/delegate.h"

#include "borrowing/run.h"
#include "locks/memory/fork_repair.h"
#include "locks/memory/shown_word.h"
#include "locks/waiting/slices.h"

static struct atomic_u32 *arrivals_of(struct lock *lock)
{
    return &lock->state[0];
}

static struct atomic_u32 *batch_of(struct lock *lock)
{
    return &lock->state[1];
}

static bool acquire_free(struct lock *lock)
{
    uint32_t free = 0;
    return load_relaxed(arrivals_of(lock)) == 0 &&
           compare_exchange_acquire(arrivals_of(lock), &free, TAIL_HELD);
}

/* See fork_repair.h. */
static void forget(struct lock *lock, bool held)
{
    uint32_t arrivals = load_relaxed(arrivals_of(lock));
    if (arrivals == 0 || arrivals == TAIL_HELD)
        return; /* none of the parent's threads is queued */
    store_relaxed(batch_of(lock), 0);
    store_relaxed(arrivals_of(lock), held ? TAIL_HELD : 0);
}

/* --- releasing --- */

/* Turns the arrivals into the batch, which is empty (R5). */
static void take_arrivals(struct lock *lock)
{
    uint32_t id = exchange_acquire(arrivals_of(lock), TAIL_QUEUED), first = 0;
    while (id != 0) {
        struct waiter *request = waiter_at(id);
        uint32_t earlier = load_relaxed(&request->next);
        store_relaxed(&request->next, first);
        first = id;
        id = earlier;
    }
    store_relaxed(batch_of(lock), first);
}

/* Releases the lock unless there are arrivals. The batch is empty. */
static bool release_free(struct lock *lock)
{
    uint32_t arrivals = load_relaxed(arrivals_of(lock));
    if (arrivals < TAIL_QUEUED ||
        !compare_exchange_release(arrivals_of(lock), &arrivals, 0))
        return false;
    release_window();
    return true;
}

/* Returns the first request of the batch and removes it; NULL if the batch is empty. */
static struct waiter *next_of_batch(struct lock *lock)
{
    uint32_t id = load_relaxed(batch_of(lock));
    if (id == 0)
        return NULL;
    struct waiter *request = waiter_at(id);
    store_relaxed(batch_of(lock), load_relaxed(&request->next));
    return request;
}

/* Returns whether the next request may be borrowed. If so, notes that its stretch is
 * handed back, because the lock may be unmapped by then; otherwise counts it. */
static bool is_bold(struct lock *lock)
{
    uint32_t caution = load_relaxed(&lock->state[2]);
    if (caution & 0xffff) {
        store_relaxed(&lock->state[2], caution - 1);
        return false;
    }
    uint32_t next = caution ? caution >> 15 : DELEGATE_CAUTION;
    next = next < DELEGATE_CAUTION_MOST ? next : DELEGATE_CAUTION_MOST;
    store_relaxed(&lock->state[2], next << 16 | next);
    return true;
}

/* A stretch has ended by the unlock. */
static void trust(struct lock *lock)
{
    store_relaxed(&lock->state[2], 0);
}

/* Passes the lock on. Returns a request that is BORROWED now, whose section the caller
 * has to run, or NULL if the lock is released or granted. */
static struct waiter *pass_on(struct lock *lock, bool borrows)
{
    shown_word_clear(lock); /* until the next holder sets it */
    for (;;) {
        struct waiter *request = next_of_batch(lock);
        if (!request) {
            if (release_free(lock))
                return NULL;
            take_arrivals(lock);
            continue;
        }
        if (borrows && request_state(load_relaxed(&request->cell)) == REQUEST_OFFERED &&
            is_bold(lock) && request_change(request, REQUEST_OFFERED, REQUEST_BORROWED))
            return request;
        if (request_finish(request, REQUEST_GRANTED) != REQUEST_LEFT)
            return NULL;
        waiter_give(request);
    }
}

/* Runs the sections of waiters, then passes the lock on. */
static void serve(struct lock *lock)
{
    struct waiter *ended = NULL;
    for (unsigned served = 0;; served++) {
        bool borrows = served < DELEGATE_MOST && borrow_continues();
        struct waiter *request = pass_on(lock, borrows);
        if (ended) /* D2 */
            request_finish(ended, REQUEST_RETURNED);
        if (!request)
            return;
        enum stretch_end how = borrow_run(request);
        if (how == STRETCH_HANDED_BACK) { /* D3 */
            request_finish(request, REQUEST_HANDED_BACK);
            return;
        }
        trust(lock);
        ended = request;
    }
}

static __attribute__((noinline)) void unlock_slowly(struct lock *lock)
{
    if (!borrow_begin()) {
        pass_on(lock, false);
        return;
    }
    serve(lock);
    borrow_end();
}

static int delegate_unlock(struct lock *lock)
{
    if (unlikely(borrow_unlocks(lock)))
        return 0;
    fork_repair_in_child(lock, forget);
    shown_word_clear(lock);
    if (load_relaxed(batch_of(lock)) != 0 || !release_free(lock))
        unlock_slowly(lock);
    return 0;
}

static void undo(void *lock)
{
    delegate_unlock(lock);
}

/* --- acquiring --- */

/* Queues the request. Returns false if the lock became free, and is now held. */
static bool enqueue(struct lock *lock, struct waiter *request)
{
    fork_repair_if_due(lock, forget);
    uint32_t latest = load_relaxed(arrivals_of(lock));
    for (;;) {
        if (latest == 0) {
            if (compare_exchange_acquire(arrivals_of(lock), &latest, TAIL_HELD))
                return false;
            continue;
        }
        store_relaxed(&request->next, latest >= TAIL_QUEUED ? 0 : latest);
        if (compare_exchange_release(arrivals_of(lock), &latest, request->link.id))
            return true;
    }
}

static bool delegate_trylock(struct lock *lock)
{
    if (!acquire_free(lock))
        return false;
    shown_word_set(lock, current_thread());
    return true;
}

static bool delegate_timedlock(struct lock *lock, const struct deadline *deadline)
{
    if (delegate_trylock(lock))
        return true;
    if (deadline_passed(deadline))
        return false;
    int token = wait_begin();
    struct waiter *request = waiter_take();
    bool acquired = true;
    if (!enqueue(lock, request)) {
        waiter_give(request);
    } else if (request_wait(request, REQUEST_WAITING, spin_limit(), deadline) ==
                   REQUEST_WAITING &&
               request_change(request, REQUEST_WAITING, REQUEST_LEFT)) {
        acquired = false; /* the next holder that finds it gives it back */
    } else {
        (void)load_acquire(&request->cell); /* granted at the last moment */
        waiter_give(request);
    }
    if (acquired)
        shown_word_set(lock, current_thread());
    wait_end(token, acquired ? undo : NULL, lock);
    return acquired;
}

static __attribute__((noinline)) int lock_slowly(struct lock *lock)
{
    int token = wait_begin();
    if (unlikely(wait_is_asynchronous(token))) {
        wait_end(token, NULL, NULL);
        lock_in_slices(lock, delegate_timedlock, NULL);
        return 0;
    }
    struct waiter *request = waiter_take();
    if (!enqueue(lock, request)) {
        waiter_give(request);
        shown_word_set(lock, current_thread());
        return 0;
    }
    uint32_t how = borrow_await(lock, request);
    if (how == REQUEST_GRANTED || how == REQUEST_BORROWED)
        shown_word_set(lock, current_thread());
    return 0;
}

static int delegate_lock(struct lock *lock)
{
    if (likely(acquire_free(lock))) {
        shown_word_set(lock, current_thread());
        return 0;
    }
    return lock_slowly(lock);
}

const struct lock_operations delegate_operations = {.lock = delegate_lock,
                                                    .trylock = delegate_trylock,
                                                    .timedlock = delegate_timedlock,
                                                    .unlock = delegate_unlock,
                                                    .destroy = destroy_nothing};
