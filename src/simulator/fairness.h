/* SPDX-License-Identifier: MIT */
/*
 * What Linux's scheduler makes of the CPU time that threads have had
 * (kernel/sched/fair.c), by scheduler.fairness of the machine:
 *
 * FAIRNESS_CREDIT, as until 6.5: a thread that wakes up preempts another only if it
 * has had clearly less, and one that has slept for long counts as if it had had less.
 * A CPU that becomes idle takes any queued thread.
 *
 * FAIRNESS_LAG, as since 6.6: it preempts if it has had no more. A queued thread that
 * ran less than half a millisecond ago (task_hot, which earlier versions have, too) is
 * moved to an idle CPU only after some ticks. Measured with 6.18: two threads that
 * yield to each other stayed together, beside an idle CPU, for 4 to 42 ms.
 */
#ifndef HASP_SIMULATOR_FAIRNESS_H
#define HASP_SIMULATOR_FAIRNESS_H

#include "simulator/scheduler.h"

/* Returns true if the thread, which wakes up, preempts one that has had `other`
 * cycles. */
bool fairness_preempts(struct schedule *schedule, uint64_t other);

/* Returns true if the queued thread may move to a CPU that has been idle so long. */
bool fairness_moves(const struct schedule *schedule, uint64_t idle_for, uint64_t now);

#endif
