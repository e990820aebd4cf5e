/* SPDX-License-Identifier: MIT */
#include "simulator/parking.h"
#include "simulator/cells.h"
#include "simulator/clock.h"
#include "simulator/event_loop.h"
#include "simulator/futex_bucket.h"
#include "simulator/scheduler.h"
#include "simulator/transactions.h"

enum { BUCKETS = 256, NONE = UINT16_MAX };

struct bucket {
    bool used;
    uint16_t first, last;
};
static struct bucket buckets[BUCKETS];

static struct bucket *bucket_of(const void *address)
{
    struct bucket *bucket = &buckets[((uintptr_t)address >> 2) % BUCKETS];
    if (!bucket->used)
        *bucket = (struct bucket){true, NONE, NONE};
    return bucket;
}

static void sleep_on(struct thread *thread, const void *address)
{
    struct bucket *bucket = bucket_of(address);
    thread->parked_on = thread->slept_on = address;
    thread->sleepers_next = NONE;
    if (bucket->first == NONE)
        bucket->first = thread->index;
    else
        thread_table[bucket->last].sleepers_next = thread->index;
    bucket->last = thread->index;
}

/* Removes and returns the first thread that sleeps on the address, or NULL. Unless
 * `only` is NULL, it considers that thread only. */
static struct thread *take_sleeper(const void *address, const struct thread *only)
{
    struct bucket *bucket = bucket_of(address);
    uint16_t before = NONE;
    for (uint16_t i = bucket->first; i != NONE; i = thread_table[i].sleepers_next) {
        struct thread *thread = &thread_table[i];
        if (thread->parked_on != address || (only && thread != only)) {
            before = i;
            continue;
        }
        if (before == NONE)
            bucket->first = thread->sleepers_next;
        else
            thread_table[before].sleepers_next = thread->sleepers_next;
        if (bucket->last == i)
            bucket->last = before;
        return thread;
    }
    return NULL;
}

/* Returns true if the thread's CPU is interrupted for it. */
static bool wake(struct thread *thread, uint64_t time)
{
    thread->parked_on = NULL;
    thread->parked += time - thread->since;
    thread->timeout_at = UINT64_MAX;
    return scheduler_wakes(thread, time);
}

/* Returns what it costs to wake the thread. Without a table, the idle time does not
 * matter, and searching for an idle CPU takes long. */
static struct wakeup wakeup_of(const struct thread *thread, uint64_t time)
{
    const bool matters = machine.wakeups.count != 0;
    return wakeup_after(matters ? scheduler_idle_for(thread, time) : 0);
}

void stop_sleeping(struct thread *thread, uint64_t time)
{
    take_sleeper(thread->parked_on, thread);
    thread->timed_out = true;
    wake(thread, time + wakeup_of(thread, time).futex_wake);
}

/* Enters the kernel, which drains the store buffer as an atomic does. */
static void call_kernel(struct thread *self)
{
    if (self->in_transaction)
        transaction_forbids(self);
    simulated_fence();
    self->now += machine.scheduler.futex_call;
    catch_up(self);
}

/* Joins the sleepers if the value is as expected and `at` is not over; *timely tells
 * which of the two it was. No event may come between the load and sleep_on(), so the
 * thread does not catch up with the time that the load has taken. */
static bool join_sleepers(struct thread *self, void *address, uint32_t expected,
                          uint64_t at, bool *timely)
{
    *timely = true;
    if (simulated_load(address, sizeof expected) != expected)
        return false;
    *timely = at > self->now;
    if (*timely)
        sleep_on(self, address);
    return *timely;
}

bool simulated_park(void *address, uint32_t expected, const struct deadline *deadline)
{
    struct thread *self = running;
    if (!self)
        simulated_die("code outside workers must not sleep");
    call_kernel(self);
    const uint64_t at = deadline ? cycles_of_deadline(deadline) : UINT64_MAX;
    struct futex_bucket *bucket = futex_bucket_of(address);
    bool timely;
    futex_bucket_count(bucket, 1);
    futex_bucket_lock(bucket);
    const bool joined = join_sleepers(self, address, expected, at, &timely);
    futex_bucket_unlock(bucket);
    if (!joined)
        futex_bucket_count(bucket, -1);
    if (!joined || !self->parked_on)
        return timely;
    self->since = self->now;
    self->timed_out = false;
    self->state = THREAD_PARKED;
    scheduler_sleeps(self, self->now);
    if (deadline) {
        set_timeout(self, at);
        progress_at = later(progress_at, at);
    }
    block();
    if (self->timed_out)
        futex_bucket_count(futex_bucket_of(self->slept_on), -1);
    return !self->timed_out;
}

/* Takes up to `count` sleepers out of the bucket, which the caller wakes afterwards.
 * Returns their number. One that is not asleep yet will see that it was taken. */
static unsigned take_sleepers(const void *address, uint32_t count,
                              struct futex_bucket *bucket,
                              struct thread *taken[THREADS_MAX])
{
    struct thread *sleeper;
    unsigned number = 0;
    for (; count && (sleeper = take_sleeper(address, NULL)); count--) {
        sleeper->parked_on = NULL;
        sleeper->timeout_at = UINT64_MAX;
        taken[number++] = sleeper;
        futex_bucket_count(bucket, -1);
    }
    return number;
}

/* The caller, whose call has ended its search for sleepers at `called`, wakes one, and
 * pays for the interrupt. A thread that stays on the caller's CPU needs none, only the
 * context switch. */
static void wake_by_call(struct thread *woken, struct thread *self, uint64_t called)
{
    const bool stays = woken->cpu == self->cpu && !scheduler_has_idle_cpu(woken);
    const struct wakeup cost = wakeup_of(woken, called);
    if (wake(woken, stays ? called : called + cost.futex_wake) &&
        woken->cpu != self->cpu)
        self->now += cost.waking;
}

void simulated_unpark(void *address, uint32_t count)
{
    struct thread *self = running;
    if (!self)
        return;
    struct futex_bucket *bucket = futex_bucket_of(address);
    const bool wakes_locked = machine.scheduler.kernel_lock == KERNEL_LOCK_TICKET;
    if (wakes_locked)
        simulated_fence(); /* in the kernel, before it looks for waiters */
    else
        call_kernel(self);
    if (!futex_bucket_has_waiters(bucket)) {
        if (wakes_locked)
            call_kernel(self);
        return;
    }
    futex_bucket_lock(bucket);
    if (wakes_locked)
        call_kernel(self);
    struct thread *taken[THREADS_MAX];
    const unsigned number = take_sleepers(address, count, bucket, taken);
    futex_bucket_unlock(bucket);
    const uint64_t called = self->now;
    for (unsigned i = 0; i < number; i++)
        if (taken[i]->state == THREAD_PARKED && !taken[i]->parked_on)
            wake_by_call(taken[i], self, called);
}

void simulated_requeue(void *from, uint32_t expected, void *to)
{
    struct thread *self = running, *sleeper;
    if (!self)
        return;
    call_kernel(self);
    struct futex_bucket *bucket = futex_bucket_of(from);
    futex_bucket_count(futex_bucket_of(to), 1);
    futex_bucket_lock(bucket);
    const bool moves = simulated_load(from, sizeof expected) == expected &&
                       (sleeper = take_sleeper(from, NULL));
    if (moves)
        sleep_on(sleeper, to);
    futex_bucket_unlock(bucket);
    futex_bucket_count(moves ? bucket : futex_bucket_of(to), -1);
}

void simulated_yield(void)
{
    struct thread *self = running;
    if (!self)
        return;
    call_kernel(self);
    if (scheduler_yields(self, self->now))
        block();
}
