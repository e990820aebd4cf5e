/* SPDX-License-Identifier: MIT */
/*
 * Which of two ways of waiting threads should use, by measurement.
 *
 *   eager    a waiter that spins goes on as soon as it can
 *   patient  it leaves the lock to the threads that use it for some more sections
 *
 * An eager waiter is best if threads have work to do outside of their sections. If they
 * return to the lock at once, sections alternate between threads, and each time the
 * cache lines of the lock, and of what it protects, move to another CPU. Then threads
 * that use the lock in turn, for dozens of sections each, are faster.
 *
 * The caller counts uses and compares how many of them a second each way reaches. The
 * current one is measured all the time, the other one is tried now and then for an
 * epoch, or less if it is far worse. What is used too rarely to gain anything stays
 * eager. Nothing in the record matters for exclusion or progress.
 */
#ifndef HASP_LOCKS_WAITING_PATIENCE_H
#define HASP_LOCKS_WAITING_PATIENCE_H

#include "platform/platform.h"

enum {
    PATIENCE_EPOCH_NS = 1 << 17,
    PATIENCE_EPOCHS_PAUSED = 16, /* after these, it was idle: nothing was measured */
    PATIENCE_TRIAL_LEAST = 3,    /* log2 of the epochs between two trials */
    PATIENCE_TRIAL_MOST = 7,
};

struct patience_record {
    uint32_t rate : 15; /* of the way in use: uses in PATIENCE_EPOCH_NS */
    uint32_t patient : 1, trial : 1;
    uint32_t left : 8;  /* epochs until the next trial */
    uint32_t pause : 3; /* log2 of the epochs between two trials */
    uint32_t waits : 4; /* for the caller, who need not look at every wait */
};

_Static_assert(sizeof(struct patience_record) == sizeof(uint32_t), "fits into a cell");

/* A trial is over: is the way on trial better? */
static inline void patience_judge(struct patience_record *record, uint32_t rate)
{
    record->trial = false;
    if (rate > record->rate + record->rate / 8u) {
        record->rate = rate & 0x7fff;
        record->pause = PATIENCE_TRIAL_LEAST;
    } else {
        record->patient = !record->patient;
        if (record->pause < PATIENCE_TRIAL_MOST)
            record->pause++;
    }
    record->left = (1u << record->pause) & 0xff;
}

/* An epoch is over, with this rate of uses. */
static inline void patience_end_epoch(struct patience_record *record, uint32_t rate,
                                      uint32_t worthwhile)
{
    if (record->trial) {
        patience_judge(record, rate);
        return;
    }
    if (record->rate)
        rate = (3 * record->rate + rate) / 4;
    record->rate = rate & 0x7fff;
    if (rate < worthwhile) {
        record->patient = false;
    } else if (record->left) {
        record->left--;
    } else {
        record->trial = true;
        record->patient = !record->patient;
    }
}

/* Whether the way on trial is so much worse that the trial may end early. */
static inline bool patience_is_hopeless(const struct patience_record *record,
                                        uint32_t ns, uint64_t rate)
{
    return record->trial && ns >= PATIENCE_EPOCH_NS / 8u && rate < record->rate / 2u;
}

/* There were `uses` in the last `ns`. Returns whether that was an epoch: then the
 * caller begins another one. `worthwhile`: the least rate that makes patience
 * useful. */
static inline bool patience_look(struct patience_record *record, uint32_t ns,
                                 uint32_t uses, uint32_t worthwhile)
{
    uint64_t rate = (uint64_t)uses * PATIENCE_EPOCH_NS / (ns | 1);
    if (ns < PATIENCE_EPOCH_NS && !patience_is_hopeless(record, ns, rate))
        return false;
    if (ns < PATIENCE_EPOCHS_PAUSED * PATIENCE_EPOCH_NS)
        patience_end_epoch(record, rate < 0x7fff ? (uint32_t)rate : 0x7fff, worthwhile);
    return true;
}

#endif
