/* SPDX-License-Identifier: MIT */
/* The memory of the threads that are recorded. */
#ifndef HASP_PROFILER_THREADS_RECORDINGS_H
#define HASP_PROFILER_THREADS_RECORDINGS_H

#include "profiler/store/series.h"
#include "profiler/store/stack_profile.h"

enum {
    RECORD_HOLDS = 48, /* of one thread; deeper ones are not followed */
    RECORD_NEVER = INT32_MAX,
};

/* A lock that the thread holds. */
struct record_hold {
    uintptr_t key;
    bool timed, contended;
    bool sampled;    /* timed because its turn had come (pace.h) */
    uint8_t section; /* in which cache misses are counted, or 0 (counters.h) */
    uint32_t lock;
    uint32_t weight; /* acquisitions that it stands for */
    uint32_t stack;
    struct trace_lock_count *count;
    struct trace_site_stats *use;
    uint64_t asked, got; /* ticks, of timed ones */
    uint64_t handover;   /* ticks since the release before, if it waited for that */
    uint64_t overhead;   /* ticks that the recorder took before it, of timed ones */
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
    unsigned char *counts;   /* slots of 64 bytes; see counts.h */
    struct record_tag *tags; /* one for each */
    uint64_t counts_mask;    /* of offsets in it */
    uint64_t counts_factor;
    struct trace_thread *shared;
    uintptr_t pending; /* struct trace_lock_count * to be counted, plus 1 if nested */
    uint32_t until_timed; /* acquisitions */
    uint32_t depth;
    struct record_hold hold[RECORD_HOLDS];

    uint32_t thread; /* number */
    uint32_t period; /* one acquisition of about so many is timed */
    uint32_t drawn;  /* the period when the next one was drawn */
    uint32_t random;
    uint32_t window_timed;
    uint64_t window_began;               /* ns of the thread's CPU time */
    uint64_t window_ticks;               /* that timing took since */
    int32_t skip;                        /* left, while the thread is inside */
    uint64_t section_ended, timed_until; /* ticks */
    struct trace_site_stats
        *failing; /* the last trylock's, and its failures in a row */
    uint32_t failing_run;
    bool ended;
    unsigned destructor_rounds;
    struct recording *next;      /* in the list of all */
    struct recording *next_gone; /* of those that ended */
    struct recording_base base;

    uint64_t involuntary_seen,
        involuntary_read_at; /* involuntary ones, and when they were read */

    uint32_t waited_for;         /* a lock among whose waiters it is counted */
    struct atomic_u32 *waits_at; /* where they are counted by address, or NULL: none */
    uint64_t evictions;          /* from the table of counts, since it grew */
    bool scattered;              /* see counts.c */
    struct site_stats_table *uses;
    struct stack_cache *stacks;
    struct order_cache *order;
    uint64_t stack_ticks;                      /* spent on stacks */
    struct trace_site_stats *waiting_use;      /* of the wait under way */
    int cpu;                                   /* at the last timed operation */
    struct thread_counter *counter;            /* of cache misses, or NULL */
    struct record_seen seen_outer, seen_inner; /* the sampler's */
    struct trace_stack_weight weight[STACK_PROFILE_OWN]; /* not yet in the file */
};

/* 40 bytes of initial-exec thread-local storage. */
struct record_here {
    struct recording *me; /* NULL: nothing is recorded now */
    int32_t skip;         /* acquisitions that pass before the next is looked at */
    uint32_t watching;    /* 0: no recorded hold can end here */
    uint32_t inside;
    uint32_t ended;
    uint32_t careful; /* acquisitions that look closer; see record_inspects_closely */
    struct recording *recording; /* also while inside */
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
static inline uint64_t record_slot(const struct recording *me, uintptr_t key)
{
    return key * me->counts_factor >> 32 & me->counts_mask;
}

/*
 * Counts what is pending. A program with thousands of locks finds the entry of most in
 * no cache; the lock's atomic operation would wait for it. So an entry is only fetched
 * when its lock is acquired, and written at the thread's next acquisition, or when the
 * recorder has something else to do.
 */
static inline void record_flush_pending(struct recording *me)
{
    const uintptr_t pending = me->pending;
    if (!pending)
        return;
    me->pending = 0;
    struct trace_lock_count *count =
        (struct trace_lock_count *)(pending & ~(uintptr_t)1);
    struct trace_site_stats *use = (struct trace_site_stats *)(uintptr_t)count->private;
    if (unlikely(!use)) /* at the process's end: its thread has just given it up */
        return;
    count->acquisitions++;
    use->acquisitions++;
    if (pending & 1)
        use->nested++;
}

/* The first of all recordings, the newest first; none is ever taken out. */
struct recording *recordings_first(void);
void recordings_add(struct recording *me);

/* In a forked child. */
void recordings_forget(void);

#endif
