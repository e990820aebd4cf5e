/* SPDX-License-Identifier: MIT */
/*
 * Measures the cost of the recorder on this machine, with a mutex and records of its
 * own, when recording begins. The costs go into the header; what timing adds to
 * measured durations is subtracted from them.
 */
#ifndef HASP_PROFILER_RECORD_CALIBRATE_H
#define HASP_PROFILER_RECORD_CALIBRATE_H

#include <pthread.h>

/* The operations of a mutex: the hooks, and the functions that they call. */
struct calibrate_operations {
    int (*lock)(pthread_mutex_t *), (*unlock)(pthread_mutex_t *);
    int (*next_lock)(pthread_mutex_t *), (*next_unlock)(pthread_mutex_t *);
};

/* Called while the thread is inside the recorder. */
void calibrate(const struct calibrate_operations *operations);

/* Measures the costs in the header again when there are several threads: a bare lock
 * costs more then and hides more of the overhead. */
void calibrate_again(void);

#endif
