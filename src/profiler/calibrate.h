/* SPDX-License-Identifier: MIT */
/*
 * What the recorder costs on this machine, measured when recording begins, on a mutex
 * and records of its own. It goes into the header, and what timing adds to the times
 * themselves is taken off them.
 */
#ifndef HASP_PROFILER_CALIBRATE_H
#define HASP_PROFILER_CALIBRATE_H

#include "profiler/record.h"

#include <pthread.h>

/* A mutex's operations: through the hooks, and what lies behind them. */
struct calibrate_operations {
    int (*lock)(pthread_mutex_t *), (*unlock)(pthread_mutex_t *);
    int (*next_lock)(pthread_mutex_t *), (*next_unlock)(pthread_mutex_t *);
};

struct calibrated {
    uint32_t unseen_ticks;  /* of a timed lock and unlock; see own.h */
    uint32_t hold_ticks;    /* what an empty hold measures */
    uint32_t section_ticks; /* what an empty section measures, more than it takes */
};
extern struct calibrated calibrated RECORD_HIDDEN;

/* The calling thread is inside. */
void calibrate(const struct calibrate_operations *operations);

/* The costs for the header once more, when there are several threads: a bare lock costs
 * more then, and hides more of ours. */
void calibrate_costs(const struct calibrate_operations *operations);

/* A duration without what timing it added. */
static inline uint64_t calibrated_ticks(uint64_t measured, uint32_t added)
{
    return measured > added ? measured - added : 0;
}

#endif
