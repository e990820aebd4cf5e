/* SPDX-License-Identifier: MIT */
/**
 * @file
 * Critical sections that are executed where their data is: by the thread that has the
 * object, in place of the threads that ask.
 *
 * A section is a function with a context. hasp_delegate_run() executes it, exclusively
 * for its object and exactly once, and returns its result. The calling thread may do
 * that itself, or another one that calls at the same time. Under contention the data
 * and the lock then need not move from CPU to CPU for each section.
 *
 * Compile and link with `pkg-config --cflags --libs hasp`. C11 and C++17.
 *
 * EXECUTORS, chosen by name (docs/delegation.md says which one when):
 *   adaptive        in place while no other thread wants the object, else as cc-synch
 *   cc-synch        a queue, whose head executes what follows
 *   cc-synch-spin   the same with waiters that never sleep
 *   dsm-synch       the same, with another kind of queue
 *   h-synch         a queue for each NUMA node
 *   flat-combining  whoever takes a latch executes the requests of all
 *   oyama           the holder also executes what others have pushed on a stack
 *   ffwd            a server thread executes all requests; clients spin
 *   rcl             the same; another thread takes over if a section stops it
 *   rcl-moving      as rcl, with several servers, between which objects move
 *   lock:NAME       in place, under a lock of `hasp list`
 *
 * SECTIONS. What one section of an object did happens before the next one. A section
 * may use everything that the caller's stack holds, through its context: the caller
 * waits. It may sleep, and it may call other objects, if objects are always nested in
 * the same order, as with mutexes. It must not
 *   - call its own object,
 *   - leave by longjmp(), an exception, the end of the thread or cancellation,
 *   - use what belongs to a thread: errno of the caller, thread-local variables,
 *     pthread_self(), signal masks, locks that must be released by their owner,
 *   - except under lock:NAME, wait for what a thread will do after its own section:
 *     that thread may be the one that executes; under rcl it may, if that thread waits
 *     for another object.
 *
 * SERVERS. Objects with ffwd belong to one server thread, and those with rcl to another
 * one; "ffwd:1" to "ffwd:7" and "rcl:1" to "rcl:7" are further servers. A server runs
 * from the initialisation of its first object until the destruction of its last one, or
 * the end of the process, and sleeps while there are no requests. All objects of one
 * server wait for each other, with rcl for as long as their sections make progress.
 * Sections of ffwd's objects must not block, and not call each other in a cycle of
 * servers. A section must not fork.
 *
 * THREADS. Any number may call; they need not register, and may end at any time outside
 * of calls. Not for signal handlers. The child of a fork() may use an object if no
 * thread of the parent was in a call. errno may change in any call.
 */
#ifndef HASP_DELEGATE_H
#define HASP_DELEGATE_H

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <time.h>

#include "library/delegate.h"
#include "library/executors.h"
#include "platform/native/sanitizer.h"

/** An object with sections. There is no static initialiser: each needs
 * hasp_delegate_init(). */
struct hasp_delegate {
    struct delegate delegate; /**< private */
};

/** What an object has done. A hold is the time in which one thread executed sections
 * without another one in between. */
struct hasp_delegate_stats {
    uint64_t sections; /**< executed */
    uint64_t holds;    /**< sections / holds: requests that waited, on average */
    uint64_t longest;  /**< most sections in one hold */
};

/** Makes the memory an object with the executor of this name. NULL selects adaptive.
 * Case, and the difference of '-' and '_', do not matter.
 * @return 0, EINVAL if there is no such executor or lock, or ENOMEM */
static inline int hasp_delegate_init(struct hasp_delegate *object, const char *name)
{
    return delegate_prepare(&object->delegate, name);
}

/* For ThreadSanitizer, which does not see what the library orders. */
struct hasp_told {
    struct hasp_delegate *object;
    void *(*section)(void *);
    void *context;
};

static inline void *hasp_told_section(void *told_context)
{
    const struct hasp_told *told = (const struct hasp_told *)told_context;
    note_acquired(told_context);
    note_acquired(told->object);
    void *result = told->section(told->context);
    note_release(told->object);
    note_release(told_context);
    return result;
}

