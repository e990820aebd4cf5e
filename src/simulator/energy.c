/* SPDX-License-Identifier: MIT */
/* What the machine has counted: transfers, and energy by what its threads did. A CPU
 * without a thread counts as parked. */
#include "simulator/energy.h"
#include "platform/workers.h"
#include "simulator/clock.h"
#include "simulator/threads.h"

static uint64_t closed_pj; /* of runs that have ended */

/* Milliwatts times nanoseconds are picojoules. */
static uint64_t energy(uint64_t cycles, uint64_t milliwatts)
{
    return ns_of_cycles(cycles) * milliwatts;
}

static uint64_t energy_of_thread(const struct thread *thread, uint64_t time)
{
    const uint64_t end = thread->state == THREAD_ENDED ? thread->now : time;
    uint64_t pausing = thread->pausing, parked = thread->parked;
    if (thread->state == THREAD_WATCHES && end > thread->since)
        pausing += end - thread->since;
    if (thread->state == THREAD_PARKED && end > thread->since)
        parked += end - thread->since;
    const uint64_t idle = pausing + parked, all = end - thread->started;
    return energy(all > idle ? all - idle : 0, machine.power.active_mw) +
           energy(pausing, machine.power.pausing_mw) +
           energy(parked + (time - end), machine.power.parked_mw);
}

static uint64_t energy_of_run(uint64_t time)
{
    const uint64_t elapsed = time - run_started;
    uint64_t sum = energy(elapsed, machine.power.base_mw);
    sum += energy(elapsed, machine.power.parked_mw) * (machine.cpus - thread_count);
    for (unsigned i = 0; i < thread_count; i++)
        sum += energy_of_thread(&thread_table[i], time);
    return sum;
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
    counts->known = true;
}
