/* SPDX-License-Identifier: MIT */
/*
 * The operating system's scheduler: which thread runs on which CPU.
 *
 * Each CPU has a queue of runnable threads and runs them round-robin, one time slice
 * each; no slices end while the queue is empty. A thread that is not pinned and wakes
 * up goes to an idle CPU: its last one, then one nearby. If there is none, it may
 * preempt the thread on its last CPU. A CPU that becomes idle steals a thread from the
 * queue of another. Who preempts whom, and who may move, is in fairness.h.
 * Switches and migrations cost time. There are no priorities.
 *
 * While a thread is off its CPU, its stores still drain and lines that it requested
 * still arrive. Its computation stops and continues when it is back.
 */
#ifndef HASP_SIMULATOR_SCHEDULER_H
#define HASP_SIMULATOR_SCHEDULER_H

#include "simulator/thread.h"

/* The scheduler's state of each thread. */
struct schedule {
    bool on;        /* it is on its CPU */
    bool pinned;    /* to that CPU */
    bool due;       /* its EVENT_RESUME came while it was off its CPU */
    bool computing; /* when it lost its CPU */
    bool watching;  /* when it lost its CPU */
    bool in_kernel; /* where it is not preempted */
    uint64_t off_since;
    uint64_t lost; /* time off its CPU since its EVENT_RESUME was queued */
    uint64_t left; /* remaining computation, once due */
    uint64_t served; /* time on CPUs, for fairness between threads that wake up */
    uint16_t next; /* in the queue of its CPU */
};
extern struct schedule schedules[];

/* See monitor.h; NULL: there is none. */
typedef void switch_monitor(const struct thread *thread, bool runs, uint64_t now);
extern switch_monitor *scheduler_monitor;

extern bool scheduler_shares; /* threads have had to queue for CPUs in this run */

/* Call this before threads start. */
void scheduler_start(void);

/* Returns true if several threads use a core's cache, simultaneously or in turn. */
static inline bool cores_are_shared(void)
{
    return machine.threads_per_core > 1 || scheduler_shares;
}

/* Places a new thread on that CPU or, for -1, on the CPU with the fewest threads. It is
 * resumed once it has the CPU, at `now` or later. */
void scheduler_place(struct thread *thread, int cpu, uint64_t now);

/* Returns true if threads are queued for that CPU. */
bool scheduler_is_wanted(unsigned cpu);

bool scheduler_defer(struct thread *thread, uint64_t now);

/* Handles an EVENT_RESUME. Returns true if the thread continues at once; otherwise it
 * will be resumed later. */
static inline bool scheduler_resumes(struct thread *thread, uint64_t now)
{
    if (__builtin_expect(!scheduler_shares, 1))
        return true;
    const struct schedule *schedule = &schedules[thread->index];
    return (schedule->on && !schedule->lost) || scheduler_defer(thread, now);
}

/* Frees the CPU of a thread that sleeps or has ended. */
void scheduler_sleeps(struct thread *thread, uint64_t now);

/* Returns whether a sleeping thread would get an idle CPU now. */
bool scheduler_has_idle_cpu(const struct thread *thread);

/* Returns for how long the CPU that it would get has been idle; 0 if it is busy. */
uint64_t scheduler_idle_for(const struct thread *thread, uint64_t now);

/* Makes a sleeping thread runnable. It is resumed once it has a CPU, at `now` or
 * later. Returns true if the thread's CPU is interrupted for it: it was idle, or is
 * preempted. */
bool scheduler_wakes(struct thread *thread, uint64_t now);

/* Yields the running thread's CPU. Returns false if no other thread wants it; otherwise
 * the caller must block(). */
bool scheduler_yields(struct thread *thread, uint64_t now);

/* Handles EVENT_SLICE: the time slice on that CPU ends. */
void scheduler_slice(unsigned cpu, uint64_t now);

/* Returns true if all threads on CPUs wait for a line to change. */
bool scheduler_all_watch(void);

/* Returns approximately how long a thread may have to wait for a CPU, in cycles. */
uint64_t scheduler_patience(void);

/* Returns the busy cycles of all CPUs together. */
uint64_t scheduler_busy(uint64_t now);

#endif
