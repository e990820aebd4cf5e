/* SPDX-License-Identifier: MIT */
/*
 * The interface between hooks and recorder. The hook of an acquisition:
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
 * `busy` comes from one load of the lock word: an acquisition of a taken lock will wait
 * and is always timed. Others are counted, and sampled ones are timed. Between begin
 * and end the thread is "inside": its calls are not recorded, so the library that
 * implements the lock may use public names.
 *
 * That load comes just before the lock writes the same cache line. If another CPU had
 * the line, it would be transferred twice, to be read and to be written. So the hook
 * first calls record_prefetch, and the line is transferred once, while the recorder
 * accesses its own tables.
 *
 * While the program's lock is held, the recorder takes one timestamp, stores to the
 * thread's own memory, and for a timed hold writes one line of the lock's state and
 * reads the cache miss counter if there is one. Sums and histograms are written after
 * the release.
 *
 * An object is identified by its key: its address, plus 1 for readers of a rwlock,
 * which are counted separately (record_key).
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
    RECORD_AT_ONCE =
        2000, /* ticks; a handover to a sleeping thread takes much longer */
};

/* Prefetches the lock's cache line; see above. */
static inline void record_prefetch(const void *object)
{
    prefetch_for_write((const struct atomic_u32 *)object);
}

/* Makes the thread's next acquisition take the slower path of the hook. */
static inline void record_inspect_next(void)
{
    record_here.careful = RECORD_CAREFUL;
}

/*
 * Returns whether one of the thread's last RECORD_CAREFUL acquisitions found a lock
 * taken. Then the hook should check the lock word and record_handover_pending().
 * Otherwise it may check only the owner field, which is cheaper: a word just written by
 * an atomic operation is slow to load (2.5 ns in a loop of lock and unlock), the owner
 * next to it is not.
 */
static inline bool record_inspects_closely(void)
{
    if (likely(!record_here.careful))
        return false;
    record_here.careful--;
    return true;
}

/* Returns whether a lock that looks free may be in a handover to a waiter. */
static inline bool record_handover_pending(const void *object)
{
    return unlikely(record_hands_over) && record_is_waited_for(object);
}

/* Returns true when the acquisition is not to be recorded: recording is off, or this
 * acquisition is not sampled. In full mode `skip` is 0. */
static inline bool record_skips(bool busy)
{
    int32_t skip = record_here.skip;
    if (skip <= 0 || busy)
        return false;
    record_here.skip = skip - 1;
    return true;
}

/* Returns the entry of a lock, prefetched, and sets `*lock` to its number. NULL: the
 * entry is not in its first slot. */
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
 * Counts an outermost acquisition that only has to be counted, before it is made, so
 * that the caller can end in a tail call. Returns false otherwise. `special`: the lock
 * is busy, or locking may fail. If another thread takes the lock in between, the wait
 * is not seen.
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
    me->depth = 1; /* first, because a signal handler may lock too */
    light_barrier();
    me->hold[0].key = key;
    me->hold[0].timed = false;
    me->hold[0].lock = lock;
    me->shared->held[0] = lock;
    me->shared->depth = 1;
    return true;
}

/* Does the same for an acquisition while other locks are held, in a known order. */
bool record_count_nested_lock(const void *object, void *caller) RECORD_HIDDEN;
bool record_count_nested_unlock(const void *object) RECORD_HIDDEN;

/* Returns true when this release needs no recording. In sampled mode most do not; in
 * full mode all do. */
static inline bool record_release_skips(void)
{
    return !record_here.watching;
}

/* Ends the hold that record_count_lock began, before the release is made. Returns false
 * when the innermost hold is another one. */
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
    RECORD_GOT,       /* acquired, EOWNERDEAD included */
    RECORD_TIMED_OUT, /* of a timed operation */
};

/* An acquisition in progress, on the stack of the hook. */
struct record_acquisition {
    struct recording *me;
    struct record_hold hold;
    bool waits;   /* published */
    bool perhaps; /* it looked free but had waiters; its duration decides */
    uint32_t operation;
    void *caller;
};

