/* SPDX-License-Identifier: MIT */
#include "profiler/sample/sample_process.h"

#include "profiler/sample/procfs.h"
#include "profiler/sample/sample_tasks.h"
#include "profiler/threads/recordings.h"
#include "profiler/store/timeline.h"

#include <sys/resource.h>

enum {
    RECORDS_MOST = 6000, /* ten minutes; then every second sample, and so on */
};

SERIES(process_records, TRACE_PROCESS_SAMPLES, struct trace_process_sample,
       RECORDS_MOST);

static void double_weight(void *record)
{
    ((struct trace_process_sample *)record)->weight *= 2;
}

static struct timeline line = {&process_records, double_weight, 1, 0};

void sample_process_forget(void)
{
    series_forget(&process_records);
    line.stride = 1;
}

static uint64_t ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000;
}

/* Reads the usage of the process without that of the sampler, which calls this. */
static void read_usage(struct trace_process_sample *sample)
{
    struct rusage all, own;
    if (getrusage(RUSAGE_SELF, &all) != 0 || getrusage(RUSAGE_THREAD, &own) != 0)
        return;
    sample->system_ns = ns(all.ru_stime) - ns(own.ru_stime);
    sample->cpu_ns = sample->system_ns + ns(all.ru_utime) - ns(own.ru_utime);
    sample->minor_faults = (uint64_t)(all.ru_minflt - own.ru_minflt);
    sample->major_faults = (uint64_t)(all.ru_majflt - own.ru_majflt);
    sample->voluntary = (uint64_t)(all.ru_nvcsw - own.ru_nvcsw);
    sample->involuntary = (uint64_t)(all.ru_nivcsw - own.ru_nivcsw);
}

static void count_threads(struct trace_process_sample *sample)
{
    for (struct recording *thread = recordings_first(); thread; thread = thread->next) {
        const struct trace_thread *shared = thread->shared;
        if (thread->ended)
            continue;
        sample->threads++;
        if (shared->waiting_for && shared->waiting_to != TRACE_WAIT &&
            shared->waiting_to != TRACE_BARRIER)
            sample->waiting++;
    }
    sample->runnable = sample_tasks();
}

/* Reads how busy the whole machine is. */
static void read_machine(struct trace_process_sample *sample)
{
    static uint32_t cpus;
    if (!cpus)
        cpus = procfs_machine_cpus();
    sample->machine_cpus = cpus;
    sample->idle_ns = procfs_idle_ns();
}

void sample_process(void)
{
    if (!timeline_keeps_next(&line))
        return;
    struct trace_process_sample sample = {
        .ticks = ticks(),
        .weight = line.stride,
        .locks_created = trace->locks_created,
        .locks_destroyed = trace->locks_destroyed,
    };
    count_threads(&sample);
    read_usage(&sample);
    read_machine(&sample);
    timeline_add(&line, &sample);
}
