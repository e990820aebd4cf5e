/* SPDX-License-Identifier: MIT */
#include "preload/profile/elision.h"

#include "profiler/record/misuse.h"

#include <dlfcn.h>
#include <errno.h>
#include <string.h>

const struct elision_watched *elision_library;

static __thread struct elided_call *current
    __attribute__((tls_model("initial-exec")));

/* Locked inside the thread's elided section. An abort rolls back what it has added. */
enum { NOTED = 16 };
static __thread struct {
    const void *object[NOTED];
    const struct record_as *as[NOTED];
    unsigned count;
} noted __attribute__((tls_model("initial-exec")));

int elision_note(const void *object, const struct record_as *as, int result)
{
    if (result != 0 || noted.count == NOTED)
        return result;
    noted.object[noted.count] = object;
    noted.as[noted.count++] = as;
    return result;
}

static void record_noted(void)
{
    for (unsigned i = 0; i < noted.count; i++)
        record_elided(noted.object[i], noted.as[i], NULL, 1, NULL);
    noted.count = 0;
}

static void acquires(const struct lock *lock, bool busy)
{
    struct elided_call *call = current;
    if (!call || call->object != lock || call->recorded)
        return;
    if (!record_skips(busy))
        call->recorded = record_acquire_begin(&call->acquisition, call->object,
                                              call->as, busy, call->caller);
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

static const struct record_as *as_of(enum elision_side side)
{
    return side == ELISION_MUTEX     ? &as_mutex
           : side == ELISION_READERS ? &as_reader
                                     : &as_writer;
}

static void ended(const struct elision_outcome *outcome)
{
    static const struct trace_elision elided = {.elided = 1};
    const struct trace_elision *nested = outcome->emulated ? NULL : &elided;
    struct elided_call *call = current;
    const bool during = call && call->recorded;
    const struct trace_elision more = as_recorded(outcome);
    const uint32_t sections = (uint32_t)more.elided + outcome->emulated;
    record_elided(outcome->lock, as_of(outcome->side), &more, sections,
                  during ? &call->acquisition : NULL);
    for (unsigned i = 0; i < outcome->inner_count; i++)
        record_elided(outcome->inner[i], as_of(outcome->inner_sides[i]), nested, 1,
                      NULL);
    if (outcome->committed || outcome->emulated)
        record_noted();
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

bool elided_begin(struct elided_call *call, const void *object,
                  const struct record_as *as, void *caller)
{
    if (is_off() || elision_is_open())
        return false;
    call->object = object;
    call->as = as;
    call->caller = caller;
    call->recorded = false;
    call->outer = current;
    record_before_elision(object, as, caller);
    current = call;
    return true;
}

/* In a transaction, the next abort undoes what this writes. */
int elided_end(struct elided_call *call, int result)
{
    current = call->outer;
    if (!call->recorded && result == 0 && !elision_is_open()) /* global mode, nested */
        call->recorded = record_acquire_begin(&call->acquisition, call->object,
                                              call->as, false, call->caller);
    if (call->recorded)
        record_acquire_end(&call->acquisition, mutex_outcome(result));
    if (unlikely(result == EDEADLK))
        misuse_relocking(call->object, call->caller);
    return result;
}

/* It never waits, so an acquisition is recorded after it. */
int elided_tried(struct elided_call *call, int result)
{
    struct record_acquisition a;
    current = call->outer;
    if (!elision_is_open() &&
        record_trylock_begin(&a, call->object, call->as, call->caller))
        record_trylock_end(&a, mutex_outcome(result) == RECORD_GOT);
    return result;
}
