/* SPDX-License-Identifier: MIT */
#include "profiler/record/calibrate.h"

#include "profiler/record/record.h"
#include "profiler/store/unwind.h"
#include "profiler/threads/sampling_rate.h"

#include <string.h>
#include <sys/mman.h>

enum {
    BATCHES = 12, /* the fastest is used */
    COUNTED = 200,
    TIMED = 30, /* fewer than are summed up before a write (stack_profile.c) */
    STACKS = 8,
};

static struct calibrate_operations operations;

/* Records of a thread that are not in the file. */
struct scratch {
    struct recording me;
    struct trace_thread thread;
    struct trace_site_stats use;
    pthread_mutex_t mutex;
    struct record_tag tags[TRACE_CHUNK / sizeof(struct trace_lock_count)];
    _Alignas(64) unsigned char counts[TRACE_CHUNK];
};

/* The fastest batch, in ticks per lock and unlock. */
struct quickest {
    uint64_t bare, counted, timed, overhead, hold, section, stack;
    uint64_t between, inspected; /* of a pair after a timed one */
};

static void keep(uint64_t *quickest, uint64_t ticks)
{
    if (!*quickest || ticks < *quickest)
        *quickest = ticks;
}

static uint64_t lock_often(pthread_mutex_t *mutex, unsigned times,
                           int (*lock)(pthread_mutex_t *),
                           int (*unlock)(pthread_mutex_t *))
{
    uint64_t began = ticks();
    for (unsigned i = 0; i < times; i++) {
        lock(mutex);
        unlock(mutex);
    }
    return (ticks() - began) * 16 / times; /* sixteenths of a tick */
}

static void run_counted(struct scratch *s, const struct calibrate_operations *o,
                        struct quickest *quickest)
{
    s->me.skip = sampling.sampled_mode ? COUNTED : 0;
    s->me.until_timed = 2 * COUNTED;
    record_leave(&s->me);
    keep(&quickest->counted, lock_often(&s->mutex, COUNTED, o->lock, o->unlock));
    record_enter(&s->me);
}

/* Makes the next pair a timed one. */
static void time_next(struct scratch *s)
{
    s->me.period = s->me.drawn = s->me.until_timed = 1;
    s->me.skip = 0;
    s->me.between_since = s->me.between_own.timed = 0;
    s->me.window_timed = 0;
    s->me.involuntary_read_at = ticks(); /* avoids a system call */
}

static void run_timed(struct scratch *s, const struct calibrate_operations *o,
                      struct quickest *quickest)
{
    uint64_t took = 0;
    s->use.hold_ticks = s->thread.section_ticks = s->thread.overhead_ticks = 0;
    for (unsigned i = 0; i < TIMED; i++) {
        time_next(s);
        record_leave(&s->me);
        took += lock_often(&s->mutex, 1, o->lock, o->unlock);
        record_enter(&s->me);
    }
    memset(s->me.weight, 0, sizeof s->me.weight);
    keep(&quickest->timed, took / TIMED);
    keep(&quickest->overhead,
         s->thread.overhead_ticks / TIMED - calibrated.unseen_ticks);
    keep(&quickest->hold, s->use.hold_ticks / TIMED);
    keep(&quickest->section, s->thread.section_ticks / TIMED);
}

/* Runs pairs after timed ones, which are not sampled themselves. */
static void run_inspected(struct scratch *s, const struct calibrate_operations *o,
                          struct quickest *quickest)
{
    uint64_t took = 0;
    s->me.between_own.between_ticks = 0;
    for (unsigned i = 0; i < TIMED; i++) {
        time_next(s);
        record_leave(&s->me);
        lock_often(&s->mutex, 1, o->lock, o->unlock);
        s->me.between_left = 2;
        took += lock_often(&s->mutex, 1, o->lock, o->unlock);
        record_enter(&s->me);
    }
    memset(s->me.weight, 0, sizeof s->me.weight);
    keep(&quickest->inspected, took / TIMED);
    keep(&quickest->between, s->me.between_own.between_ticks / TIMED);
}

static void run_stack(struct quickest *quickest)
{
    uintptr_t frames[TRACE_FRAMES];
    uint64_t began = ticks();
    for (unsigned i = 0; i < STACKS; i++)
        stack_unwind(__builtin_return_address(0), frames, TRACE_FRAMES);
    keep(&quickest->stack, (ticks() - began) / STACKS);
}

static void prepare(struct scratch *s)
{
    uintptr_t key = (uintptr_t)&s->mutex;
    s->me.counts = s->counts;
    s->me.tags = s->tags;
    s->me.counts_mask = TRACE_CHUNK - sizeof(struct trace_lock_count);
    s->me.counts_factor = 1;
    s->me.shared = &s->thread;
    s->me.random = s->me.period = s->me.drawn = 1;
    struct trace_lock_count *count = (void *)(s->counts + record_slot(&s->me, key));
    count->address = key;
    s->tags[record_slot(&s->me, key) / sizeof *count].key = (uint32_t)key;
    count->private = (uintptr_t)&s->use;
    s->mutex.__data.__count = UINT16_MAX; /* elided: never (elision/elide.c, P2) */
}

static uint64_t more_than_bare(const struct quickest *q, uint64_t ticks)
{
    return ticks > q->bare ? ticks - q->bare : 0;
}

/* Publishes the costs, and the part of a timed operation that the recorder does not
 * measure itself (overhead.h). */
static void publish_costs(const struct quickest *q)
{
    const uint64_t counted = more_than_bare(q, q->counted);
    const uint64_t timed = more_than_bare(q, q->timed);
    trace->counted_cost_ps = ticks_to_ns(counted * 1000) / 16;
    trace->timed_cost_ps = ticks_to_ns(timed * 1000) / 16;
    trace->stack_cost_ps = ticks_to_ns(q->stack * 1000);
    trace->pair_cost_ps = ticks_to_ns(q->bare * 1000) / 16;
    sampling.counted_sixteenths = counted;
    calibrated.unseen_ticks =
        timed / 16 > q->overhead ? (uint32_t)(timed / 16 - q->overhead) : 0;
    calibrated.inspecting_ticks = (uint32_t)(more_than_bare(q, q->inspected) / 16);
}

static bool measure(const struct calibrate_operations *o, struct quickest *quickest)
{
    struct scratch *s = map_pages(sizeof *s);
    if (!s)
        return false;
    const struct record_here here = record_here;
    prepare(s);
    record_here.inside = 1;
    for (unsigned i = 0; i < BATCHES; i++) {
        keep(&quickest->bare,
             lock_often(&s->mutex, COUNTED, o->next_lock, o->next_unlock));
        run_counted(s, o, quickest);
        run_timed(s, o, quickest);
        run_inspected(s, o, quickest);
        run_stack(quickest);
    }
    record_here = here;
    munmap(s, sizeof *s);
    return true;
}

void calibrate(const struct calibrate_operations *o)
{
    struct quickest quickest = {0};
    operations = *o;
    calibrated = (struct calibrated){0};
    if (!measure(o, &quickest))
        return;
    const uint64_t bare = quickest.bare / 16;
    publish_costs(&quickest);
    calibrated.hold_ticks = (uint32_t)quickest.hold;
    calibrated.section_ticks =
        (uint32_t)(quickest.section > bare ? quickest.section - bare : 0);
    calibrated.between_ticks = (uint32_t)quickest.between;
}

void calibrate_again(void)
{
    struct quickest quickest = {0};
    if (measure(&operations, &quickest))
        publish_costs(&quickest);
}
