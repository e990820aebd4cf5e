/* SPDX-License-Identifier: MIT */
#include "profiler/sample/sampler.h"

#include "platform/native/undo.h"
#include "profiler/record/calibrate.h"
#include "profiler/store/clock.h"
#include "profiler/sample/blocked_stack.h"
#include "profiler/sample/executed.h"
#include "profiler/sample/sample_holds.h"
#include "profiler/sample/sample_tasks.h"
#include "profiler/sample/sample_waiters.h"
#include "profiler/sample/thread_state.h"
#include "profiler/store/modules.h"
#include "profiler/sample/sample_process.h"
#include "profiler/sample/procfs.h"
#include "profiler/threads/recordings.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

/* Waking up is most of the sampler's cost, so it sleeps longer while no thread waits
 * for a lock. */
enum {
    STACK_BYTES = 1 << 18,
    TICK_NS = 1000000000 / SAMPLER_HZ,
    QUIET_SAMPLES = SAMPLER_HZ / 4, /* consecutive samples without a waiter */
    QUIET_TICKS = SAMPLER_HZ / 20,  /* between samples after that */
};

static struct atomic_u32 started;
static struct atomic_u32 paused;
static struct atomic_u32 stopping, stopped;

static void account(const struct recording *thread)
{
    struct trace_thread *shared = thread->shared;
    const struct recording_base *base = &thread->base;
    struct procfs_thread now;
    if (thread->ended || !procfs_thread(shared->tid, &now) || thread->ended)
        return;
    memcpy(shared->name, now.name, sizeof shared->name); /* threads rename themselves */
    shared->cpu_ns = base->cpu_ns + now.cpu_ns;
    shared->user_ns = base->user_ns + now.user_ns;
    shared->system_ns = base->system_ns + now.system_ns;
    shared->voluntary = base->voluntary + now.voluntary;
    shared->involuntary = base->involuntary + now.involuntary;
    shared->minor_faults = base->minor_faults + now.minor_faults;
    shared->major_faults = base->major_faults + now.major_faults;
}

/* Publishes the mean sampling rate so far. */
static void publish_rate(void)
{
    uint64_t counted = 0, timed = 0;
    for (struct recording *thread = recordings_first(); thread; thread = thread->next) {
        counted += thread->shared->counted;
        timed += thread->shared->timed;
    }
    if (trace->mode == TRACE_SAMPLED)
        trace->sample_of = timed ? (uint32_t)(1 + counted / timed) : 1;
}

void sampler_account_all(void)
{
    for (struct recording *thread = recordings_first(); thread; thread = thread->next)
        account(thread);
    publish_rate();
}

/* Updates the kernel's counters of one thread per tick, and of each at most once per
 * second. */
static struct recording *next_to_account;
static uint32_t round_began; /* tick, 0: never */

static void account_next(uint32_t tick)
{
    if (!next_to_account) {
        if (round_began && tick - round_began < SAMPLER_HZ)
            return;
        round_began = tick;
        next_to_account = recordings_first();
    }
    account(next_to_account);
    next_to_account = next_to_account->next;
}

/* CPU time of the sampler. */
static uint64_t cpu_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

/* Takes all samples that are due. `ticks`: since the previous call. Returns whether any
 * thread was waiting. */
static bool sample(uint32_t tick, uint32_t ticks)
{
    clock_read(&trace->latest);
    thread_states_begin();
    executed_end();
    bool waited = sample_waiters(ticks);
    sample_holds(tick % (SAMPLER_HZ / 10) == 0);
    if (tick % (SAMPLER_HZ / 10) == 0) {
        sample_long_holds();
        sample_process();
        trace->sampler_ns = cpu_ns();
    } else if (sample_tasks_often()) {
        waited = true; /* so that the next sample comes soon */
    }
    if (tick % SAMPLER_HZ == 0) {
        if (brief_lock(&paused)) {
            modules_scan();
            brief_unlock(&paused);
        }
        publish_rate();
    }
    for (uint32_t i = 0; i < ticks && recordings_first(); i++)
        account_next(tick);
    return waited;
}

static void sleep_until(struct timespec *next, uint32_t ticks)
{
    struct timespec now;
    next->tv_nsec += (long)ticks * TICK_NS;
    if (next->tv_nsec >= 1000000000) {
        next->tv_nsec -= 1000000000;
        next->tv_sec++;
    }
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (now.tv_sec > next->tv_sec)
        *next = now; /* the process was stopped */
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, next, NULL) != 0)
        continue;
}

static void *run(void *argument)
{
    struct timespec next;
    uint32_t quiet = 0; /* samples without a waiter */
    (void)argument;
    prctl(PR_SET_NAME, "hasp-sampler");
    record_here = (struct record_here){.skip = RECORD_NEVER, .inside = 1};
    calibrate_again();
    clock_gettime(CLOCK_MONOTONIC, &next);
    for (uint32_t tick = 0;;) {
        /* Never sleeps past a tick at which another sample is due. */
        uint32_t ticks = quiet < QUIET_SAMPLES ? 1 : QUIET_TICKS - tick % QUIET_TICKS;
        sleep_until(&next, ticks);
        tick += ticks;
        if (load_relaxed(&stopping))
            break;
        quiet = sample(tick, ticks) ? 0 : quiet + 1;
        if (tick % SAMPLER_HZ == 0 && procfs_threads(1) == 1)
            break;
    }
    store_release(&stopped, 1);
    return NULL;
}

void sampler_start(sampler_create *create)
{
    uint32_t no = 0;
    if (load_relaxed(&system_calls_forbidden) ||
        !compare_exchange_relaxed(&started, &no, 1))
        return;
    sigset_t all, before;
    pthread_t thread;
    pthread_attr_t attributes;
    sigfillset(&all);
    if (trace->transactions == TRACE_UNDONE_TRANSACTIONS)
        sigdelset(&all, UNDO_SIGNAL); /* it stops for transactions, too */
    pthread_attr_init(&attributes);
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int result = create(&thread, &attributes, run, NULL);
    if (result == EINVAL) { /* large thread-local storage needs a larger stack */
        pthread_attr_destroy(&attributes);
        pthread_attr_init(&attributes);
        pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        result = create(&thread, &attributes, run, NULL);
    }
    if (result == 0)
        trace->sampler_hz = SAMPLER_HZ;
    else
        complain("no time line in the profile: no thread for it", "");
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
}

/* Does not call nanosleep(), which is a cancellation point, because the program's call
 * is not one. */
static void pause_quarter(void)
{
    const struct timespec quarter = {0, TICK_NS / 4};
    raw_syscall(SYS_nanosleep, (long)&quarter, 0, 0, 0, 0, 0);
}

void sampler_stop(void)
{
    store_relaxed(&stopping, 1);
    for (int i = 0; i < 40 && trace->sampler_hz && !load_acquire(&stopped); i++)
        pause_quarter();
    pause_quarter(); /* it is about to exit */
}

bool sampler_pause(void)
{
    return brief_lock(&paused);
}

void sampler_resume(void)
{
    brief_unlock(&paused);
}

void sampler_forget(void)
{
    store_relaxed(&started, 0);
    store_relaxed(&stopped, 0);
    store_relaxed(&paused, 0);
    next_to_account = NULL;
    round_began = 0;
    sample_waiters_forget();
    sample_process_forget();
    sample_tasks_forget();
    blocked_stack_forget();
    executed_forget();
}
