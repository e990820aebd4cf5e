/* SPDX-License-Identifier: MIT */
#include "explorer/clients/condition.h"

#include "explorer/clients/critical_sections.h"

#include "locks/waiting/policies.h"

/* A slot of the pool on a condition variable once more, this thread's or another's:
 * nobody may be at work on it any more. */
static void use_again(void)
{
    struct waiter *next = waiter_take();
    next->epoch += 1u << 8;
    waiter_give(next);
}

static uint32_t waiting_cell(const struct waiter *waiter)
{
    return WAITER_IN_CONDITION | waiter->epoch;
}

/* As src/preload/condition.c does it, with the queue in `sleeper`. */
static void wait_on_condition(void)
{
    lock();
    struct waiter *waiter = waiter_take();
    waiter->lock = &client_lock;
    waiter->epoch += 1u << 8;
    const uint32_t cell = waiting_cell(waiter);
    store_relaxed(&waiter->cell, cell);
    sleeper = waiter;
    store_release(&flag, 1);
    unlock();
    begin_operation();
    store_relaxed(&waiter->asleep, 1);
    do
        park(&waiter->cell, cell, NULL);
    while (load_acquire(&waiter->cell) == cell);
    uint32_t state = load_acquire(&waiter->cell) & 0xff;
    if (state != WAITER_WOKEN && state != WAITER_REQUEUED) {
        wait_for_grant(&waiter->cell, &waiter->asleep, SPIN_THEN_PARK, false, NULL);
        client_operations->adopted(&client_lock, waiter);
    } else {
        waiter_give(waiter);
        use_again();
        if (state == WAITER_REQUEUED)
            client_operations->relock(&client_lock);
        else
            client_operations->lock(&client_lock);
    }
    section();
    unlock();
    use_again();
}

static void signal_condition(void)
{
    spin_until(load_acquire(&flag));
    lock();
    struct waiter *waiter = sleeper;
    if (client_operations->adopt)
        client_operations->adopt(&client_lock, waiter);
    else if (end_condition_stay(waiter, WAITER_WOKEN))
        unpark(&waiter->cell, 1);
    section();
    unlock();
}

void condition(unsigned thread)
{
    if (thread == 0)
        wait_on_condition();
    else if (thread == 1)
        signal_condition();
    else
        enter();
}
