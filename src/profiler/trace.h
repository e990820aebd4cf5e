/* SPDX-License-Identifier: MIT */
/*
 * The trace: what the recorder writes and every report reads. Nothing else connects the
 * two.
 *
 * One file for each process, mapped shared while it runs, so that what was recorded is
 * there however the process ends; a reader may look while it is being written. Native
 * byte order, no pointers. A file is a row of chunks of TRACE_CHUNK bytes. Chunk 0
 * holds the header; every other chunk begins with a struct trace_chunk that says what
 * its records are. Space is allocated on the disk before it is touched; when there is
 * no more, or `bytes_limit` is reached, recording goes on in what exists and the header
 * counts what got lost.
 *
 * WRITERS AND READERS. A record is complete before `used` of its chunk counts it
 * (release; the reader loads it first, acquire). Afterwards single fields change in
 * place, each by plain stores of one size, so a reader sees old or new values, never
 * torn ones; sums that belong together may differ by the operation that is under way.
 *
 * NUMBERS. Threads, locks, stacks, sites and modules are numbered from 1 in the order
 * in which they came; record number n of a kind is the nth one in the file, counted
 * over the chunks of that kind by their `first`. 0 means none.
 *
 * TIME is in ticks of the processor's constant counter; the header's two pairs of ticks
 * and CLOCK_MONOTONIC nanoseconds give the scale.
 *
 * A change that an old reader would misread raises TRACE_VERSION; a field that is added
 * takes reserved space and is 0 in older files.
 */
#ifndef HASP_PROFILER_TRACE_H
#define HASP_PROFILER_TRACE_H

#include <stdint.h>

#define TRACE_MAGIC "hasptrc"

enum {
    TRACE_VERSION = 1,
    TRACE_CHUNK = 1 << 16, /* bytes */
    TRACE_FRAMES = 14,     /* return addresses kept of a stack */
    TRACE_HELD = 12,       /* held locks published by a thread, the outermost first */
    TRACE_BUCKETS = 128,
};

enum trace_kind {
    TRACE_FREE,    /* nothing yet, or no longer */
    TRACE_THREADS, /* struct trace_thread */
    TRACE_LOCKS,   /* struct trace_lock */
    TRACE_STACKS,  /* struct trace_stack */
    TRACE_MODULES, /* struct trace_module */
    TRACE_LOCK_COUNTS,  /* struct trace_lock_count: one thread's table, see trace_thread.counts */
    TRACE_SITE_STATS,    /* struct trace_site_stats */
    TRACE_LOCK_ORDER,   /* struct trace_lock_order */
    TRACE_WAITER_SAMPLES, /* struct trace_waiter_sample: the time line of locks */
    TRACE_PROCESS_SAMPLES, /* struct trace_process_sample: the time line of the process */
    TRACE_STACK_PROFILE, /* struct trace_stack_weight */
    TRACE_EVENTS,  /* struct trace_event */
};

/* Two readings of both clocks; the second is renewed as long as the process runs. */
struct trace_clock {
    uint64_t ticks;
    uint64_t monotonic_ns;
    uint64_t wall_ns; /* CLOCK_REALTIME */
};

struct trace_header {
    char magic[8];       /* TRACE_MAGIC; written last, when the rest is valid */
    uint32_t version;    /* TRACE_VERSION */
    uint32_t byte_order; /* 0x01020304 as the writer stores it */
    uint32_t chunk_bytes;
    uint32_t chunks; /* in use, this one included; only grows */
    uint64_t bytes_limit;
    uint64_t session; /* the same in all files of one `hasp profile` */
    uint32_t pid, parent_pid;
    uint32_t cpus;      /* that the process may use: affinity and quota */
    uint32_t nodes;     /* NUMA nodes */
    uint32_t mode;      /* TRACE_FULL or TRACE_SAMPLED */
    uint32_t sample_of; /* TRACE_SAMPLED: one acquisition of about so many */
    uint32_t sampler_hz;
    uint32_t ended; /* TRACE_RUNNING, TRACE_EXITED, TRACE_REPLACED (exec) */
    struct trace_clock begin, latest;
    /* Self-calibration, on this machine at the start, in picoseconds: what the recorder
     * adds to one lock and unlock that is only counted, to one that is timed, and what
     * one stack costs, with everything in the cache. What it took in the program is in
     * trace_thread.overhead_ticks. */
    uint64_t counted_cost_ps, timed_cost_ps, stack_cost_ps;
    /* How often something did not fit: locks, threads' tables of counts, uses, stacks,
     * edges, others. What has no record is not known again, and counts once more. */
    uint64_t lost_locks, lost_lock_counts, lost_site_stats, lost_stacks, lost_lock_order, lost_others;
    uint64_t locks_created, locks_destroyed; /* of all kinds, by init and destroy */
    uint32_t full;       /* 1: the disk was full, 2: bytes_limit was reached */
    uint32_t stopped_by; /* a signal that killed the process, where it was caught */
    uint64_t samples;    /* of the sampler at all threads, so far; while nobody waits
                            one of them stands for several, and counts as such */
    uint64_t sampler_ns; /* CPU time of its thread */
    uint32_t counter;    /* enum trace_counter */
    uint32_t counter_error; /* why there is none: errno; ECANCELED: not asked for */
    uint64_t reserved[13];
    char lock[64];       /* the lock the process runs under: a name of `hasp list` */
    char command[4096];  /* /proc/self/cmdline: arguments, each with its 0; cut */
    char executable[1024];
};

