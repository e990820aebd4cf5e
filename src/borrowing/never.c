/* SPDX-License-Identifier: MIT */
/* The lock `delegate` without borrowing: requests are granted in order. */
#include "borrowing/run.h"

uint32_t borrow_await(struct lock *lock, struct waiter *request)
{
    (void)lock;
    return request_await_grant(request);
}

bool borrow_begin(void)
{
    return false;
}

void borrow_end(void)
{
}

bool borrow_continues(void)
{
    return false;
}

enum stretch_end borrow_run(struct waiter *request)
{
    (void)request;
    return STRETCH_HANDED_BACK;
}

bool borrow_unlocks(const struct lock *lock)
{
    (void)lock;
    return false;
}
