/* SPDX-License-Identifier: MIT */
/* What the programs of all clients are made of. */
#ifndef HASP_EXPLORER_TURNS_H
#define HASP_EXPLORER_TURNS_H

#include "explorer/clients.h"

#include "locks/waiting/policies.h"

/* What the lock guards: the compiler reports every access, and the explorer finds the
 * unordered ones. */
extern uint32_t inside, sections;
extern struct waiter *sleeper;

extern struct atomic_u32 flag;
/* Relaxed: they say when, and order nothing. */
extern struct atomic_u32 arrived, served;

void section(void);
void lock(void);
bool trylock(void);
bool timedlock(void);
void unlock(void);
void take_turn(void);
void take_turn_if_in_time(void);
void take_turn_in_the_end(void); /* in time, or else without a deadline */

/* Whatever was done to the lock, it has to be as good as new in the end. */
void finish_free(void);

/* --- queues.c --- */
/* Threads after the first arrive one by one while it has the lock. */
void arrive(unsigned thread);
void wait_for_arrivals(unsigned count);
void hold_until_arrived(unsigned count);
void serve(void); /* a turn that others can see */
void queue_of_two(unsigned thread);
void queue_of_three(unsigned thread);
void queue_of_leavers(unsigned thread);

/* --- condition.c --- */
void condition(unsigned thread);

/* --- forks.c --- */
void fork_while_held(unsigned thread);
void fork_after_grant(unsigned thread);

#endif
