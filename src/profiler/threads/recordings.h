/* SPDX-License-Identifier: MIT */
/* The recorder's memory for each thread. */
#ifndef HASP_PROFILER_THREADS_RECORDINGS_H
#define HASP_PROFILER_THREADS_RECORDINGS_H

#include "profiler/store/series.h"
#include "profiler/store/stack_profile.h"

enum {
    RECORD_HOLDS = 48, /* of one thread; deeper nesting is not followed */
    RECORD_NEVER = INT32_MAX,
};

/* A lock that the thread holds. */
struct record_hold {
    uintptr_t key;
    bool timed, contended;
    bool sampled;    /* timed because the sampling rate chose it */
    uint8_t section; /* slot of its cache miss reading, or 0 (perf_counters.c) */
    uint32_t lock;
    uint32_t weight; /* acquisitions that it represents */
    uint32_t stack;
    struct trace_lock_count *count;
    struct trace_site_stats *use;
    /* In ticks, of timed ones. */
    uint64_t asked, got; /* call and return of the lock function */
    uint64_t handover;   /* since the previous release, if it waited for that */
    uint64_t overhead;   /* of the recorder, before `asked` */
};

/* Sums of the earlier threads of the same record. */
struct recording_base {
    uint64_t cpu_ns, user_ns, system_ns;
    uint64_t voluntary, involuntary;
    uint64_t minor_faults, major_faults;
};

/* The sampler's view of a hold, to recognise it in the next sample (sample_holds.h). */
struct record_seen {
    uintptr_t key;
    uint64_t acquisitions; /* of the lock by the thread */
    uint64_t since;        /* ticks */
    uint32_t depth;
};

/* Identifies the lock in a slot of the lock counts; eight tags share a cache line. */
struct record_tag {
    uint32_t key; /* low bits, which identify the key together with the slot */
    uint32_t lock;
};

/* A thread's own memory. The counted path reads only the first cache line of it. */
struct recording {
    unsigned char *counts;   /* slots of 64 bytes; see lock_counts.h */
    struct record_tag *tags; /* one for each slot */
    uint64_t counts_mask;    /* of offsets in `counts` */
    uint64_t counts_factor;
    struct trace_thread *shared;
    uintptr_t pending; /* struct trace_lock_count * not counted yet, plus 1 if nested */
    uint32_t until_timed; /* acquisitions until the next timed one */
    uint32_t depth;
    struct record_hold hold[RECORD_HOLDS];

    uint32_t thread; /* number */
    uint32_t period; /* about one in so many acquisitions is timed */
    uint32_t drawn;  /* the period when the next sample was drawn */
    uint32_t random;
    uint32_t window_timed;
    uint64_t window_began;               /* ns of the thread's CPU time */
    uint64_t window_ticks;               /* overhead of timing since then */
    int32_t skip;                        /* saves record_here.skip while inside */
    uint64_t section_ended, timed_until; /* ticks */
    struct trace_site_stats *failing;    /* site of the last trylock */
    uint32_t failing_run;                /* its failures in a row */
    uint64_t failed_at;                  /* ticks: when the last one failed */
    uint64_t failed_sleeps; /* by the thread until then, or until a series began */
    uint64_t between_since;  /* ticks: what is measured began then, or 0 (between.h) */
    uint32_t between_weight; /* of the hold before it */
    uint32_t between_left;   /* `until_timed` or `skip`, to be restored after it */
    const void *woken_on; /* the condition variable that woke it last, or NULL */
    uint64_t woken_at;    /* ticks: when that wait ended with the mutex held */
    bool ended;
    unsigned destructor_rounds;
    struct recording *next;      /* in the list of all */
    struct recording *next_gone; /* of those that ended */
    struct recording_base base;

    uint64_t involuntary_seen;    /* context switches (preemption.h) */
    uint64_t involuntary_read_at; /* ticks */

    uint32_t waited_for;         /* the lock that counts this thread as a waiter */
    struct atomic_u32 *waits_at; /* the slot of its address, or NULL: not waiting */
    uint64_t evictions;          /* from the lock counts since the table grew */
    bool scattered;              /* see lock_counts.c */
    struct site_stats_table *uses;
    struct stack_cache *stacks;
    struct order_cache *order;
    uint64_t stack_ticks;                      /* spent on stacks */
    struct trace_site_stats *waiting_use;      /* of the wait in progress */
    int cpu;                                   /* at the last timed operation */
    struct thread_counter *counter;            /* of cache misses, or NULL */
    struct record_seen seen_outer, seen_inner; /* the sampler's */
    struct hold_log *log;                      /* or NULL: never watched */
    struct trace_between *between;             /* in the file, or NULL: not yet */
    struct trace_between between_own;          /* the same until then */
    struct trace_stack_weight weight[STACK_PROFILE_OWN]; /* not yet in the file */
};

/* 40 bytes of initial-exec thread-local storage. */
struct record_here {
    struct recording *me; /* NULL: nothing is recorded now */
    int32_t skip;         /* acquisitions to skip before the next one is recorded */
    uint32_t watching;    /* 0: no recorded hold can end now */
    uint32_t inside;
    uint32_t ended;
    uint32_t careful; /* acquisitions left to inspect; see record_inspects_closely */
    struct recording *recording; /* as `me`, also while inside */
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

/* Returns the slot of a key in the thread's lock counts, as an offset. */
static inline uint64_t record_slot(const struct recording *me, uintptr_t key)
{
    return key * me->counts_factor >> 32 & me->counts_mask;
}

/*
 * Counts the pending acquisition. With thousands of locks most entries are in no cache,
 * and the lock's atomic operation would wait for the miss. So an entry is only
 * prefetched when its lock is acquired, and written at the thread's next acquisition or
 * when the recorder is entered.
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
    if (unlikely(!use)) /* at process end: its thread has just evicted it */
        return;
    count->acquisitions++;
    use->acquisitions++;
    if (pending & 1)
        use->nested++;
}

/* Returns the head of the list of all recordings, the newest first. None is removed. */
struct recording *recordings_first(void);
void recordings_add(struct recording *me);

/* Resets the module in a forked child. */
void recordings_forget(void);

#endif
