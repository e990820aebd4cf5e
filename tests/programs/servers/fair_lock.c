/* SPDX-License-Identifier: MIT */
/* A FIFO lock: the thread that releases it hands it to the next one in the queue. */
#include "server.h"

struct fair_waiter {
    pthread_cond_t granted;
    bool has_lock;
    struct fair_waiter *next;
};

void fair_lock_acquire(struct fair_lock *lock)
{
    pthread_mutex_lock(&lock->inner);
    if (!lock->taken) {
        lock->taken = true;
        pthread_mutex_unlock(&lock->inner);
        return;
    }
    struct fair_waiter self = {PTHREAD_COND_INITIALIZER, false, NULL};
    if (lock->last)
        lock->last->next = &self;
    else
        lock->first = &self;
    lock->last = &self;
    while (!self.has_lock)
        pthread_cond_wait(&self.granted, &lock->inner);
    pthread_mutex_unlock(&lock->inner);
}

void fair_lock_release(struct fair_lock *lock)
{
    pthread_mutex_lock(&lock->inner);
    struct fair_waiter *next = lock->first;
    if (next) {
        lock->first = next->next;
        if (!lock->first)
            lock->last = NULL;
        next->has_lock = true;
        pthread_cond_signal(&next->granted);
    } else {
        lock->taken = false;
    }
    pthread_mutex_unlock(&lock->inner);
}
