/* SPDX-License-Identifier: MIT */
#include "profiler/sample/thread_state.h"

#include "profiler/store/trace_file.h"

#include <sched.h>

uint64_t thread_cpu_ns(uint32_t tid)
{
    enum { OF_THREAD = 4, SCHEDULER = 2 }; /* the kernel's encoding of clocks */
    struct timespec time;
    if (clock_gettime((clockid_t)(~tid << 3 | OF_THREAD | SCHEDULER), &time) != 0)
        return 0;
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t woken_ns; /* when the sampler woke up */

void thread_states_begin(void)
{
    woken_ns = now_ns();
}

/* The sampler may have interrupted a thread whose last CPU is the sampler's. */
enum interrupted { NO, YES, UNKNOWN };

static enum interrupted is_interrupted(uint32_t tid)
{
    enum { SWITCH_NS = 100000 }; /* more than a switch to the sampler takes */
    const uint64_t ran = procfs_accounted_at(tid);
    const uint64_t here = procfs_accounted_at(current_thread()), now = now_ns();
    if (!ran || here < ran)
        return UNKNOWN;
    return here - ran < now - woken_ns + SWITCH_NS ? YES : NO;
}

/* Finds out whether a thread that is running or ready has a CPU, or would have one
 * without the sampler. Returns false if that is not known. */
static bool find_on_cpu(uint32_t tid, int cpu, bool runs, bool *on_cpu)
{
    *on_cpu = runs;
    if (runs || cpu != sched_getcpu())
        return true;
    const enum interrupted interrupted = is_interrupted(tid);
    *on_cpu = interrupted == YES;
    return interrupted != UNKNOWN;
}

/* Returns whether a thread was on a CPU for most of a period. */
static bool ran(uint64_t cpu_ns, uint64_t took_ns)
{
    return 2 * cpu_ns > took_ns;
}

bool thread_state_read(uint32_t tid, struct thread_state *state)
{
    struct procfs_state found;
    bool readable;
    const uint64_t cpu_before = thread_cpu_ns(tid), before = now_ns();
    if (!procfs_state_and_cpu(tid, &found)) {
        if (cpu_before && thread_cpu_ns(tid))
            trace->unread |= TRACE_NO_STATES;
        return false;
    }
    const uint64_t took = now_ns() - before;
    *state = (struct thread_state){.letter = found.letter};
    state->call.number = TRACE_CALL_UNKNOWN;
    if (found.letter == 'R') {
        const bool runs = ran(thread_cpu_ns(tid) - cpu_before, took);
        return find_on_cpu(tid, found.cpu, runs, &state->on_cpu);
    }
    if (!procfs_call(tid, &state->call, &readable)) {
        state->call.number = TRACE_CALL_UNKNOWN;
        if (!readable)
            trace->unread |= TRACE_NO_CALLS;
    }
    return true;
}