/* Returns false when the acquisition is not recorded; do not call _end then. */
bool record_acquire_begin(struct record_acquisition *a, const void *object,
                          const struct record_as *as, bool busy,
                          void *caller) RECORD_HIDDEN;
void record_acquire_end(struct record_acquisition *a, enum record_result) RECORD_HIDDEN;

/* Begins a trylock that is only counted. Returns the argument for
 * record_count_trylock_result, or NULL: then call record_trylock_begin instead. */
struct trace_lock_count *record_count_trylock(const void *object) RECORD_HIDDEN;
void record_count_trylock_result(struct trace_lock_count *count, const void *object,
                                 const struct record_as *as, bool got,
                                 void *caller) RECORD_HIDDEN;

/* A trylock, as above. */
bool record_trylock_begin(struct record_acquisition *a, const void *object,
                          const struct record_as *as, void *caller) RECORD_HIDDEN;
void record_trylock_end(struct record_acquisition *a, bool got) RECORD_HIDDEN;

/* A release. _begin returns false when there is no recorded hold, or one that is only
 * counted; do not call _end then. */
struct record_release {
    struct recording *me;
    struct record_hold hold;
    uint64_t released; /* ticks, just before the release */
    bool outermost, owner_changed, node_changed;
};
bool record_release_begin(struct record_release *r, uintptr_t key) RECORD_HIDDEN;
void record_release_end(struct record_release *r) RECORD_HIDDEN;

/*
 * A wait on a condition variable or barrier, depending on `as`. With a mutex, its hold
 * ends at _begin, and a new hold (TRACE_RELOCK) starts at _end. Call record_wait_end on
 * every exit, also on cancellation, when the mutex is held again.
 */
struct record_wait {
    struct recording *me;
    struct record_hold
        hold; /* of the object waited on: its lock count and site statistics */
    const void *mutex;
    void *caller;
    bool mutex_was_held;
};
bool record_wait_begin(struct record_wait *w, const void *object,
                       const struct record_as *as, const void *mutex,
                       void *caller) RECORD_HIDDEN;
void record_wait_end(struct record_wait *w, bool timed_out) RECORD_HIDDEN;

/* A signal or broadcast to a condition variable. */
void record_signal(const void *object, const struct record_as *as, bool broadcast,
                   void *caller) RECORD_HIDDEN;

/* A successful init or destroy; `flags` of enum trace_lock_flags. */
void record_created(const void *object, const struct record_as *as, uint32_t flags,
                    void *caller) RECORD_HIDDEN;
void record_destroyed(const void *object) RECORD_HIDDEN;

/* Called for the first operation of a thread without a recording: starts recording when
 * it is time and registers the thread. Returns NULL when it is not recorded. Defined in
 * session/session.c: the only call from this layer to a higher one. */
struct recording *session_first_operation(void) RECORD_HIDDEN;

/* Returns the calling thread's recording, registering it if necessary. NULL: recording
 * is off, or the thread is inside or has ended. */
static inline struct recording *record_me(void)
{
    struct recording *me = record_here.me;
    if (likely(me != NULL))
        return me;
    if (record_here.inside || record_here.ended)
        return NULL;
    return session_first_operation();
}

/* For the trace's header: enum trace_transactions. */
extern uint32_t record_transactions RECORD_HIDDEN;

/* From here to record_leave, no operation of the thread is recorded. */
static inline void record_enter(struct recording *me)
{
    record_flush_pending(me);
    me->skip = record_here.skip;
    record_here.inside++;
    light_barrier(); /* a signal handler finds it either inside or complete */
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

/* Registers a lock before its first elided section, so that its site is where the
 * section begins. */
void record_before_elision(const void *object, const struct record_as *as,
                           void *caller) RECORD_HIDDEN;

/* Adds to the statistics of a lock's elided sections: `more`, or NULL, and a number of
 * acquisitions. `during`: the acquisition in progress, or NULL. */
void record_elided(const void *object, const struct record_as *as,
                   const struct trace_elision *more, uint32_t acquisitions,
                   const struct record_acquisition *during) RECORD_HIDDEN;

/* Returns the number of the lock at an address, or 0. */
uint32_t record_lock_number(const void *object) RECORD_HIDDEN;

#endif
