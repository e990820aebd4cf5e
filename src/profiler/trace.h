/* SPDX-License-Identifier: MIT */
/*
 * The format of the trace, the file that the recorder writes and every report reads.
 *
 * Each process has a file of its own and maps it shared while it runs, so its records
 * survive however the process ends, and a reader may look while it is being written.
 * Native byte order, no pointers. A file is a sequence of chunks of TRACE_CHUNK bytes.
 * Chunk 0 holds the header; every other chunk begins with a struct trace_chunk, which
 * gives the kind of its records. Disk space is allocated before it is touched. When the
 * disk is full or `bytes_limit` is reached, recording continues in the existing chunks,
 * and the header counts what was lost.
 *
 * WRITERS AND READERS. A record is complete before `used` of its chunk counts it: the
 * writer stores `used` with release, the reader loads it first, with acquire. After
 * that, single fields change in place, each by a plain store of its own size: a reader
 * sees old or new values, never torn ones. Sums that belong together may differ by the
 * operation in progress.
 *
 * NUMBERS. Threads, locks, stacks, sites and modules are numbered from 1 in order of
 * appearance. Record n of a kind is the nth in the file, counted over the chunks of
 * that kind by their `first`. 0 means none.
 *
 * TIME is in ticks of the processor's constant-rate counter. The two readings in the
 * header, of ticks and of CLOCK_MONOTONIC nanoseconds, give the scale.
 *
 * A change that an old reader would misread increments TRACE_VERSION. A new field takes
 * reserved space and is 0 in older files.
 */
#ifndef HASP_PROFILER_TRACE_H
#define HASP_PROFILER_TRACE_H

#include "profiler/trace_elision.h"
#include "profiler/trace_histogram.h"

#include <stdint.h>

#define TRACE_MAGIC "hasptrc"

enum {
    TRACE_VERSION = 2, /* 2: kinds from TRACE_HOLD_STATES on, and what is marked so */
    TRACE_CHUNK = 1 << 16, /* bytes */
    TRACE_FRAMES = 14,     /* return addresses kept of a stack */
    TRACE_HELD = 12,       /* held locks published by a thread, the outermost first */
    TRACE_TABLE = 1 << 12, /* bytes of a small table of lock counts */
};

enum trace_kind {
    TRACE_FREE,            /* unused, or no longer used */
    TRACE_THREADS,         /* struct trace_thread */
    TRACE_LOCKS,           /* struct trace_lock */
    TRACE_STACKS,          /* struct trace_stack */
    TRACE_MODULES,         /* struct trace_module */
    TRACE_LOCK_COUNTS,     /* struct trace_lock_count: tables of one or more threads */
    TRACE_SITE_STATS,      /* struct trace_site_stats */
    TRACE_LOCK_ORDER,      /* struct trace_lock_order */
    TRACE_WAITER_SAMPLES,  /* struct trace_waiter_sample: the timeline of locks */
    TRACE_PROCESS_SAMPLES, /* struct trace_process_sample: that of the process */
    TRACE_STACK_PROFILE,   /* struct trace_stack_weight */
    TRACE_EVENTS,          /* struct trace_event */
    TRACE_HOLD_STATES,     /* struct trace_hold_state */
    TRACE_CONTENTION,      /* struct trace_contention */
    TRACE_FOREIGN_WAITS,   /* struct trace_foreign_wait */
    TRACE_EXECUTED,        /* struct trace_executed */
    TRACE_DELEGATES,       /* struct trace_delegate */
    TRACE_SERVERS,         /* struct trace_server */
    TRACE_BETWEEN,         /* struct trace_between */
};

/* One reading of all clocks. */
struct trace_clock {
    uint64_t ticks;
    uint64_t monotonic_ns;
    uint64_t wall_ns; /* CLOCK_REALTIME */
};