/** Executes section(context), exclusively, as hasp_delegate_run() does, and tells
 * `hasp profile` how many bytes the context has.
 * @return what the section returned */
static inline void *hasp_delegate_run_sized(struct hasp_delegate *object,
                                            void *(*section)(void *), void *context,
                                            size_t bytes)
{
    struct hasp_told told = {object, section, context};
    if (!TELLS_SANITIZER)
        return delegate_call_sized(&object->delegate, section, context, bytes);
    note_release(&told);
    void *result =
        delegate_call_sized(&object->delegate, hasp_told_section, &told, bytes);
    note_acquired(&told);
    return result;
}

/** Executes section(context), exclusively. Not a cancellation point.
 * @return what the section returned */
static inline void *hasp_delegate_run(struct hasp_delegate *object,
                                      void *(*section)(void *), void *context)
{
    return hasp_delegate_run_sized(object, section, context, 0);
}

/** No thread is in a call, nor will be. */
static inline void hasp_delegate_destroy(struct hasp_delegate *object)
{
    delegate_give_up(&object->delegate);
}

/** @return what the object has done since its initialisation; approximate while threads
 * use it. */
static inline struct hasp_delegate_stats
hasp_delegate_stats(const struct hasp_delegate *object)
{
    const struct delegate_counts *counts = &object->delegate.counts;
    const uint64_t alone = load_relaxed(&counts->alone);
    struct hasp_delegate_stats stats;
    stats.sections = alone + load_relaxed(&counts->sections);
    stats.holds = alone + load_relaxed(&counts->holds);
    stats.longest = load_relaxed(&counts->longest);
    if (!stats.longest && alone)
        stats.longest = 1;
    return stats;
}

/** What a server has done for all its objects. A round is a search of the lines of all
 * clients that has found a request. */
struct hasp_delegate_server_stats {
    uint64_t sections;   /**< executed */
    uint64_t rounds;     /**< sections / rounds is the depth of the queue, at a mean */
    uint64_t lines_read; /**< in these rounds; sections / lines_read is the use rate:
                          * 1 if each client always waits */
    uint64_t serialised; /**< rounds with requests for several objects; serialised /
                          * rounds is the rate of false serialisation */
    uint64_t replaced;   /**< how often a section stopped the server, and another thread
                          * went on */
};

/** @return what the object's server has done since its start; approximate while it
 * runs. Zeros if the executor has no server. */
static inline struct hasp_delegate_server_stats
hasp_delegate_server_stats(const struct hasp_delegate *object)
{
    struct hasp_delegate_server_stats stats = {0, 0, 0, 0, 0};
    const struct server *server = delegate_server(&object->delegate);
    if (!server)
        return stats;
    stats.sections = load_relaxed(&server->counts.sections);
    stats.rounds = load_relaxed(&server->counts.rounds);
    stats.lines_read = load_relaxed(&server->counts.lines);
    stats.serialised = load_relaxed(&server->counts.serialised);
    stats.replaced = load_relaxed(&server->counts.replaced);
    return stats;
}

/** A condition that sections of one object wait for. Zeroed memory is one. */
struct hasp_delegate_condition {
    struct atomic_u32 changes; /**< private */
};

/* Does the same as hasp_delegate_clockwait() with a deadline; NULL never passes. */
static inline int hasp_delegate_wait_until(struct hasp_delegate *object,
                                           struct hasp_delegate_condition *condition,
                                           const struct deadline *deadline)
{
    bool in_time = true;
    note_release(object);
    bool waited =
        delegate_wait(&object->delegate, &condition->changes, deadline, &in_time);
    note_acquired(object);
    return !waited ? ENOTSUP : in_time ? 0 : ETIMEDOUT;
}

/** Waits, in a section of the object, until the condition is signalled. Other sections
 * of the object are executed meanwhile. May return without a signal. Only for the
 * executors rcl and lock:NAME.
 * @return 0, or ENOTSUP at once if the executor cannot do that */