/* What cache_misses of uses are; 0: nothing, see counter_error. */
enum trace_counter {
    TRACE_CACHE_MISSES = 1,  /* the processor's event of that name */
    TRACE_LAST_LEVEL_MISSES, /* of loads */
    TRACE_PAGE_FAULTS,       /* instead of them, for tests */
};

enum trace_mode { TRACE_FULL = 1, TRACE_SAMPLED = 2 };
enum trace_end { TRACE_RUNNING, TRACE_EXITED, TRACE_REPLACED };

struct trace_chunk {
    uint32_t kind;         /* enum trace_kind */
    uint32_t record_bytes; /* a reader steps by this, and reads what it knows */
    uint32_t first;        /* number of its first record, or 0 if not numbered */
    uint32_t used;         /* records that are complete */
    uint32_t writer;       /* thread, or 0: several */
    uint32_t follow;       /* chunks behind this one that its records run on through,
                              without a head of their own */
    uint64_t reserved[5];
};

/*
 * A histogram of ticks: bucket 0 counts below 32; bucket 1 + 4 * k + q counts
 * 2^(5+k) * (4+q)/4 up to the next boundary; the last counts all above.
 */
struct trace_histogram {
    uint32_t bucket[TRACE_BUCKETS];
};

static inline unsigned trace_bucket(uint64_t ticks)
{
    if (ticks < 32)
        return 0;
    unsigned octave = 63 - (unsigned)__builtin_clzll(ticks); /* 5 or more */
    unsigned quarter = (unsigned)(ticks >> (octave - 2)) & 3;
    unsigned bucket = 1 + 4 * (octave - 5) + quarter;
    return bucket < TRACE_BUCKETS ? bucket : TRACE_BUCKETS - 1;
}

enum trace_operation {
    TRACE_IDLE,
    TRACE_LOCK,    /* mutexes, spinlocks */
    TRACE_READ,    /* rwlocks */
    TRACE_WRITE,   /* rwlocks */
    TRACE_WAIT,    /* condition variables */
    TRACE_BARRIER, /* barriers */
    TRACE_RELOCK,  /* a mutex after a wait on a condition variable */
};

/* A thread; its record is used again by a later one when it has ended and there are
 * many (`reused` counts that; its sums then go on). */
