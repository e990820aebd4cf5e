/* SPDX-License-Identifier: MIT */
/* Shared by the programs that test spin locks: a counter that loses updates if two
 * threads are in a critical section. */
#ifndef SPIN_CHECK_H
#define SPIN_CHECK_H

#include "check.h"

struct counted {
    pthread_spinlock_t lock;
    long counter;
    int rounds, threads, started;
    int yields; /* inside the critical section, so that it is preempted there */
};

CHECK_UNUSED static void count_once(struct counted *object)
{
    long before = *(volatile long *)&object->counter;
    check_dawdle(before);
    if (object->yields && before % 8 == 0)
        sched_yield();
    *(volatile long *)&object->counter = before + 1;
}

CHECK_UNUSED static void *lock_body(void *argument)
{
    struct counted *object = argument;
    check_meet(&object->started, object->threads);
    for (int i = 0; i < object->rounds; i++) {
        CHECK_OK(pthread_spin_lock(&object->lock));
        count_once(object);
        CHECK_OK(pthread_spin_unlock(&object->lock));
    }
    return NULL;
}

#endif