struct trace_header {
    char magic[8];       /* TRACE_MAGIC; written last, when the rest is valid */
    uint32_t version;    /* TRACE_VERSION */
    uint32_t byte_order; /* 0x01020304 in the writer's byte order */
    uint32_t chunk_bytes;
    uint32_t chunks; /* in use, including this one; never decreases */
    uint64_t bytes_limit;
    uint64_t session; /* the same in all files of one `hasp profile` */
    uint32_t pid, parent_pid;
    uint32_t cpus;      /* available to the process: affinity and quota */
    uint32_t nodes;     /* NUMA nodes */
    uint32_t mode;      /* enum trace_mode */
    uint32_t sample_of; /* TRACE_SAMPLED: one acquisition in about so many is sampled */
    uint32_t sampler_hz;
    uint32_t ended;                   /* enum trace_end */
    struct trace_clock begin, latest; /* `latest` is renewed while the process runs */
    /* Measured at the start on this machine, in picoseconds, with everything in the
     * cache: what the recorder adds to a lock and unlock that is only counted, what it
     * adds to one that is timed, and the cost of one stack. Its real cost in the
     * program is in trace_thread.overhead_ticks. */
    uint64_t counted_cost_ps, timed_cost_ps, stack_cost_ps;
    /* Number of records of each kind that did not fit. An object without a record is
     * not recognised the next time and counts again. */
    uint64_t lost_locks, lost_lock_counts, lost_site_stats, lost_stacks;
    uint64_t lost_lock_order, lost_others;
    uint64_t locks_created, locks_destroyed; /* of all kinds, by init and destroy */
    uint32_t full;       /* 1: the disk was full, 2: bytes_limit was reached */
    uint32_t stopped_by; /* the signal that killed the process, where it was caught */
    uint64_t samples; /* of all threads, by the sampler, so far; while no thread waits,
                            one sample covers several periods and counts as that many */
    uint64_t sampler_ns;    /* CPU time of the sampler thread */
    uint32_t counter;       /* enum trace_counter, or 0: none, see counter_error */
    uint32_t counter_error; /* errno; ECANCELED: not requested */
    /* Since version 2. */
    uint32_t machine;         /* of ELF headers; numbers of system calls depend on it */
    uint32_t unread;          /* bits of enum trace_unread */
    uint64_t tasks_inspected; /* threads, summed over all samples of the process */
    uint32_t executed_error;  /* errno: instruction pointers cannot be sampled */
    uint32_t executed_hz;     /* their rate while a holder is watched, or 0 */
    /* Written by `hasp profile --duration`, not by the recorder. */
    uint64_t windowed;   /* 1: the sums are those from `begin` to `latest` */
    uint64_t skipped_ns; /* from the start of the recording to `begin` */
    /* The algorithms that the process ran under (`hasp list`): of rwlocks, spin locks
     * and barriers, separated by slashes; empty in older traces: glibc's. Then that of
     * mutexes. */
    char other_locks[64];
    char lock[64];
    char command[4096]; /* /proc/self/cmdline: arguments, each with its 0; truncated */
    char executable[1024];
    /* Written by `hasp profile` at the end: the other program that used most CPU time,
     * all its processes together, in hundredths of a CPU; empty: none did. */
    char neighbour[16];
    uint64_t neighbour_percent;
    uint64_t transactions; /* enum trace_transactions: of elided locks */
    /* A lock and unlock without the recorder, measured with the costs above; 0 in older
     * traces. */
    uint64_t pair_cost_ps;
    /* Written by `hasp profile` at the end: the processor's name, maker, family and
     * model; empty in older traces, and if they are not known. */
    char processor[128];
};

/* The event that `cache_misses` in the site statistics counts. */
enum trace_counter {
    TRACE_CACHE_MISSES = 1,  /* the processor's event of that name */
    TRACE_LAST_LEVEL_MISSES, /* of loads */
    TRACE_PAGE_FAULTS,       /* instead of misses, for tests */
};

enum trace_mode { TRACE_FULL = 1, TRACE_SAMPLED = 2 };
enum trace_end { TRACE_RUNNING, TRACE_EXITED, TRACE_REPLACED /* by exec */ };

struct trace_chunk {
    uint32_t kind;         /* enum trace_kind */
    uint32_t record_bytes; /* a reader steps by this, and reads the fields it knows */
    uint32_t first;        /* number of the first record, or 0 if not numbered */
    uint32_t used;         /* complete records */
    uint32_t writer;       /* thread, or 0: several */
    uint32_t follow;       /* number of chunks after this one that continue its records
                              without a header of their own */
    uint64_t owner;        /* see struct trace_lock_count; since version 2 */
    uint64_t reserved[4];
};

enum trace_operation {
    TRACE_IDLE,
    TRACE_LOCK,    /* mutexes, spinlocks */
    TRACE_READ,    /* rwlocks */
    TRACE_WRITE,   /* rwlocks */
    TRACE_WAIT,    /* condition variables */
    TRACE_BARRIER, /* barriers */
    TRACE_RELOCK,  /* a mutex after a wait on a condition variable */
};

/* A thread. When there are many, a later thread takes over the record of one that has
 * ended (`reused` counts that), and the sums continue. */
