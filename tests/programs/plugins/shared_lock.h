/* SPDX-License-Identifier: MIT */
/* What deepbind.c and its plug-in share. */
#ifndef SHARED_LOCK_H
#define SHARED_LOCK_H

#include <pthread.h>
#include <sched.h>

struct shared_lock {
    pthread_mutex_t mutex;
    pthread_cond_t cond;
    long counter;
    int turn;
    int rounds;
};

#endif
