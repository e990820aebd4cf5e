/* SPDX-License-Identifier: MIT */
#include "explorer/clients/exclusive.h"

void exclusion(unsigned thread)
{
    enter();
    if (thread == 0)
        enter();
}

void finish_exclusion(void)
{
    expect(sections == 4, "a critical section was lost");
    finish_free();
}

bool enter_as_last(void)
{
    lock();
    section();
    bool last = sections == 2;
    unlock();
    return last;
}

/* The first thread locks, the second unlocks for it, and the third one locks, too. */
void unlock_by_another(unsigned thread)
{
    if (thread == 0) {
        lock();
        section();
        store_release(&flag, 1);
    } else if (thread == 1) {
        spin_until(load_acquire(&flag));
        section();
        unlock();
    } else {
        enter();
    }
}
