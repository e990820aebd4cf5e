/* SPDX-License-Identifier: MIT */
/*
 * What a hook tells the recorder. A hook of an acquisition looks like this:
 *
 *     if (record_skips(busy) || record_count_lock(mutex, busy || other))
 *         return next.pthread_mutex_lock(mutex);
 *     struct record_acquisition a;
 *     if (!record_acquire_begin(&a, mutex, &as_mutex, busy, RECORD_CALLER))
 *         return next.pthread_mutex_lock(mutex);
 *     int result = next.pthread_mutex_lock(mutex);
 *     record_acquire_end(&a, result == 0 ? RECORD_GOT : RECORD_FAILED);
 *     return result;
 *
 * `busy` comes from one load of the lock's word: whoever finds it taken will have to
 * wait, and is always timed. The others are counted, and timed now and then. Between
 * begin and end the thread is "inside": whatever it calls passes unrecorded, so that
 * the library behind may use public names.
 *
 * That load comes just before the lock writes the same line. When another CPU had the
 * line last, it would be moved twice, to be read and to be written, so the hook calls
 * record_prefetch first: it is moved once, while the recorder looks at its own tables.
 *
 * While the program's lock is held, nothing happens but one timestamp and stores to the
 * thread's own memory and, for timed ones, to one line of the lock's, and a reading of
 * the counter of cache misses where there is one; sums and histograms are written
 * behind the release.
 *
 * An object is named by its key: its address, for readers of rwlocks plus 1, since
 * their counts are kept apart (record_key).
 */
#ifndef HASP_PROFILER_RECORD_RECORD_H
#define HASP_PROFILER_RECORD_RECORD_H

#include "profiler/store/lock_registry.h"
#include "profiler/threads/published_wait.h"
#include "profiler/threads/recordings.h"
#include "profiler/threads/sampling_rate.h"

#define RECORD_CALLER __builtin_return_address(0)

enum {
    RECORD_CAREFUL = 512,
    RECORD_AT_ONCE = 2000, /* ticks; a hand-over to a sleeper takes many times that */
};

/* What was said of the lock's line above. */
static inline void record_prefetch(const void *object)
{
    prefetch_for_write((const struct atomic_u32 *)object);
}

/*
 * Whether the thread has found a lock taken in its last RECORD_CAREFUL acquisitions.
 * Then the hook should look at all there is: the word, and record_handover_pending. As
 * long as nothing is contended, it may look at what costs least: a word that an atomic
 * operation has just written is slow to load, 2.5 ns in a loop of locking and
 * unlocking; the owner beside it is not.
 */
static inline bool record_inspects_closely(void)
{
    if (likely(!record_here.careful))
        return false;
    record_here.careful--;
    return true;
}

/* Whether a lock that looks free may be on its way to somebody. */
static inline bool record_handover_pending(const void *object)
{
    return unlikely(record_hands_over) && record_is_waited_for(object);
}

/* True when the acquisition is none of the recorder's business: it is off, or this one
 * is not in the sample. In full mode `skip` is 0. */
static inline bool record_skips(bool busy)
{
    int32_t skip = record_here.skip;
    if (skip <= 0 || busy)
        return false;
    record_here.skip = skip - 1;
    return true;
}

/* The entry of a lock, fetched; and its number. NULL: it is not in its first place. */
static inline struct trace_lock_count *record_fetch(const struct recording *me,
                                                    uintptr_t key, uint32_t *lock)
{
    const uint64_t slot = record_slot(me, key);
    const struct record_tag *tag = &me->tags[slot / sizeof(struct trace_lock_count)];
    if (unlikely(tag->key != (uint32_t)key))
        return NULL;
    *lock = tag->lock;
    struct trace_lock_count *count = (void *)(me->counts + slot);
    prefetch_for_write((const struct atomic_u64 *)(const void *)count);
    return count;
}

static inline void record_set_pending(struct recording *me,
                                      struct trace_lock_count *count, bool nested)
{
    record_flush_pending(me);
    me->pending = (uintptr_t)count + nested;
}

/*
 * Counts an outermost acquisition that nothing is to be said about, before it is made:
 * the caller may end in a tail call. `special`: it is busy, or may fail. If another
 * thread slips in, the wait goes unseen.
 */
static inline bool record_count_lock(const void *object, bool special)
{
    struct recording *me = record_here.me;
    if (unlikely(!me))
        return false;
    uintptr_t key = (uintptr_t)object;
    uint32_t lock;
    struct trace_lock_count *count = record_fetch(me, key, &lock);
    if (unlikely(!count || special || me->depth || me->until_timed <= 1))
        return false;
    me->until_timed--;
    record_set_pending(me, count, false);
    me->depth = 1; /* first, for a signal's handler that locks, too */
    light_barrier();
    me->hold[0].key = key;
    me->hold[0].timed = false;
    me->hold[0].lock = lock;
    me->shared->held[0] = lock;
    me->shared->depth = 1;
    return true;
}