static inline int hasp_delegate_wait(struct hasp_delegate *object,
                                     struct hasp_delegate_condition *condition)
{
    return hasp_delegate_wait_until(object, condition, NULL);
}

/** The same, but at most until the clock reaches `until`, an absolute time.
 * @param clock CLOCK_REALTIME or CLOCK_MONOTONIC
 * @return 0, ETIMEDOUT, ENOTSUP, or EINVAL for another clock or nanoseconds out of
 * range */
static inline int hasp_delegate_clockwait(struct hasp_delegate *object,
                                          struct hasp_delegate_condition *condition,
                                          clockid_t clock, const struct timespec *until)
{
    const struct deadline deadline = {clock, *until};
    if ((clock != CLOCK_REALTIME && clock != CLOCK_MONOTONIC) || until->tv_nsec < 0 ||
        until->tv_nsec >= 1000000000)
        return EINVAL;
    return hasp_delegate_wait_until(object, condition, &deadline);
}

/** hasp_delegate_clockwait() with CLOCK_REALTIME. */
static inline int hasp_delegate_timedwait(struct hasp_delegate *object,
                                          struct hasp_delegate_condition *condition,
                                          const struct timespec *until)
{
    return hasp_delegate_clockwait(object, condition, CLOCK_REALTIME, until);
}

/** Wakes one section that waits for it. Called in a section of the object. */
static inline void hasp_delegate_signal(struct hasp_delegate_condition *condition)
{
    fetch_add_relaxed(&condition->changes, 1);
    unpark(&condition->changes, 1);
}

/** Wakes all of them. */
static inline void hasp_delegate_broadcast(struct hasp_delegate_condition *condition)
{
    fetch_add_relaxed(&condition->changes, 1);
    unpark(&condition->changes, INT32_MAX);
}

/** Lists the names that hasp_delegate_init() knows, without those of locks.
 * @return name `index`, counted from 0, a constant; NULL if there are not so many. */
static inline const char *hasp_delegate_name_at(unsigned index)
{
    return delegate_listed_name(index);
}

/*
 * The types and functions of each executor, for example of cc-synch:
 *
 *   struct hasp_delegate_cc_synch;
 *   int hasp_delegate_cc_synch_init(struct hasp_delegate_cc_synch *);
 *   void *hasp_delegate_cc_synch_run(struct hasp_delegate_cc_synch *,
 *                                    void *(*section)(void *), void *context);
 *   void hasp_delegate_cc_synch_destroy(struct hasp_delegate_cc_synch *);
 *
 * They do and return what those above do, without a call through a table; the member
 * `object` is for hasp_delegate_stats().
 */
#define EXECUTOR(name, title, prefix, waits, ...)                                      \
    struct hasp_delegate_##name {                                                      \
        struct hasp_delegate object;                                                   \
    };                                                                                 \
    static inline int hasp_delegate_##name##_init(struct hasp_delegate_##name *object) \
    {                                                                                  \
        return delegate_prepare(&object->object.delegate, title);                      \
    }                                                                                  \
    static inline void *hasp_delegate_##name##_run(                                    \
        struct hasp_delegate_##name *object, void *(*section)(void *), void *context)  \
    {                                                                                  \
        struct hasp_told told = {&object->object, section, context};                   \
        if (unlikely(object->object.delegate.watched))                                 \
            return hasp_delegate_run(&object->object, section, context);               \
        if (!TELLS_SANITIZER)                                                          \
            return prefix##_run(&object->object.delegate, section, context, waits);    \
        note_release(&told);                                                           \
        void *result =                                                                 \
            prefix##_run(&object->object.delegate, hasp_told_section, &told, waits);   \
        note_acquired(&told);                                                          \
        return result;                                                                 \
    }                                                                                  \
    static inline void hasp_delegate_##name##_destroy(                                 \
        struct hasp_delegate_##name *object)                                           \
    {                                                                                  \
        delegate_give_up(&object->object.delegate);                                    \
    }
#include "delegation/executors.def"
#undef EXECUTOR

#endif
