/* SPDX-License-Identifier: MIT */
/* Counts transfers, events and the energy that threads used. A CPU without a thread
 * counts as parked. */
#include "simulator/energy.h"
#include "platform/workers.h"
#include "simulator/clock.h"
#include "simulator/events.h"
#include "simulator/requests.h"
#include "simulator/scheduler.h"

static uint64_t closed_pj; /* of finished runs */

/* Returns picojoules: milliwatts times nanoseconds. */
static uint64_t energy(uint64_t cycles, uint64_t milliwatts)
{
    return ns_of_cycles(cycles) * milliwatts;
}

/* Returns the cycles that threads have spent waiting on a CPU, up to `time`. */
static uint64_t pausing(uint64_t time)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < thread_count; i++) {
        const struct thread *thread = &thread_table[i];
        sum += thread->pausing;
        if (thread->state == THREAD_WATCHES && schedules[i].on && time > thread->since)
            sum += time - thread->since - yielding_of(thread, time).spent;
    }
    return sum;
}

static uint64_t energy_of_run(uint64_t time)
{
    const uint64_t elapsed = time - run_started, all = elapsed * machine.cpus;
    const uint64_t busy = scheduler_busy(time), waiting = pausing(time);
    return energy(elapsed, machine.power.base_mw) +
           energy(busy > waiting ? busy - waiting : 0, machine.power.active_mw) +
           energy(waiting, machine.power.pausing_mw) +
           energy(all > busy ? all - busy : 0, machine.power.parked_mw);
}

void energy_close_run(void)
{
    closed_pj += energy_of_run(time_outside);
}

void platform_counts_now(struct platform_counts *counts)
{
    counts->transfers_local = transfers.local;
    counts->transfers_remote = transfers.remote;
    counts->energy_pj = closed_pj + (running ? energy_of_run(running->now) : 0) +
                        transfers.local * machine.power.transfer_local_pj +
                        transfers.remote * machine.power.transfer_remote_pj;
    counts->events = events.sequence;
    counts->known = true;
}
