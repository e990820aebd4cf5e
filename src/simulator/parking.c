/* SPDX-License-Identifier: MIT */
#include "simulator/parking.h"
#include "simulator/cells.h"
#include "simulator/clock.h"
#include "simulator/event_loop.h"
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
    thread->parked_on = address;
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

static void wake(struct thread *thread, uint64_t time)
{
    thread->parked += time - thread->since;
    thread->timeout_at = UINT64_MAX;
    thread->parked_on = NULL;
    scheduler_wakes(thread, time);
}

void stop_sleeping(struct thread *thread, uint64_t time)
{
    take_sleeper(thread->parked_on, thread);
    thread->timed_out = true;
    wake(thread, time + machine.scheduler.futex_wake);
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

bool simulated_park(void *address, uint32_t expected, const struct deadline *deadline)
{
    struct thread *self = running;
    if (!self)
        simulated_die("code outside workers must not sleep");
    call_kernel(self);
    if (simulated_load(address, sizeof expected) != expected)
        return true;
    /* No event may come between the load and the sleep, so the thread does not catch up
     * with the time that the load has taken. */
    uint64_t at = deadline ? cycles_of_deadline(deadline) : UINT64_MAX;
    if (at <= self->now)
        return false;
    self->since = self->now;
    self->timed_out = false;
    self->state = THREAD_PARKED;
    sleep_on(self, address);
    scheduler_sleeps(self, self->now);
    if (deadline) {
        set_timeout(self, at);
        progress_at = later(progress_at, at);
    }
    block();
    return !self->timed_out;
}

void simulated_unpark(void *address, uint32_t count)
{
    struct thread *self = running, *sleeper;
    if (!self)
        return;
    call_kernel(self);
    for (; count && (sleeper = take_sleeper(address, NULL)); count--)
        wake(sleeper, self->now + machine.scheduler.futex_wake);
}

void simulated_requeue(void *from, uint32_t expected, void *to)
{
    struct thread *self = running, *sleeper;
    if (!self)
        return;
    call_kernel(self);
    if (simulated_load(from, sizeof expected) == expected &&
        (sleeper = take_sleeper(from, NULL)))
        sleep_on(sleeper, to);
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
