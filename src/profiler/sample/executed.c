/* SPDX-License-Identifier: MIT */
#include "profiler/sample/executed.h"

#include "profiler/sample/blocked_stack.h"
#include "profiler/store/clock.h"
#include "profiler/threads/hold_log.h"
#include "profiler/threads/lock_counts.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum {
    HZ = 4000,            /* while a thread is watched */
    STACK_BYTES = 1024,   /* copied with each sample */
    RING_BYTES = 1 << 16, /* for all samples of one tick */
    RECORDS_MOST = 1 << 14,
    SLOTS = 2 * RECORDS_MOST,
    PAUSE = 2, /* a thread is watched in one tick of so many */
};

SERIES(records, TRACE_EXECUTED, struct trace_executed, RECORDS_MOST);

static uint32_t slots[SLOTS]; /* numbers of records; only the sampler uses them */

/* The thread that is being watched. */
static struct watch {
    struct recording *thread; /* NULL: none */
    uint32_t lock, index;
    uintptr_t key;
    uint64_t acquisitions; /* of the lock by the thread, at the begin */
    struct trace_clock begin;
    struct perf_event_mmap_page *page;
} watch;

static size_t page_bytes;
static uint32_t tick;

void executed_prepare(bool filtered)
{
    page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    trace->executed_error = filtered ? EPERM : 0;
    trace->executed_hz = filtered ? 0 : HZ;
}

void executed_forget(void)
{
    if (load_relaxed(&records.count)) /* otherwise the pages stay untouched */
        memset(slots, 0, sizeof slots);
    watch.thread = NULL; /* the kernel does not copy the mapping to a child */
    series_forget(&records);
}

static long open_event(uint32_t tid)
{
    struct perf_event_attr attributes;
    memset(&attributes, 0, sizeof attributes);
    attributes.size = sizeof attributes;
    attributes.type = PERF_TYPE_SOFTWARE;
    attributes.config = PERF_COUNT_SW_CPU_CLOCK;
    attributes.sample_period = 1000000000 / HZ; /* ns */
    attributes.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME | PERF_SAMPLE_STACK_USER;
    attributes.sample_stack_user = STACK_BYTES;
    attributes.exclude_kernel = attributes.exclude_hv = 1;
    attributes.use_clockid = 1;
    attributes.clockid = CLOCK_MONOTONIC;
    return raw_syscall(SYS_perf_event_open, (long)&attributes, tid, -1, -1,
                       PERF_FLAG_FD_CLOEXEC, 0);
}

/* Maps the event's samples. The mapping keeps the event alive without its file. */
static bool map_event(uint32_t tid)
{
    const long file = open_event(tid);
    if (file < 0) {
        if (file != -ESRCH) {
            trace->executed_error = (uint32_t)-file;
            trace->executed_hz = 0;
        }
        return false;
    }
    void *mapped = mmap(NULL, page_bytes + RING_BYTES, PROT_READ | PROT_WRITE,
                        MAP_SHARED, (int)file, 0);
    raw_syscall(SYS_close, file, 0, 0, 0, 0, 0);
    if (mapped == MAP_FAILED) {
        trace->executed_error = ENOMEM;
        trace->executed_hz = 0;
        return false;
    }
    watch.page = mapped;
    return true;
}

void executed_watch(struct recording *thread, uint32_t index, uint32_t lock)
{
    if (watch.thread || !trace->executed_hz || tick % PAUSE != 0)
        return;
    if (!hold_log_begin(thread) || !map_event(thread->shared->tid))
        return;
    watch.thread = thread;
    watch.lock = lock;
    watch.index = index;
    watch.key = thread->hold[index].key;
    watch.acquisitions = lock_counts_seen(thread, watch.key);
    clock_read(&watch.begin);
}

static struct trace_executed *record_of(const struct trace_executed *like)
{
    const uint64_t hash =
        (like->address ^ ((uint64_t)like->lock << 32 | like->stack) << 7) *
        0x9e3779b97f4a7c15u;
    for (uint32_t at = (uint32_t)(hash >> 40) % SLOTS;; at = (at + 1) % SLOTS) {
        if (!slots[at])
            return series_append(&records, like, &slots[at]);
        struct trace_executed *record = series_at(&records, slots[at]);
        if (record->address == like->address && record->lock == like->lock &&
            record->stack == like->stack)
            return record;
    }
}

/* One record of the kernel, with the sample type of open_event. */
struct sample {
    struct perf_event_header header;
    uint64_t instruction, time_ns, stack_bytes;
    uint64_t stack[STACK_BYTES / sizeof(uint64_t)];
    uint64_t stack_used;
};

/* Returns whether the thread held the lock at a time. */
static bool held_at(uint64_t time, bool throughout)
{
    const struct record_hold *hold = &watch.thread->hold[watch.index];
    if (throughout || hold_log_contains(watch.thread, watch.lock, time))
        return true;
    return watch.thread->shared->depth > watch.index && hold->key == watch.key &&
           hold->timed && hold->got <= time;
}

/* Converts a time between the two readings. */
static uint64_t ticks_at(uint64_t ns, const struct trace_clock *end)
{
    const struct trace_clock *begin = &watch.begin;
    const uint64_t whole_ns = end->monotonic_ns - begin->monotonic_ns;
    if (ns <= begin->monotonic_ns || !whole_ns)
        return begin->ticks;
    return begin->ticks +
           (uint64_t)((double)(end->ticks - begin->ticks) *
                      (double)(ns - begin->monotonic_ns) / (double)whole_ns);
}

static void add_sample(const struct sample *sample)
{
    uint64_t used = sample->stack_bytes ? sample->stack_used / sizeof(uint64_t) : 0;
    if (used > STACK_BYTES / sizeof(uint64_t))
        used = STACK_BYTES / sizeof(uint64_t);
    const struct trace_executed new = {
        .address = sample->instruction,
        .lock = watch.lock,
        .stack = callers_in(sample->stack, (uint32_t)used),
    };
    struct trace_executed *record = record_of(&new);
    if (record)
        record->samples++;
}

/* Copies bytes out of the ring. */
static void copy(void *to, uint64_t from, size_t bytes)
{
    const unsigned char *ring = (const unsigned char *)watch.page + page_bytes;
    for (size_t i = 0; i < bytes; i++)
        ((unsigned char *)to)[i] = ring[(from + i) % RING_BYTES];
}

static void add_samples(const struct trace_clock *end, bool throughout)
{
    const uint64_t head = __atomic_load_n(&watch.page->data_head, __ATOMIC_ACQUIRE);
    struct sample sample;
    for (uint64_t at = 0; at < head; at += sample.header.size) {
        copy(&sample.header, at, sizeof sample.header);
        if (sample.header.size < sizeof sample.header)
            return;
        if (sample.header.type != PERF_RECORD_SAMPLE ||
            sample.header.size > sizeof sample)
            continue;
        sample.stack_bytes = 0;
        copy(&sample, at, sample.header.size);
        if (held_at(ticks_at(sample.time_ns, end), throughout))
            add_sample(&sample);
    }
}

void executed_end(void)
{
    struct trace_clock end;
    tick++;
    if (!watch.thread)
        return;
    clock_read(&end);
    const struct trace_thread *shared = watch.thread->shared;
    const bool throughout =
        shared->depth > watch.index && shared->held[watch.index] == watch.lock &&
        !watch.thread->hold[watch.index].timed &&
        lock_counts_seen(watch.thread, watch.key) == watch.acquisitions;
    add_samples(&end, throughout);
    munmap(watch.page, page_bytes + RING_BYTES);
    hold_log_end(watch.thread);
    watch.thread = NULL;
}