struct trace_thread {
    uint32_t tid;
    uint32_t reused;
    char name[16];
    uint64_t began, ended; /* ticks, of the latest thread; ended 0: alive */
    /* Published while the thread waits. `waiting_for` is stored last before the wait
     * and cleared first after it. */
    uint32_t waiting_for; /* lock */
    uint32_t waiting_to;  /* enum trace_operation */
    uint64_t waiting_since;
    uint32_t depth;            /* locks held */
    uint32_t held[TRACE_HELD]; /* their numbers */
    uint32_t stack;            /* of the wait in progress, or 0: none was taken */
    /* Sums. */
    uint64_t section_ticks; /* in critical sections: acquire, hold and release of the
                               outermost ones, nested ones included (the measure of the
                               RCL paper) */
    uint64_t wait_ticks;    /* to acquire; not on condition variables and barriers */
    uint64_t idle_ticks;    /* in waits on condition variables and barriers */
    uint64_t counted, timed,
        stacks; /* operations only counted, operations timed, stacks
                                        taken; see counted_cost_ps */
    uint64_t cpu_ns;
    uint64_t voluntary, involuntary; /* context switches */
    uint64_t minor_faults, major_faults;
    uint64_t migrations; /* observed: another CPU than at the last timed operation */
    uint64_t preempted_holds; /* long holds with an involuntary context switch */
    uint64_t long_holds;      /* holds of over 100 us, which were checked for that */
    uint64_t lock_counts;     /* the chunk with its table of lock counts, or 0 */
    uint64_t earlier_ticks;   /* lifetimes of the earlier threads of this record */
    uint64_t overhead_ticks;  /* cost of recording: measured for timed operations,
                               * calibrated for counted ones */
    /* Maintained by the sampler for holds in progress: a lower bound of when the
     * outermost one began, or 0; and whether that hold is timed, so that its duration
     * will be added to the site statistics when it ends. */
    uint64_t holding_since;
    uint32_t holding_timed;
    /* A mutex that the thread publishes as held but still waits for: another thread
     * took it first. */
    uint32_t unseen_for;
    uint64_t unseen_since;
    uint64_t inner_since; /* as holding_since, of the innermost hold where there are
                             several */
    /* Since version 2: stacks of the acquisitions of the outermost and the innermost
     * lock held, or 0: not taken. Maintained by the sampler. */
    uint32_t outer_stack, inner_stack;
    /* The parts of its CPU time in user mode and in the kernel; both 0: not known. Most
     * kernels estimate them by ticks of 1 to 10 ms. Of a thread that lives at the end,
     * each is rounded down to 10 ms. Records of some traces of version 2 end before
     * these fields. */
    uint64_t user_ns, system_ns;
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
    TRACE_STATIC = 32,        /* initialised in place, without a call */
    TRACE_WRITERS_FIRST = 64, /* a rwlock whose readers queue behind waiting writers */
};

/* A lock, from its init (or its first use, if it was not initialised by a call) to its
 * destroy. A lock created again at the same address and site keeps its record. */
struct trace_lock {
    uint64_t address;
    uint32_t kind;
    uint32_t flags;
    uint32_t created_stack; /* of the init, or 0 */
    uint32_t first_stack;   /* of the first acquisition, or 0 */
    uint32_t site;          /* the stack that all locks of the same origin share */
    uint32_t creations;
    uint64_t born, died; /* ticks; died 0: alive */
    uint32_t creator;    /* thread */
    uint32_t bytes;      /* size of the object */
    /* Counts of threads that no longer have an entry for it. */
    uint64_t acquisitions, contended, wait_ticks, hold_ticks;
    uint64_t owner_changes, node_changes;
    uint64_t reserved[4];
};

/* Return addresses, innermost first; the modules turn them into offsets. */
struct trace_stack {
    uint32_t depth;
    uint32_t hash;
    uint64_t frame[TRACE_FRAMES];
};

struct trace_module {
    uint64_t begin, end; /* addresses */
    uint64_t bias;       /* run-time address minus address in the file */
    uint32_t build_id_bytes;
    uint8_t build_id[20];
    char path[208]; /* the last part of a longer one */
};

/*
 * Counts of one lock by one thread. A chunk holds hash tables by address: `used` is the
 * number of slots, and slots with address 0 are empty. If the chunk has no `writer`,
 * each TRACE_TABLE bytes of it are one table; the thread is in `owner` of the chunk for
 * the first one, and for the others in `site` of their first slot, which is empty.
 * Lock 0 stands for locks of the site that have no record. The address of a rwlock's
 * readers is that of the lock plus one. When a table is full or grows, sums move to
 * trace_lock or to a larger table. The last acquisition of a living thread may not be
 * counted yet, here and in trace_site_stats.
 */
