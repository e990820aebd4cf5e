/* SPDX-License-Identifier: MIT */
/*
 * What a hook tells the recorder. A hook of an acquisition looks like this:
 *
 *     if (record_passes(busy) || record_counts(mutex, busy || other))
 *         return next.pthread_mutex_lock(mutex);
 *     struct record_acquisition a;
 *     if (!record_begin(&a, mutex, &as_mutex, busy, RECORD_CALLER))
 *         return next.pthread_mutex_lock(mutex);
 *     int result = next.pthread_mutex_lock(mutex);
 *     record_end(&a, result == 0 ? RECORD_GOT : RECORD_FAILED);
 *     return result;
 *
 * `busy` comes from one load of the lock's word: whoever finds it taken will have to
 * wait, and is always timed. The others are counted, and timed now and then. Between
 * begin and end the thread is "inside": whatever it calls passes unrecorded, so that
 * the library behind may use public names.
 *
 * That load comes just before the lock writes the same line. When another CPU had the
 * line last, it would be moved twice, to be read and to be written, so the hook calls
 * record_approach first: it is moved once, while the recorder looks at its own tables.
 *
 * While the program's lock is held, nothing happens but one timestamp and stores to the
 * thread's own memory and, for timed ones, to one line of the lock's, and a reading of
 * the counter of cache misses where there is one; sums and histograms are written
 * behind the release.
 *
 * An object is named by its key: its address, for readers of rwlocks plus 1, since
 * their counts are kept apart (record_key).
 */
#ifndef HASP_PROFILER_RECORD_H
#define HASP_PROFILER_RECORD_H

#include "platform/platform.h"
#include "profiler/trace.h"

#include <stddef.h>

#define RECORD_HIDDEN __attribute__((visibility("hidden")))
#define RECORD_CALLER __builtin_return_address(0)

enum {
    RECORD_HOLDS = 48, /* of one thread; deeper ones are not followed */
    RECORD_WEIGHTS = 16,
    RECORD_CAREFUL = 512,
    RECORD_NEVER = INT32_MAX,
    RECORD_AT_ONCE = 2000, /* ticks; a hand-over to a sleeper takes many times that */
};

/* Kind and operation of an acquisition, as one constant of the hook. */
struct record_as {
    uint32_t lock_kind; /* enum trace_lock_kind */
    uint32_t operation; /* enum trace_operation */
    uint32_t bytes;     /* of the object */
    uint32_t flags;     /* of enum trace_lock_flags, that it has without an init */
};

/* A lock that the thread holds. */
struct record_hold {
    uintptr_t key;
    bool timed, contended;
    bool paced; /* timed because its turn had come (pace.h) */
    uint8_t section; /* in which cache misses are counted, or 0 (counters.h) */
    uint32_t lock;
    uint32_t weight; /* acquisitions that it stands for */
    uint32_t stack;
    struct trace_count *count;
    struct trace_use *use;
    uint64_t asked, got; /* ticks, of timed ones */
    uint64_t handover;   /* ticks since the release before, if it waited for that */
    uint64_t own;        /* ticks that the recorder took before it, of timed ones */
};

/* Sums of earlier threads with the same record. */
struct recording_base {
    uint64_t cpu_ns;
    uint64_t voluntary, involuntary;
    uint64_t minor_faults, major_faults;
};

/* What the sampler saw of a hold, to know it again (holds.h). */
struct record_seen {
    uintptr_t key;
    uint64_t acquisitions; /* of the lock by the thread */
    uint64_t since;        /* ticks */
    uint32_t depth;
};

/* Which lock's entry is in a place of the table of counts, eight to a line. */
struct record_tag {
    uint32_t key; /* low bits; with the place, as good as the whole */
    uint32_t lock;
};

/* A thread's own memory. The first line is what the counted path reads. */
struct recording {
    unsigned char *counts;   /* places of 64 bytes; see counts.h */
    struct record_tag *tags; /* one for each */
    uint64_t counts_mask;    /* of offsets in it */
    uint64_t counts_factor;
    struct trace_thread *shared;
    uintptr_t pending;    /* struct trace_count * to be counted, plus 1 if nested */
    uint32_t until_timed; /* acquisitions */
    uint32_t depth;
    struct record_hold hold[RECORD_HOLDS];