/* The same for one that is made while others are held, in known order. */
bool record_count_nested_lock(const void *object, void *caller) RECORD_HIDDEN;
bool record_count_nested_unlock(const void *object) RECORD_HIDDEN;

/* Nothing to be done at this release (sampled mode: most; full mode: never). */
static inline bool record_release_skips(void)
{
    return !record_here.watching;
}

/* The release of what record_count_lock counted, before it is made. */
static inline bool record_count_unlock(const void *object)
{
    struct recording *me = record_here.me;
    if (unlikely(!me || me->depth != 1 || me->hold[0].key != (uintptr_t)object ||
                 me->hold[0].timed))
        return false;
    me->depth = 0;
    me->shared->depth = 0;
    return true;
}

enum record_result {
    RECORD_FAILED,    /* an error */
    RECORD_GOT,       /* it is held now (EOWNERDEAD, too) */
    RECORD_TIMED_OUT, /* of a timed operation */
};

/* One acquisition on its way, on the stack of the hook. */
struct record_acquisition {
    struct recording *me;
    struct record_hold hold;
    bool waits;   /* published */
    bool perhaps; /* it looked free, but had waiters: how long it takes will tell */
    bool tries;
    uint32_t operation;
    void *caller;
};

/* False: pass it through, nothing more to be called. */
bool record_acquire_begin(struct record_acquisition *a, const void *object,
                          const struct record_as *as, bool busy,
                          void *caller) RECORD_HIDDEN;
void record_acquire_end(struct record_acquisition *a, enum record_result) RECORD_HIDDEN;

/* Begins a trylock of which only the result is counted. Returns what
 * record_count_trylock_result needs, or NULL: call record_trylock_begin instead. */
struct trace_lock_count *record_count_trylock(const void *object) RECORD_HIDDEN;
void record_count_trylock_result(struct trace_lock_count *count, const void *object,
                                 const struct record_as *as, bool got,
                                 void *caller) RECORD_HIDDEN;

/* A trylock; ended by record_trylock_end. */
bool record_trylock_begin(struct record_acquisition *a, const void *object,
                          const struct record_as *as, void *caller) RECORD_HIDDEN;
void record_trylock_end(struct record_acquisition *a, bool got) RECORD_HIDDEN;

/* A release. False: pass it through (not held, as far as is known, or only counted). */
struct record_release {
    struct recording *me;
    struct record_hold hold;
    uint64_t released; /* ticks, just before */
    bool outermost, owner_changed, node_changed;
};
bool record_release_begin(struct record_release *r, uintptr_t key) RECORD_HIDDEN;
void record_release_end(struct record_release *r) RECORD_HIDDEN;

/*
 * A wait on a condition variable or barrier: `as` says which. With a mutex, its hold
 * ends at the begin and a new one (TRACE_RELOCK) starts at the end. Call
 * record_wait_end on every way out, cancellation included; the mutex is held then.
 */
struct record_wait {
    struct recording *me;
    struct record_hold hold; /* of the object waited on: its count and use */
    const void *mutex;
    void *caller;
    bool mutex_was_held;
};
bool record_wait_begin(struct record_wait *w, const void *object,
                       const struct record_as *as, const void *mutex,
                       void *caller) RECORD_HIDDEN;
void record_wait_end(struct record_wait *w, bool timed_out) RECORD_HIDDEN;

/* A signal (or broadcast) to a condition variable. */
void record_signal(const void *object, const struct record_as *as, bool broadcast,
                   void *caller) RECORD_HIDDEN;

/* An init or destroy that succeeded; `flags` of enum trace_lock_flags. */
void record_created(const void *object, const struct record_as *as, uint32_t flags,
                    void *caller) RECORD_HIDDEN;
void record_destroyed(const void *object) RECORD_HIDDEN;

/* A thread without a recording does something: registers it, or makes the process
 * active when it is time. NULL: not recorded. The session's (session/session.c), which
 * is above. */
struct recording *session_first_operation(void) RECORD_HIDDEN;

/* The calling thread's memory, or NULL: off, inside, or ended. May register it. */
static inline struct recording *record_me(void)
{
    struct recording *me = record_here.me;
    if (likely(me != NULL))
        return me;
    if (record_here.inside || record_here.ended)
        return NULL;
    return session_first_operation();
}

/* From here to record_leave everything that the thread calls passes unrecorded. */
static inline void record_enter(struct recording *me)
{
    record_flush_pending(me);
    me->skip = record_here.skip;
    record_here.inside++;
    light_barrier(); /* a signal's handler finds it inside, or with its memory */
    record_here.me = NULL;
    record_here.skip = RECORD_NEVER;
    record_here.watching = 0;
}

static inline void record_leave(struct recording *me)
{
    record_here.skip = me->skip;
    record_here.watching = sampling.sampled_mode ? me->depth : 1;
    record_here.me = me;
    light_barrier();
    record_here.inside--;
}

/* The number of a lock by its address, or 0. */
uint32_t record_lock_number(const void *object) RECORD_HIDDEN;

#endif
