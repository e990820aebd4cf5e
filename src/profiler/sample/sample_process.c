/* SPDX-License-Identifier: MIT */
#include "profiler/sample/sample_process.h"

#include "profiler/sample/procfs.h"
#include "profiler/threads/recordings.h"
#include "profiler/store/timeline.h"

#include <sys/resource.h>

enum {
    STATES = 32,         /* threads that are asked for their state; the rest by share */
    RECORDS_MOST = 6000, /* ten minutes, then every second one, and so on */
};

SERIES(moment_records, TRACE_MOMENTS, struct trace_moment, RECORDS_MOST);

static void double_weight(void *record)
{
    ((struct trace_moment *)record)->weight *= 2;
}

static struct timeline line = {&moment_records, double_weight, 1, 0};

void moments_forget(void)
{
    series_forget(&moment_records);
    line.stride = 1;
}

static uint64_t ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000;
}

/* All but what the sampler itself, the caller, used. */
static void look_at_process(struct trace_moment *moment)
{
    struct rusage all, own;
    if (getrusage(RUSAGE_SELF, &all) != 0 || getrusage(RUSAGE_THREAD, &own) != 0)
        return;
    moment->system_ns = ns(all.ru_stime) - ns(own.ru_stime);
    moment->cpu_ns = moment->system_ns + ns(all.ru_utime) - ns(own.ru_utime);
    moment->minor_faults = (uint64_t)(all.ru_minflt - own.ru_minflt);
    moment->major_faults = (uint64_t)(all.ru_majflt - own.ru_majflt);
    moment->voluntary = (uint64_t)(all.ru_nvcsw - own.ru_nvcsw);
    moment->involuntary = (uint64_t)(all.ru_nivcsw - own.ru_nivcsw);
}

static void look_at_threads(struct trace_moment *moment)
{
    static uint32_t skipped;
    uint32_t looked = 0, running = 0, at = 0;
    for (struct recording *thread = recordings_first(); thread; thread = thread->next) {
        struct trace_thread *shared = thread->shared;
        if (thread->ended)
            continue;
        moment->threads++;
        if (shared->waiting_for && shared->waiting_to != TRACE_WAIT &&
            shared->waiting_to != TRACE_BARRIER)
            moment->waiting++;
        if (at++ < skipped || looked == STATES)
            continue;
        looked++;
        running += proc_state(shared->tid) == 'R';
    }
    skipped = at > skipped + STATES ? skipped + STATES : 0;
    if (looked)
        moment->runnable = (running * moment->threads + looked / 2) / looked;
}

void moments_look(void)
{
    if (!timeline_turn(&line))
        return;
    struct trace_moment moment = {
        .ticks = ticks(),
        .weight = line.stride,
        .locks_created = trace->locks_created,
        .locks_destroyed = trace->locks_destroyed,
    };
    look_at_threads(&moment);
    look_at_process(&moment);
    timeline_add(&line, &moment);
}
