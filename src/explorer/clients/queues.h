/* SPDX-License-Identifier: MIT */
/* Clients whose threads queue in a known order while the first one holds the lock, so
 * that the search need not find the preemptions that lead there. */
#ifndef HASP_EXPLORER_CLIENTS_QUEUES_H
#define HASP_EXPLORER_CLIENTS_QUEUES_H

void wait_for_arrivals(unsigned count);
void arrive(unsigned thread); /* after the threads before it */
void enter_visibly(void); /* a critical section that other threads can observe */

void queue_of_two(unsigned thread);
void queue_of_three(unsigned thread);
void queue_of_leavers(unsigned thread);

/* No memory is left for a cohort that has none yet. */
void scarce_memory(unsigned thread);
void scarce_memory_and_leaver(unsigned thread);

/* A thread arrives while the lock goes from one cohort to the leader of another, or to
 * a thread with a deadline, which has no cohort. */
void two_cohorts(unsigned thread);
void cohort_and_leaver(unsigned thread);

/* A cohort's series ends while one of its threads waits and another locks again. */
void series_of_cohort(unsigned thread);

#endif
