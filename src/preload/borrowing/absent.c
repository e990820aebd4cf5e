/* SPDX-License-Identifier: MIT */
/* libhasp.so does not borrow: it has none of the hooks that make it safe. */
#include "preload/borrowing/borrowing.h"

#include "platform/platform.h"

void borrow_prepare(struct borrow_environment with)
{
    if (!with.off)
        complain("delegate grants in order and borrows no section: only `hasp run` "
                 "loads the library that does",
                 "");
}

void borrow_forked(void)
{
}

void borrow_hand_back(void)
{
}

void borrow_stop(void)
{
}

void borrow_before_unlock(const struct lock *lock)
{
    (void)lock;
}