    uint32_t thread; /* number */
    uint32_t period; /* one acquisition of about so many is timed */
    uint32_t drawn;  /* the period when the next one was drawn */
    uint32_t random;
    uint32_t window_timed;
    uint64_t window_began; /* ns of the thread's CPU time */
    uint64_t window_ticks; /* that timing took since */
    int32_t skip;          /* left, while the thread is inside */
    uint64_t section_ended, timed_until; /* ticks */
    struct trace_use *failing; /* the last trylock's, and its failures in a row */
    uint32_t failing_run;
    bool ended;
    unsigned destructor_rounds;
    struct recording *next;      /* in the list of all */
    struct recording *next_gone; /* of those that ended */
    struct recording_base base;

    uint64_t switches_seen, switches_at; /* involuntary ones, and when they were read */

    uint32_t waited_for; /* a lock among whose waiters it is counted */
    struct atomic_u32 *waits_at; /* where they are counted by address, or NULL: none */
    uint64_t evictions; /* from the table of counts, since it grew */
    bool scattered;     /* see counts.c */
    struct uses_table *uses;
    struct stacks_cache *stacks;
    struct edges_cache *edges;
    uint64_t stack_ticks; /* spent on stacks */
    struct trace_use *waiting_use; /* of the wait under way */
    int cpu;                       /* at the last timed operation */
    struct thread_counter *counter; /* of cache misses, or NULL */
    struct record_seen seen_outer, seen_inner; /* the sampler's */
    struct trace_weight weight[RECORD_WEIGHTS]; /* not yet in the file */
};

/* What was said of the lock's line above. */
static inline void record_approach(const void *object)
{
    prefetch_for_write((const struct atomic_u32 *)object);
}

/* 40 bytes of initial-exec thread-local storage. */
struct record_here {
    struct recording *me; /* NULL: nothing is recorded now */
    int32_t skip;         /* acquisitions that pass before the next is looked at */
    uint32_t watching;    /* 0: no recorded hold can end here */
    uint32_t inside;
    uint32_t ended;
    uint32_t careful; /* acquisitions that look closer; see record_looks_closer */
    struct recording *own; /* also while inside */
};
extern __thread struct record_here record_here
    __attribute__((tls_model("initial-exec"))) RECORD_HIDDEN;

static inline uintptr_t record_key(const void *object, enum trace_operation operation)
{
    return (uintptr_t)object + (operation == TRACE_READ);
}

static inline uintptr_t record_address(uintptr_t key, enum trace_operation operation)
{
    return key - (operation == TRACE_READ);
}

/* The place of a key in the thread's table of counts, as an offset. */
static inline uint64_t record_place(const struct recording *me, uintptr_t key)
{
    return key * me->counts_factor >> 32 & me->counts_mask;
}

/*
 * Whether the thread has found a lock taken in its last RECORD_CAREFUL acquisitions.
 * Then the hook should look at all there is: the word, and record_may_be_coming. As
 * long as nothing is contended, it may look at what costs least: a word that an atomic
 * operation has just written is slow to load, 2.5 ns in a loop of locking and
 * unlocking; the owner beside it is not.
 */
static inline bool record_looks_closer(void)
{
    if (likely(!record_here.careful))
        return false;
    record_here.careful--;
    return true;
}

/*
 * The mutexes behind are not the C library's own, which are free for whoever comes
 * first: others may be handed over, and look free on their way to the next holder.
 */
extern bool record_hands_over RECORD_HIDDEN;

/* Whether somebody waits for it, or for another with the same place in a table. */
bool record_is_waited_for(const void *object) RECORD_HIDDEN;

/* Whether a lock that looks free may be on its way to somebody. */
static inline bool record_may_be_coming(const void *object)
{
    return unlikely(record_hands_over) && record_is_waited_for(object);
}

/* True when the acquisition is none of the recorder's business: it is off, or this one
 * is not in the sample. In full mode `skip` is 0. */
static inline bool record_passes(bool busy)
{
    int32_t skip = record_here.skip;
    if (skip <= 0 || busy)
        return false;
    record_here.skip = skip - 1;
    return true;
}

