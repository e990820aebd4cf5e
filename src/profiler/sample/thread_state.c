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

/* Returns whether a thread was on a CPU for most of a time. */
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
        state->on_cpu = ran(thread_cpu_ns(tid) - cpu_before, took);
        if (!state->on_cpu && cpu_count() == 1)
            state->on_cpu = true; /* the sampler uses the only CPU */
        return state->on_cpu || found.cpu != sched_getcpu();
    }
    if (!procfs_call(tid, &state->call, &readable)) {
        state->call.number = TRACE_CALL_UNKNOWN;
        if (!readable)
            trace->unread |= TRACE_NO_CALLS;
    }
    return true;
}
