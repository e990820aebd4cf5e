/* SPDX-License-Identifier: MIT */
/* False entries for the list, which the checks of properties.c have to detect. */
#ifndef HASP_TESTS_UNIT_WRONG_CLAIMS_H
#define HASP_TESTS_UNIT_WRONG_CLAIMS_H

#include "check.h"

#include "locks/list/descriptor.h"
#include "locks/memory/side_memory.h"

static void claim_fifo(struct lock_descriptor *lock)
{
    lock->fifo = true;
    lock->bypasses = false;
    lock->bypass_bound = 0;
}

static void claim_bound(struct lock_descriptor *lock)
{
    lock->bypass_bound = 3;
}

static void claim_overtaking(struct lock_descriptor *lock)
{
    lock->fifo = false;
    lock->bypasses = true;
    lock->bypass_bound = UINT32_MAX;
}

static void claim_numa(struct lock_descriptor *lock)
{
    lock->numa = true;
}

static void claim_parking(struct lock_descriptor *lock)
{
    lock->parks = true;
}

static void claim_spinning(struct lock_descriptor *lock)
{
    lock->parks = false;
}

static void claim_soft(struct lock_descriptor *lock)
{
    lock->trylock_hardened = false;
}

/* A trylock by an exchange: correct, but not hardened. */
static bool exchanging_trylock(struct lock *lock)
{
    if (exchange_acquire(&lock->state[0], 1) != 0)
        return false;
    store_relaxed(&lock->owner, current_thread());
    store_relaxed(&lock->word, 2);
    return true;
}

static void claim_hardened(struct lock_descriptor *lock)
{
    lock->operations.trylock = exchanging_trylock;
}

static void claim_no_waiters(struct lock_descriptor *lock)
{
    lock->waiter_bytes = 0;
}

static void claim_few_bytes(struct lock_descriptor *lock)
{
    lock->bytes = 4;
}

static int (*greedy_lock_inner)(struct lock *);

/* Allocates memory although no thread waits. */
static int greedy_lock(struct lock *lock)
{
    side_block_take();
    return greedy_lock_inner(lock);
}

static void claim_idle(struct lock_descriptor *lock)
{
    greedy_lock_inner = lock->operations.lock;
    lock->operations.lock = greedy_lock;
}

static void forgetful_destroy(struct lock *lock)
{
    (void)lock;
}

static void claim_given_back(struct lock_descriptor *lock)
{
    lock->operations.destroy = forgetful_destroy;
}

static void claim_nothing_outside(struct lock_descriptor *lock)
{
    lock->outside_bytes = lock->node_bytes = 0;
}

static const struct {
    const char *title, *lock;
    void (*make)(struct lock_descriptor *);
} wrong_claims[] = {
    {"barging is FIFO", "ttas", claim_fifo},
    {"waking all is FIFO", "futex", claim_fifo},
    {"barging is bounded", "ttas", claim_bound},
    {"a queue lets others overtake", "mcs", claim_overtaking},
    {"a queue knows nodes", "mcs", claim_numa},
    {"spinning is sleeping", "ticket", claim_parking},
    {"sleeping is spinning", "mcs-park", claim_spinning},
    {"a read is a write", "ttas", claim_soft},
    {"an exchange is a read", "ttas", claim_hardened},
    {"a queue without waiters", "mcs", claim_no_waiters},
    {"four bytes are enough", "ticket", claim_few_bytes},
    {"idle locks take memory", "ttas", claim_idle},
    {"side blocks are not freed", "c-bo-mcs", claim_given_back},
    {"side blocks are not counted", "c-bo-mcs", claim_nothing_outside},
};

#endif
