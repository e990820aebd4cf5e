/* SPDX-License-Identifier: MIT */
/* A plug-in that locks, counts and waits with the mutex and condvar of the program. */
#include "plugins/shared_lock.h"

__attribute__((visibility("default"))) int plugin_count(struct shared_lock *shared)
{
    for (int i = 0; i < shared->rounds; i++) {
        if (i % 4 == 0) {
            while (pthread_mutex_trylock(&shared->mutex) != 0)
                sched_yield();
        } else if (pthread_mutex_lock(&shared->mutex) != 0) {
            return 1;
        }
        long before = shared->counter;
        if (before % 16 == 0)
            sched_yield();
        shared->counter = before + 1;
        if (pthread_mutex_unlock(&shared->mutex) != 0)
            return 2;
    }
    return 0;
}

__attribute__((visibility("default"))) int plugin_take_turns(struct shared_lock *shared)
{
    if (pthread_mutex_lock(&shared->mutex) != 0)
        return 1;
    for (int i = 0; i < shared->rounds; i++) {
        while (shared->turn != 1)
            if (pthread_cond_wait(&shared->cond, &shared->mutex) != 0)
                return 2;
        shared->turn = 0;
        if (pthread_cond_broadcast(&shared->cond) != 0)
            return 3;
    }
    return pthread_mutex_unlock(&shared->mutex) ? 4 : 0;
}
