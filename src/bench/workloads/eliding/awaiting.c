/* SPDX-License-Identifier: MIT */
#include "condition/wait.h"

/* The same names without excluding.h, which has a condition_signal() of its own. */
void awaiting_wait(const struct lock_operations *operations, const char *condition,
                   struct lock *lock);
bool awaiting_has_waiter(const char *condition);
void awaiting_wake(const struct lock_operations *operations, const char *condition,
                   bool all);

unsigned condition_flags_offset = 36;
static const struct lock_operations *waker; /* the operations of the waker's lock */

static const struct lock_operations *holder(struct lock *lock)
{
    (void)lock;
    return waker;
}

static bool sleep_here(struct atomic_u32 *cell, uint32_t expected,
                       const struct deadline *deadline)
{
    return park(cell, expected, deadline);
}

void awaiting_wait(const struct lock_operations *operations, const char *condition,
                   struct lock *lock)
{
    struct condition_wait wait = condition_begin(condition, lock);
    operations->unlock(lock);
    (void)condition_sleep(&wait, NULL, sleep_here);
    (void)condition_reacquire(&wait, operations);
}

bool awaiting_has_waiter(const char *condition)
{
    return condition_has_waiter(condition);
}

void awaiting_wake(const struct lock_operations *operations, const char *condition,
                   bool all)
{
    waker = operations;
    condition_wake(condition, all, holder);
}
