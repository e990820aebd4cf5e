/* SPDX-License-Identifier: MIT */
/*
 * What the recorder costs on this machine, measured when recording begins, on a mutex
 * and records of its own. It goes into the header, and what timing adds to the times
 * themselves is taken off them.
 */
#ifndef HASP_PROFILER_RECORD_CALIBRATE_H
#define HASP_PROFILER_RECORD_CALIBRATE_H

#include <pthread.h>

/* A mutex's operations: through the hooks, and what lies behind them. */
struct calibrate_operations {
    int (*lock)(pthread_mutex_t *), (*unlock)(pthread_mutex_t *);
    int (*next_lock)(pthread_mutex_t *), (*next_unlock)(pthread_mutex_t *);
};

/* The calling thread is inside. */
void calibrate(const struct calibrate_operations *operations);

/* The costs for the header once more, when there are several threads: a bare lock costs
 * more then, and hides more of ours. */
void calibrate_again(void);

#endif
