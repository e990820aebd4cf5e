/* SPDX-License-Identifier: MIT */
/* A CPU that a thread with a real-time priority occupies: others are preempted. */
#ifndef HASP_TESTS_UNIT_OCCUPIED_CPU_H
#define HASP_TESTS_UNIT_OCCUPIED_CPU_H

#include "crew.h"

#include <sched.h>

static struct {
    cpu_set_t cpu, others;
    struct atomic_u32 begun;
} occupied;

/* Work of a thread, until its subject is not 0. */
static void occupy(struct member *self)
{
    const struct sched_param most = {sched_get_priority_max(SCHED_FIFO)};
    const struct atomic_u32 *ends = self->subject;
    CHECK_EQUAL(sched_setaffinity(0, sizeof occupied.cpu, &occupied.cpu), 0);
    CHECK_EQUAL(pthread_setschedparam(pthread_self(), SCHED_FIFO, &most), 0);
    store_release(&occupied.begun, 1);
    while (!load_acquire(ends))
        ;
}

/* Chooses the CPU, and keeps the caller and the threads that it starts off it. False if
 * there is one CPU, or if real-time priorities are forbidden. */
static bool occupied_choose(void)
{
    const struct sched_param most = {sched_get_priority_max(SCHED_FIFO)}, none = {0};
    CHECK_EQUAL(sched_getaffinity(0, sizeof occupied.others, &occupied.others), 0);
    if (CPU_COUNT(&occupied.others) < 2 ||
        sched_setscheduler(0, SCHED_FIFO, &most) != 0)
        return false;
    CHECK_EQUAL(sched_setscheduler(0, SCHED_OTHER, &none), 0);
    CPU_ZERO(&occupied.cpu);
    for (int cpu = CPU_SETSIZE - 1; !CPU_COUNT(&occupied.cpu); cpu--)
        if (CPU_ISSET(cpu, &occupied.others))
            CPU_SET(cpu, &occupied.cpu);
    CPU_XOR(&occupied.others, &occupied.others, &occupied.cpu);
    CHECK_EQUAL(sched_setaffinity(0, sizeof occupied.others, &occupied.others), 0);
    return true;
}

/* Lets the caller run on all CPUs again. */
static void occupied_end(void)
{
    cpu_set_t all;
    CPU_OR(&all, &occupied.cpu, &occupied.others);
    CHECK_EQUAL(sched_setaffinity(0, sizeof all, &all), 0);
}

#endif
