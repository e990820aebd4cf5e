/* SPDX-License-Identifier: MIT */
/*
 * The operating system's part: which thread has which CPU.
 *
 * Each CPU has a queue of threads that want it and serves them in turn, a slice each;
 * there are no slices while nobody waits. A thread without a CPU of its own choice goes
 * to one that is idle: when it wakes up, its last CPU first, then one nearby; and a CPU
 * that becomes idle takes over a thread that waits for another one. Switching threads
 * and moving them costs time. What is left out: priorities, and that a thread which has
 * slept for long may preempt another one when it wakes up.
 *
 * While a thread is off its CPU, its stores still drain and lines that it asked for
 * still arrive. What it computes stops, and goes on when it is back.
 */
#ifndef HASP_SIMULATOR_SCHEDULER_H
#define HASP_SIMULATOR_SCHEDULER_H

#include "simulator/thread.h"

/* For each thread; the scheduler's own. */
struct schedule {
    bool on;        /* it has its CPU */
    bool pinned;    /* to that CPU */
    bool due;       /* off, and its EVENT_RESUME has come */
    bool computing; /* it was when it went off */
    bool watching;  /* that, or this */
    uint64_t off_since;
    uint64_t lost; /* how long it was off since its EVENT_RESUME was decided */
    uint64_t left; /* of its computing, once due */
    uint16_t next; /* in the queue of its CPU */
};
extern struct schedule schedules[];

extern bool scheduler_shares; /* threads have had to wait for CPUs in this run */

/* Before threads start. */
void scheduler_start(void);

/* Whether several threads use a core's cache, at once or in turn. */
static inline bool cores_are_shared(void)
{
    return machine.threads_per_core > 1 || scheduler_shares;
}

/* The first thing of each thread: on that CPU, or, for -1, where there are the fewest.
 * It is resumed as soon as it has its CPU, not before `now`. */
void scheduler_place(struct thread *thread, int cpu, uint64_t now);

bool scheduler_defer(struct thread *thread, uint64_t now);

/* An EVENT_RESUME has come for the thread: true if it runs on at once. Otherwise it
 * will be resumed later. */
static inline bool scheduler_resumes(struct thread *thread, uint64_t now)
{
    if (__builtin_expect(!scheduler_shares, 1))
        return true;
    const struct schedule *schedule = &schedules[thread->index];
    return (schedule->on && !schedule->lost) || scheduler_defer(thread, now);
}

/* It sleeps, or has ended: its CPU is free. */
void scheduler_sleeps(struct thread *thread, uint64_t now);

/* It sleeps no more: it is resumed as soon as it has a CPU, not before `now`. */
void scheduler_wakes(struct thread *thread, uint64_t now);

/* The running thread lets others go first. False: there are none. Otherwise it has to
 * block(). */
bool scheduler_yields(struct thread *thread, uint64_t now);

/* EVENT_SLICE: the time of the thread on that CPU is over. */
void scheduler_slice(unsigned cpu, uint64_t now);

/* Whether all threads that have CPUs wait for a line to change. */
bool scheduler_all_watch(void);

/* How long a thread may wait for a CPU, about. */
uint64_t scheduler_patience(void);

/* Cycles in which CPUs had threads, of all CPUs together. */
uint64_t scheduler_busy(uint64_t now);

#endif