struct trace_thread {
    uint32_t tid;
    uint32_t reused;
    char name[16];
    uint64_t began, ended; /* ticks, of the latest thread; ended 0: alive */
    /* Published while it waits. The sampler and whoever looks at a hanging process read
     * these: `waiting_for` is stored last before the wait, and 0 first behind it. */
    uint32_t waiting_for; /* lock */
    uint32_t waiting_to;  /* enum trace_operation */
    uint64_t waiting_since;
    uint32_t depth;            /* locks held */
    uint32_t held[TRACE_HELD]; /* their numbers */
    uint32_t stack;            /* of the wait under way, if one was taken, or 0 */
    /* Sums over its life. */
    uint64_t section_ticks; /* in critical sections: acquire, hold and release of the
                               outermost ones; nested ones are part of them (the RCL
                               paper's measure) */
    uint64_t wait_ticks;    /* to acquire; condition variables and barriers apart */
    uint64_t idle_ticks;    /* in waits on condition variables and barriers */
    uint64_t counted, timed, stacks; /* operations that were; see counted_cost_ps. The
                                        timed ones are not among those counted */
    uint64_t cpu_ns;
    uint64_t voluntary, involuntary; /* context switches */
    uint64_t minor_faults, major_faults;
    uint64_t migrations;      /* seen: another CPU than at the last timed operation */
    uint64_t preempted_holds; /* holds in which an involuntary switch was seen */
    uint64_t long_holds;      /* holds that were looked at for that: over 100 us */
    uint64_t lock_counts;     /* chunk that begins its table of counts, or 0 */
    uint64_t earlier_ticks;   /* what the record's earlier threads lived */
    uint64_t overhead_ticks; /* that recording took of its time: as measured where operations
                           were timed, and as calibrated for those only counted */
    /* The sampler's, of holds under way: since when the outermost one lasts, at least,
     * or 0; and whether that will be added to uses when it ends. */
    uint64_t holding_since;
    uint32_t holding_timed;
    /* A lock that the thread publishes as held, and waits for: another was quicker. */
    uint32_t unseen_for;
    uint64_t unseen_since;
    uint64_t inner_since; /* as holding_since, of the innermost hold if there are several */
};

enum trace_lock_kind {
    TRACE_MUTEX = 1,
    TRACE_RWLOCK,
    TRACE_SPINLOCK,
    TRACE_CONDITION,
    TRACE_BARRIER_OBJECT,
};

enum trace_lock_flags {
    TRACE_RECURSIVE = 1,
    TRACE_ERRORCHECK = 2,
    TRACE_SHARED = 4, /* between processes */
    TRACE_ROBUST = 8,
    TRACE_PRIORITY = 16,
    TRACE_STATIC = 32, /* no init was seen: initialised in place */
    TRACE_WRITERS_FIRST = 64, /* a rwlock whose readers wait behind waiting writers */
};

/* A lock: from its init, or from its first use where there was none, to its destroy.
 * One that is made again at the same address by the same site keeps its record. */
struct trace_lock {
    uint64_t address;
    uint32_t kind;
    uint32_t flags;
    uint32_t created_stack; /* by init, or 0 */
    uint32_t first_stack;   /* the first acquisition, or 0 */
    uint32_t site;          /* stack that stands for all locks of the same origin */
    uint32_t creations;     /* how often it was created */
    uint64_t born, died;    /* ticks; died 0: alive */
    uint32_t creator;       /* thread */
    uint32_t bytes;         /* of the object itself */
    /* What threads counted that have no table of their own any more. */
    uint64_t acquisitions, contended, wait_ticks, hold_ticks;
    uint64_t owner_changes, node_changes;
    uint64_t reserved[4];
};

/* Return addresses, the innermost first. The module list makes them offsets. */
struct trace_stack {
    uint32_t depth;
    uint32_t hash;
    uint64_t frame[TRACE_FRAMES];
};

struct trace_module {
    uint64_t begin, end; /* addresses */
    uint64_t bias;       /* address minus address in the file */
    uint32_t build_id_bytes;
    uint8_t build_id[20];
    char path[208]; /* the end of it, if it is longer */
};

/* What one thread did with one lock; a hash table by address, so `used` is the number
 * of places and those with address 0 are empty. Lock 0: one without a record, of that
 * site. The address of what readers of an rwlock did is one more than the lock's. When
 * the table is full or grows, sums move to trace_lock or to another table. While a
 * thread lives, its last acquisition may not be counted yet, here and in trace_use. */
struct trace_lock_count {
    uint64_t address;
    uint32_t lock;
    uint32_t site;
    uint64_t acquisitions;
    uint32_t contended;
    uint32_t timed; /* holds that were timed: hold_ticks is theirs, scaled up */
    uint64_t wait_ticks;
    uint64_t hold_ticks;
    uint32_t owner_changes; /* acquisitions after another thread's */
    uint32_t node_changes;  /* the same, of another NUMA node */
    uint64_t private;       /* the recorder's */
};

/*
 * What one thread did with all locks of one site, one kind of operation; thread 0:
 * what threads did that ended or had no room (or, with nothing done, a spare record).
 *
 * Contended acquisitions are all timed. Of the others one in some is, at random, and
 * stands for those in between: it adds their number to a bucket of `hold`, and
 * `hold_ticks` is scaled likewise; in sampled mode `acquisitions` and `trylocks`, too.
 * `wait` and `handover` have the contended ones, each once.
 */
