/* SPDX-License-Identifier: MIT */
#include "simulator/deadlock.h"
#include "simulator/cells.h"
#include "simulator/line.h"
#include "simulator/scheduler.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { VAIN_TURNS = 1000, SPINS = 8 };

/* What a thread that spins waits before it offers its CPU, many times over. */
static uint64_t patience(void)
{
    return (uint64_t)VAIN_TURNS * SPINS * simulated_spin_limit() * machine.local.pause +
           scheduler_patience();
}

void look_for_deadlock(uint64_t time)
{
    if (time > progress_at && time - progress_at > patience())
        report_deadlock();
}

static void say_who_wrote(const void *address)
{
    uint16_t writer = line_of(address)->last_writer;
    if (writer == NOBODY)
        fprintf(stderr, ", which nobody ever wrote");
    else if (thread_table[writer].state == THREAD_ENDED)
        fprintf(stderr, ", last written by thread %u, which has ended", writer);
    else
        fprintf(stderr, ", last written by thread %u", writer);
}

static void say_cell(const void *address, unsigned size)
{
    fprintf(stderr, " the cell %p, which holds %" PRIu64, address,
            cell_value(address, size));
    say_who_wrote(address);
}

static void describe(const struct thread *thread)
{
    fprintf(stderr, "  thread %u on CPU %u", thread->index, thread->cpu);
    if (thread->state == THREAD_PARKED) {
        fprintf(stderr, " sleeps on");
        say_cell(thread->parked_on, sizeof(uint32_t));
    } else if (thread->state == THREAD_WATCHES) {
        fprintf(stderr, " waits for");
        for (unsigned i = 0; i < thread->sights; i++) {
            fprintf(stderr, i ? "\n    and for" : "");
            say_cell(thread->sight[i].address, thread->sight[i].size);
        }
    } else if (!thread->waited_for.address) {
        fprintf(stderr, " runs, but changes nothing");
    } else {
        fprintf(stderr, " looks again and again at");
        say_cell(thread->waited_for.address, thread->waited_for.size);
    }
    fprintf(stderr, "\n");
}

void report_deadlock(void)
{
    fflush(stdout);
    fprintf(stderr, "hasp: the simulated program can never end:\n");
    for (unsigned i = 0; i < thread_count; i++)
        if (thread_table[i].state != THREAD_ENDED)
            describe(&thread_table[i]);
    exit(EXIT_FAILURE);
}