/*
 * Counts what is pending. A program with thousands of locks finds the entry of most in
 * no cache; the lock's atomic operation would wait for it. So an entry is only fetched
 * when its lock is acquired, and written at the thread's next acquisition, or when the
 * recorder has something else to do.
 */
static inline void record_settle(struct recording *me)
{
    const uintptr_t pending = me->pending;
    if (!pending)
        return;
    me->pending = 0;
    struct trace_count *count = (struct trace_count *)(pending & ~(uintptr_t)1);
    struct trace_use *use = (struct trace_use *)(uintptr_t)count->private;
    if (unlikely(!use)) /* at the process's end: its thread has just given it up */
        return;
    count->acquisitions++;
    use->acquisitions++;
    if (pending & 1)
        use->nested++;
}

/* The entry of a lock, fetched; and its number. NULL: it is not in its first place. */
static inline struct trace_count *record_fetch(const struct recording *me,
                                               uintptr_t key, uint32_t *lock)
{
    const uint64_t place = record_place(me, key);
    const struct record_tag *tag = &me->tags[place / sizeof(struct trace_count)];
    if (unlikely(tag->key != (uint32_t)key))
        return NULL;
    *lock = tag->lock;
    struct trace_count *count = (void *)(me->counts + place);
    prefetch_for_write((const struct atomic_u64 *)(const void *)count);
    return count;
}

static inline void record_pend(struct recording *me, struct trace_count *count,
                               bool nested)
{
    record_settle(me);
    me->pending = (uintptr_t)count + nested;
}

/*
 * Counts an outermost acquisition that nothing is to be said about, before it is made:
 * the caller may end in a tail call. `special`: it is busy, or may fail. If another
 * thread slips in, the wait goes unseen.
 */
static inline bool record_counts(const void *object, bool special)
{
    struct recording *me = record_here.me;
    if (unlikely(!me))
        return false;
    uintptr_t key = (uintptr_t)object;
    uint32_t lock;
    struct trace_count *count = record_fetch(me, key, &lock);
    if (unlikely(!count || special || me->depth || me->until_timed <= 1))
        return false;
    me->until_timed--;
    record_pend(me, count, false);
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
bool record_counts_nested(const void *object, void *caller) RECORD_HIDDEN;
bool record_uncounts_nested(const void *object) RECORD_HIDDEN;

/* Nothing to be done at this release (sampled mode: most; full mode: never). */
static inline bool record_release_passes(void)
{
    return !record_here.watching;
}

/* The release of what record_counts counted, before it is made. */
static inline bool record_uncounts(const void *object)
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
    bool waits; /* published */
    bool perhaps; /* it looked free, but had waiters: how long it takes will tell */
    bool tries;
    uint32_t operation;
    void *caller;
};

/* False: pass it through, nothing more to be called. */
bool record_begin(struct record_acquisition *a, const void *object,
                  const struct record_as *as, bool busy, void *caller) RECORD_HIDDEN;
void record_end(struct record_acquisition *a, enum record_result) RECORD_HIDDEN;

/* A trylock that nothing but its result is to be said about: what record_counted_try
 * needs behind it. NULL: call record_try. */
struct trace_count *record_counts_try(const void *object) RECORD_HIDDEN;
void record_counted_try(struct trace_count *count, const void *object,
                        const struct record_as *as, bool got,
                        void *caller) RECORD_HIDDEN;

/* A trylock; ended by record_tried. */
bool record_try(struct record_acquisition *a, const void *object,
                const struct record_as *as, void *caller) RECORD_HIDDEN;
void record_tried(struct record_acquisition *a, bool got) RECORD_HIDDEN;

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

/* Something that is a bug; the same again is only counted. `lock` and `other` are
 * numbers (record_lock_number, or of a hold), or 0. */
void record_event(struct recording *me, enum trace_event_kind, uint32_t lock,
                  uint32_t other, void *caller) RECORD_HIDDEN;

/* The calling thread's memory, or NULL: off, inside, or ended. May register it. */
struct recording *record_me(void) RECORD_HIDDEN;

/* From here to record_leave everything that the thread calls passes unrecorded. */
void record_enter(struct recording *me) RECORD_HIDDEN;
void record_leave(struct recording *me) RECORD_HIDDEN;

/* The number of a lock by its address, or 0. */
uint32_t record_lock_number(const void *object) RECORD_HIDDEN;

#endif