struct trace_site_stats {
    uint32_t thread;
    uint32_t site;
    uint32_t operation; /* enum trace_operation */
    uint32_t lock_kind;
    uint64_t acquisitions; /* TRACE_WAIT, TRACE_BARRIER: waits */
    uint64_t contended;    /* had to wait */
    uint64_t wait_ticks, wait_most;
    uint64_t hold_ticks, hold_most; /* hold_ticks scaled up from `timed` holds */
    uint64_t timed;
    uint64_t handovers, handover_ticks, handover_most; /* release to the next acquire,
                                                          somebody waiting */
    uint64_t trylocks, trylock_failures, longest_failing_run;
    uint64_t timeouts;
    uint64_t signals, broadcasts; /* TRACE_WAIT */
    uint64_t owner_changes, node_changes;
    uint64_t samples_spinning, samples_parked; /* of waits, by the sampler */
    uint64_t nested;                           /* acquired while another was held */
    uint64_t cache_misses, counted_sections;   /* where perf events exist, else 0, 0 */
    /* Estimates, scaled up from timed ones: acquisitions that looked free and yet took
     * long, for another thread was quicker (or the thread was interrupted). They are
     * not among the contended ones, nor in `wait`. */
    uint64_t unseen_waits, unseen_wait_ticks;
    uint64_t reserved[6];
    struct trace_histogram wait, hold, handover;
};

/* `inner` was acquired while `outer` was held. */
struct trace_lock_order {
    uint32_t outer, inner; /* locks */
    uint32_t stack;        /* of the first such acquisition of inner */
    uint32_t thread;
    uint64_t count; /* at least */
    uint32_t by_try; /* only ever by trylock: cannot deadlock */
    uint32_t modes;  /* bits of enum trace_order_modes; 0: not known */
};

/* How the two were held and acquired, so far as it was seen by this thread or that. */
enum trace_order_modes {
    TRACE_BOTH_ALONE = 1,   /* neither as a reader of a rwlock */
    TRACE_INNER_READ = 2,   /* inner as a reader */
    TRACE_OUTER_READ = 4,   /* outer held as a reader */
    TRACE_BOTH_READ = 8,
};

/* A lock for which threads waited when the sampler looked; those of one look have the
 * same `ticks`. A look at which nobody waited leaves none. Old samples are thinned out
 * when there are too many: `weight` is how many looks one stands for. */
struct trace_waiter_sample {
    uint64_t ticks;
    uint32_t lock;
    uint16_t waiters;
    uint16_t spinning; /* of those whose state was looked at (`inspected`), running */
    uint16_t inspected;
    uint16_t weight;
    uint32_t holder; /* thread, or 0 */
};

struct trace_process_sample {
    uint64_t ticks;
    uint32_t threads;
    uint32_t waiting;  /* for locks */
    uint32_t runnable; /* running or ready, as the kernel says; 0 if not known */
    uint32_t weight;
    uint64_t cpu_ns, system_ns;
    uint64_t minor_faults, major_faults;
    uint64_t voluntary, involuntary;
    uint64_t locks_created, locks_destroyed;
};

/* Where time went: sums of the waits and holds whose stack was taken, each standing for
 * those since the last one of that thread. */
struct trace_stack_weight {
    uint32_t lock, stack;
    uint64_t waits, wait_ticks;
    uint64_t holds, hold_ticks;
};

enum trace_event_kind {
    TRACE_SELF_DEADLOCK = 1,   /* locks what it holds, of a kind that does not allow */
    TRACE_FOREIGN_UNLOCK,      /* unlocked by a thread that does not hold it */
    TRACE_UNLOCK_REFUSED,      /* the same, refused: EPERM */
    TRACE_DESTROYED_HELD,
    TRACE_INITIALISED_HELD,   /* made anew, or its memory used again, while held */
    TRACE_EXITED_HOLDING,      /* a thread ended */
    TRACE_HELD_AT_EXIT,        /* the process ended */
    TRACE_DESTROYED_WAITED,    /* destroyed while threads wait */
    TRACE_RELOCK_REFUSED,      /* locks what it holds, refused: EDEADLK */
};

struct trace_event {
    uint64_t ticks;
    uint32_t kind;
    uint32_t thread;
    uint32_t lock;
    uint32_t other; /* thread: the holder, where known */
    uint32_t stack;
    uint32_t count; /* the same again is only counted */
};

#endif