struct trace_lock_count {
    uint64_t address;
    uint32_t lock;
    uint32_t site;
    uint64_t acquisitions;
    uint32_t contended;
    uint32_t timed; /* timed holds; hold_ticks is scaled up from them */
    uint64_t wait_ticks;
    uint64_t hold_ticks;
    uint32_t owner_changes; /* the previous holder was another thread */
    uint32_t node_changes;  /* and ran on another NUMA node */
    uint64_t private;       /* for the recorder only */
};

/*
 * Statistics of one thread for one operation on all locks of one site. Thread 0 has the
 * sums of ended threads; an empty record of thread 0 is a spare one.
 *
 * Every contended acquisition is timed. Of the others, one in several is timed, chosen
 * at random, and represents those in between: it adds their number to a bucket of
 * `hold` and scales `hold_ticks` likewise; in sampled mode also `acquisitions` and
 * `trylocks`. `wait` and `handover` contain each contended acquisition once.
 */
struct trace_site_stats {
    uint32_t thread;
    uint32_t site;
    uint32_t operation; /* enum trace_operation */
    uint32_t lock_kind;
    uint64_t acquisitions; /* TRACE_WAIT, TRACE_BARRIER: waits */
    uint64_t contended;    /* acquisitions that had to wait */
    uint64_t wait_ticks, wait_most;
    uint64_t hold_ticks, hold_most; /* hold_ticks is scaled up from `timed` holds */
    uint64_t timed;
    uint64_t handovers, handover_ticks, handover_most; /* from a release to the next
                                                          acquisition by a waiter */
    uint64_t trylocks, trylock_failures, longest_failing_run;
    uint64_t timeouts;
    uint64_t signals, broadcasts; /* TRACE_WAIT */
    uint64_t owner_changes, node_changes;
    uint64_t samples_spinning, samples_parked; /* of waiting threads, by the sampler */
    uint64_t nested;                           /* acquired while another was held */
    uint64_t cache_misses, counted_sections;   /* 0, 0 without perf events */
    /* Estimates, scaled up from timed acquisitions that found the lock free and still
     * took long: another thread was faster, or the thread was interrupted. They are not
     * included in `contended` and `wait`. */
    uint64_t unseen_waits, unseen_wait_ticks;
    /* Since version 2. */
    uint64_t trying_ticks; /* from a failing trylock to the next try, if that followed
                              at once or the thread slept meanwhile */
    uint64_t woken_by_signal, woken_by_broadcast; /* TRACE_WAIT */
    uint64_t empty_signals;                       /* signals, broadcasts without any */
    uint64_t futile_wakes; /* the woken thread waited again at once */
    uint64_t taking_ticks; /* spent by the lock in timed acquisitions that found it
                              free, not scaled */
    struct trace_histogram wait, hold, handover;
    struct trace_elision elision; /* included in `acquisitions`, not in the times */
};

/* A pair of locks: `inner` was acquired while `outer` was held. */
struct trace_lock_order {
    uint32_t outer, inner; /* locks */
    uint32_t stack;        /* of the first such acquisition of inner */
    uint32_t thread;
    uint64_t count;  /* a lower bound */
    uint32_t by_try; /* only ever by trylock, which cannot deadlock */
    uint32_t modes;  /* bits of enum trace_order_modes; 0: not known */
    uint32_t gate;   /* a lock that every thread held exclusively, as its outermost, at
                        each of these acquisitions; 0: none */
    uint32_t reserved;
};

/* The ways in which any thread held and acquired the two locks. */
enum trace_order_modes {
    TRACE_BOTH_ALONE = 1, /* both exclusively */
    TRACE_INNER_READ = 2, /* inner as a reader */
    TRACE_OUTER_READ = 4, /* outer held as a reader */
    TRACE_BOTH_READ = 8,
};

/* The times of a thread from the release of an outermost lock to its next acquisition,
 * without waits on condition variables and barriers. A time is measured after each
 * sampled hold, and has the hold's weight in the sum and in the histogram. Threads of
 * which few were measured have no record. */
struct trace_between {
    uint32_t thread, reserved;
    uint64_t timed;
    uint64_t between_ticks;
    struct trace_histogram between;
};

/* Sums by lock and stack. Each wait or hold whose stack was taken represents those of
 * the thread since the previous one. */
struct trace_stack_weight {
    uint32_t lock, stack;
    uint64_t waits, wait_ticks;
    uint64_t holds, hold_ticks;
};

#include "profiler/trace_delegation.h"
#include "profiler/trace_events.h"
#include "profiler/trace_samples.h"

#endif
