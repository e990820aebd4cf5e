/* SPDX-License-Identifier: MIT */
#include "preload/profile/elision.h"

#include <dlfcn.h>
#include <string.h>

const struct elision_watched *elision_library;

/* A lock function that the thread has called, while it is outside transactions. */
struct call {
    struct record_acquisition acquisition;
    const pthread_mutex_t *mutex;
    void *caller;
    bool recorded; /* `acquisition` has begun */
};

static __thread struct call *current __attribute__((tls_model("initial-exec")));

static void acquires(const struct lock *lock, bool busy)
{
    struct call *call = current;
    if (!call || (const void *)call->mutex != lock || call->recorded)
        return;
    if (!record_skips(busy))
        call->recorded = record_acquire_begin(&call->acquisition, call->mutex,
                                              &as_mutex, busy, call->caller);
}

_Static_assert((int)TRACE_ELISION_CAUSES == (int)ELISION_CAUSES &&
                   (int)TRACE_ELISION_ATTEMPTS == (int)ELISION_ATTEMPTS &&
                   (int)TRACE_ELISION_LEVELS <= (int)ELISION_LEVELS,
               "the counts fit");

static struct trace_elision as_recorded(const struct elision_outcome *outcome)
{
    const struct elision_counts *counts = outcome->counts;
    struct trace_elision to = {
        .begins = counts->begins,
        .commits = counts->commits,
        .nested_aborts = counts->nested_aborts,
        .elided = outcome->committed ? counts->elided - outcome->inner_count : 0,
        .skipped = counts->skipped,
        .guarded = counts->guarded,
        .busy = counts->busy,
        .fallbacks = counts->fallbacks,
        .wait_ticks = counts->wait_ticks,
        .abort_ticks = counts->abort_ticks,
        .commit_ticks = counts->commit_ticks,
        .fallback_ticks = counts->fallback_ticks,
        .spent_ticks = counts->spent_ticks,
    };
    memcpy(to.aborts, counts->aborts, sizeof to.aborts);
    memcpy(to.committed_after, counts->committed_after, sizeof to.committed_after);
    for (unsigned i = 0; i < ELISION_LEVELS; i++)
        to.levels[i < TRACE_ELISION_LEVELS ? i : TRACE_ELISION_LEVELS - 1] +=
            counts->levels[i];
    return to;
}

static void ended(const struct elision_outcome *outcome)
{
    static const struct trace_elision elided = {.elided = 1};
    const struct trace_elision *nested = outcome->emulated ? NULL : &elided;
    struct call *call = current;
    const bool during = call && call->recorded;
    const struct trace_elision more = as_recorded(outcome);
    const uint32_t sections = (uint32_t)more.elided + outcome->emulated;
    if (outcome->lock)
        record_elided(outcome->lock, &as_mutex, &more, sections,
                      during ? &call->acquisition : NULL);
    for (unsigned i = 0; i < outcome->inner_count; i++)
        record_elided(outcome->inner[i], &as_mutex, nested, 1, NULL);
}

void elision_watch(void)
{
    static const struct elision_watcher watcher = {acquires, ended};
    union {
        void *object;
        const struct elision_watched *(*function)(const struct elision_watcher *);
    } found = {.object = dlsym(RTLD_NEXT, "hasp_elision_watch")};
    if (!found.object)
        return;
    elision_library = found.function(&watcher);
    if (!elision_library)
        return;
    record_transactions = strcmp(elision_library->back_end(), "undo") == 0
                              ? TRACE_UNDONE_TRANSACTIONS
                          : elision_library->is_emulated()
                              ? TRACE_SCRIPTED_TRANSACTIONS
                              : TRACE_PROCESSOR_TRANSACTIONS;
}

/* Returns whether the thread records nothing yet, or not now. */
static bool is_off(void)
{
    record_inspect_next();
    return !record_here.me && record_skips(false);
}

static struct call *begin(struct call *call, const pthread_mutex_t *mutex, void *caller)
{
    struct call *outer = current; /* of a function that a signal interrupted */
    call->mutex = mutex;
    call->caller = caller;
    call->recorded = false;
    record_before_elision(mutex, &as_mutex, caller);
    current = call;
    return outer;
}

/* Ends the call. In a transaction, the next abort undoes what this writes. */
static int end(struct call *call, struct call *outer, int result)
{
    current = outer;
    if (!call->recorded && result == 0 && !elision_is_open()) /* global mode, nested */
        call->recorded = record_acquire_begin(&call->acquisition, call->mutex,
                                              &as_mutex, false, call->caller);
    if (call->recorded)
        record_acquire_end(&call->acquisition, mutex_outcome(result));
    return result;
}

int elided_lock(pthread_mutex_t *mutex, void *caller)
{
    struct call call;
    if (is_off() || elision_is_open())
        return next.pthread_mutex_lock(mutex);
    struct call *outer = begin(&call, mutex, caller);
    return end(&call, outer, next.pthread_mutex_lock(mutex));
}

int elided_clocklock(pthread_mutex_t *mutex, clockid_t clock, const struct timespec *at,
                     void *caller)
{
    struct call call;
    if (is_off() || elision_is_open())
        return next.pthread_mutex_clocklock(mutex, clock, at);
    struct call *outer = begin(&call, mutex, caller);
    return end(&call, outer, next.pthread_mutex_clocklock(mutex, clock, at));
}

/* It never waits, so an acquisition is recorded after it. */
int elided_trylock(pthread_mutex_t *mutex, void *caller)
{
    struct record_acquisition a;
    struct call call;
    if (is_off() || elision_is_open())
        return next.pthread_mutex_trylock(mutex);
    struct call *outer = begin(&call, mutex, caller);
    int result = next.pthread_mutex_trylock(mutex);
    current = outer;
    if (!elision_is_open() && record_trylock_begin(&a, mutex, &as_mutex, caller))
        record_trylock_end(&a, mutex_outcome(result) == RECORD_GOT);
    return result;
}
