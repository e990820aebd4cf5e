/* SPDX-License-Identifier: MIT */
#include "profiler/threads/threads.h"

#include "profiler/threads/perf_counters.h"
#include "profiler/threads/lock_counts.h"
#include "profiler/threads/order_cache.h"
#include "profiler/threads/stack_cache.h"
#include "profiler/threads/site_stats.h"
#include "profiler/threads/published_wait.h"

#include <limits.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>

enum { THREADS_MOST = 1 << 20 };

SERIES(thread_records, TRACE_THREADS, struct trace_thread, THREADS_MOST);

static pthread_key_t at_end;
static bool have_key;
static void (*before_end)(struct recording *me);

/* A queue of ended threads, protected by `ending`. */
static struct atomic_u32 ending;
static struct recording *gone_first, *gone_last;

/* Other destructors may still use locks, so this one runs in the last rounds. */
static void destructor(void *argument)
{
    struct recording *me = argument;
    if (++me->destructor_rounds < PTHREAD_DESTRUCTOR_ITERATIONS - 1) {
        pthread_setspecific(at_end, me);
        return;
    }
    thread_end(me);
}

void threads_prepare(void (*at_end_of)(struct recording *me))
{
    before_end = at_end_of;
    have_key = pthread_key_create(&at_end, destructor) == 0;
}

void threads_forget(void)
{
    recordings_forget();
    store_relaxed(&ending, 0);
    series_forget(&thread_records);
    gone_first = gone_last = NULL;
    if (have_key)
        pthread_setspecific(at_end, NULL);
    record_here = (struct record_here){0};
}

static void name_thread(struct trace_thread *thread)
{
    if (load_relaxed(&system_calls_forbidden))
        return;
    char name[16] = "";
    prctl(PR_GET_NAME, name);
    memcpy(thread->name, name, sizeof name);
}

static struct recording *take_gone(void)
{
    struct recording *me = NULL;
    if (load_relaxed(&thread_records.count) < THREADS_KEPT)
        return NULL;
    if (!brief_lock(&ending))
        return NULL;
    me = gone_first;
    if (me) {
        gone_first = me->next_gone;
        if (!gone_first)
            gone_last = NULL;
    }
    brief_unlock(&ending);
    return me;
}

/* Prepares the record of an ended thread for the calling one. */
static void reuse(struct recording *me)
{
    struct trace_thread *shared = me->shared;
    lock_counts_merge(me);
    site_stats_merge(me);
    stacks_begin_thread(me);
    shared->tid = current_thread();
    shared->reused++;
    me->ended = false;
    shared->earlier_ticks += shared->ended - shared->began;
    shared->began = ticks();
    shared->ended = 0;
    shared->depth = 0;
    shared->waiting_for = 0;
    name_thread(shared);
    me->base = (struct recording_base){
        .cpu_ns = shared->cpu_ns,
        .user_ns = shared->user_ns,
        .system_ns = shared->system_ns,
        .voluntary = shared->voluntary,
        .involuntary = shared->involuntary,
        .minor_faults = shared->minor_faults,
        .major_faults = shared->major_faults,
    };
    me->depth = 0;
    me->failing = NULL;
    me->destructor_rounds = 0;
}

static struct recording *make(void)
{
    struct trace_thread record = {.tid = current_thread(), .began = ticks()};
    struct recording *me = map_pages(sizeof *me);
    if (!me)
        return NULL;
    name_thread(&record);
    me->shared = series_append(&thread_records, &record, &me->thread);
    if (!me->shared || !lock_counts_create(me)) {
        munmap(me, sizeof *me);
        return NULL;
    }
    recordings_add(me);
    return me;
}

struct recording *thread_register(void)
{
    record_here.skip = RECORD_NEVER; /* until it is registered */
    struct recording *me = take_gone();
    if (me)
        reuse(me);
    else
        me = make();
    if (!me) {
        add_shared(&trace->lost_others, 1);
        record_here.ended = 1;
        return NULL;
    }
    me->random = me->shared->tid * 2654435761u | 1;
    me->period = me->drawn = 1;
    me->cpu = sched_getcpu();
    me->until_timed = 1;
    me->between_since = 0;
    me->ended = false;
    me->window_began = me->window_ticks = 0;
    me->timed_until = ticks();
    perf_counters_thread_begins(me);
    record_here.recording = me;
    if (have_key)
        pthread_setspecific(at_end, me);
    return me;
}

static uint64_t ns(struct timeval time)
{
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_usec * 1000;
}

void thread_account(struct recording *me)
{
    if (load_relaxed(&system_calls_forbidden))
        return;
    struct trace_thread *shared = me->shared;
    const struct recording_base *base = &me->base;
    struct rusage usage;
    struct timespec cpu;
    if (getrusage(RUSAGE_THREAD, &usage) == 0) {
        shared->user_ns = base->user_ns + ns(usage.ru_utime);
        shared->system_ns = base->system_ns + ns(usage.ru_stime);
        shared->voluntary = base->voluntary + (uint64_t)usage.ru_nvcsw;
        shared->involuntary = base->involuntary + (uint64_t)usage.ru_nivcsw;
        shared->minor_faults = base->minor_faults + (uint64_t)usage.ru_minflt;
        shared->major_faults = base->major_faults + (uint64_t)usage.ru_majflt;
    }
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &cpu) == 0)
        shared->cpu_ns =
            base->cpu_ns + (uint64_t)cpu.tv_sec * 1000000000u + (uint64_t)cpu.tv_nsec;
}

void thread_end(struct recording *me)
{
    if (!trace || me->ended)
        return;
    record_here = (struct record_here){.skip = RECORD_NEVER, .ended = 1};
    record_flush_pending(me);
    before_end(me);
    order_flush(me);
    thread_account(me);
    perf_counters_thread_ends(me);
    stack_profile_flush(me->weight);
    lock_counts_publish(me);
    if (me->waits_at) /* cancelled while it waited */
        wait_for_lock_ends(me);
    me->ended = true;
    me->shared->waiting_for = 0;
    me->shared->ended = ticks();
    name_thread(me->shared);
    me->next_gone = NULL;
    if (!brief_lock(&ending))
        return;
    if (gone_last)
        gone_last->next_gone = me;
    else
        gone_first = me;
    gone_last = me;
    brief_unlock(&ending);
}
