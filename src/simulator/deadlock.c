/* SPDX-License-Identifier: MIT */
#include "simulator/deadlock.h"
#include "simulator/cells.h"
#include "simulator/line.h"
#include "simulator/scheduler.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRUITLESS_WAITS = 1000, SPINS = 8 };

/* Many times the time for which a thread spins before it yields its CPU. */
static uint64_t patience(void)
{
    return (uint64_t)FRUITLESS_WAITS * SPINS * simulated_spin_limit() *
               machine.local.pause +
           scheduler_patience();
}

void check_for_deadlock(uint64_t time)
{
    if (time > progress_at && time - progress_at > patience())
        report_deadlock();
}

static void print_last_writer(const void *address)
{
    uint16_t writer = line_of(address)->last_writer;
    if (writer == NOBODY)
        fprintf(stderr, ", which no thread has written");
    else if (thread_table[writer].state == THREAD_ENDED)
        fprintf(stderr, ", last written by thread %u, which has ended", writer);
    else
        fprintf(stderr, ", last written by thread %u", writer);
}

static void print_cell(const void *address, unsigned size)
{
    fprintf(stderr, " the cell %p with the value %" PRIu64, address,
            cell_value(address, size));
    print_last_writer(address);
}

static void print_thread(const struct thread *thread)
{
    fprintf(stderr, "  thread %u on CPU %u", thread->index, thread->cpu);
    if (thread->state == THREAD_PARKED && thread->parked_on) {
        fprintf(stderr, " sleeps on");
        print_cell(thread->parked_on, sizeof(uint32_t));
    } else if (thread->state == THREAD_WATCHES) {
        fprintf(stderr, " waits for");
        for (unsigned i = 0; i < thread->watch_count; i++) {
            fprintf(stderr, i ? "\n    and for" : "");
            print_cell(cell_at(thread->cell[i]), thread->watch[i].size);
        }
    } else if (!thread->waited_size) {
        fprintf(stderr, " runs without changing memory");
    } else {
        fprintf(stderr, " polls");
        print_cell(cell_at(thread->waited_cell), thread->waited_size);
    }
    fprintf(stderr, "\n");
}

void report_deadlock(void)
{
    fflush(stdout);
    fprintf(stderr, "hasp: the simulated program cannot end:\n");
    for (unsigned i = 0; i < thread_count; i++)
        if (thread_table[i].state != THREAD_ENDED)
            print_thread(&thread_table[i]);
    exit(EXIT_FAILURE);
}
