/* SPDX-License-Identifier: MIT */
/* The interface between deepbind.c and its plug-in. */
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
