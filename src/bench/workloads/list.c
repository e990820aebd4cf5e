/* SPDX-License-Identifier: MIT */
#include "bench/workloads/list.h"

const struct knob_description knob_list[KNOB_COUNT] = {
#define KNOB(NAME, id, lowest, highest, names, text)                                   \
    {.name = #id, .summary = text, .least = lowest, .most = highest, .words = names},
#include "bench/workloads/knobs.def"
#undef KNOB
};

enum { ANY = 4096 };

#define FUNCTIONS(kind)                                                                \
    .prepare = kind##_prepare, .work = kind##_work, .check = kind##_check

#define SETTINGS(...)                                                                  \
    .settings = {__VA_ARGS__},                                                         \
    .setting_count = sizeof((struct setting[]){__VA_ARGS__}) / sizeof(struct setting)

/* A pause of 400 cycles exceeds the latency between any two CPUs of the lock study's
 * machines, so a worker cannot reacquire a lock just because it is near. */
#define THINKING(pause)                                                                \
    {KNOB_THINK_CYCLES, pause}, {KNOB_THINK_NS, 0}, {KNOB_JITTER, 0},                  \
        {KNOB_STAGGER, 400},                                                           \
    {                                                                                  \
        KNOB_HOME, 0                                                                   \
    }
#define SECTIONS(lines, pause)                                                         \
    {KNOB_CS_LINES, lines}, {KNOB_CS_CYCLES, 0}, {KNOB_CS_NS, 0}, {KNOB_DRAIN, 1},     \
        THINKING(pause)

#define TABLE(locks)                                                                   \
    {KNOB_BUCKETS, 512}, {KNOB_ELEMENTS, 12}, {KNOB_STRIPES, locks},                   \
        {KNOB_TRYLOCK, 0}, {KNOB_PUT, 10}, {KNOB_REMOVE, 10},                          \
    {                                                                                  \
        KNOB_DRAIN, 1                                                                  \
    }

const struct workload workload_list[] = {
    {
        .name = "one-lock",
        .summary = "all workers acquire one lock, again and again",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS(SECTIONS(1, 400)),
        FUNCTIONS(sections),
    },
    {
        .name = "delegation",
        .summary = "sections of one object, executed by an executor or under a lock",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS({KNOB_EXECUTOR, 0}, {KNOB_LOCKS, 1}, {KNOB_SERVERS, 1},
                 {KNOB_READ_AHEAD, 1}, {KNOB_CHAINED, 0}, {KNOB_TIMES, 1},
                 SECTIONS(1, 400)),
        .enter = delegation_enter,
        .report = delegation_report,
        FUNCTIONS(delegation),
    },
    {
        .name = "n-locks",
        .summary = "each acquisition is of a random one of many locks",
        .shorthand = "locks",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS({KNOB_LOCKS, 512}, SECTIONS(1, 400)),
        FUNCTIONS(sections),
    },
    {
        .name = "hash-table",
        .summary = "look-ups, insertions and removals; a lock per bucket, or servers",
        .shape_of = "memcached-new",
        .shorthand = "buckets",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS(TABLE(0), {KNOB_SERVERS, 0}, {KNOB_WRITE_INTENT, 0},
                 {KNOB_READ_AHEAD, 0}, THINKING(400)),
        .enter = hash_table_enter,
        FUNCTIONS(hash_table),
    },
    {
        .name = "global-table",
        .summary = "the hash table under one lock; trylock=1: acquired by trylock only",
        .shape_of = "kyotocabinet, memcached-old (trylock=1)",
        .shorthand = "buckets",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS(TABLE(1), THINKING(400)),
        .enter = hash_table_enter,
        FUNCTIONS(hash_table),
    },
    {
        .name = "bank",
        .summary = "transfers and audits; by locks, or by transactions",
        .shorthand = "accounts",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS({KNOB_ACCOUNTS, 1024}, {KNOB_ATOMIC_BY, 0}, {KNOB_SERVERS, 1},
                 {KNOB_READ, 0}, {KNOB_ACCESS_CYCLES, 0}, {KNOB_DRAIN, 1},
                 THINKING(400)),
        .enter = bank_enter,
        FUNCTIONS(bank),
    },
    {
        .name = "task-queue",
        .summary = "tasks taken from a queue and put back, one lock for each queue",
        .shape_of = "radiosity, volrend",
        .shorthand = "queues",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS({KNOB_QUEUES, 1}, {KNOB_TASKS, 4}, {KNOB_WORK_CYCLES, 300},
                 {KNOB_UNEVEN, 20}, {KNOB_STAGGER, 400}, {KNOB_HOME, 0}),
        FUNCTIONS(task_queue),
    },
    {
        .name = "grid",
        .summary = "cells with a lock each; only neighbouring workers contend",
        .shape_of = "fluidanimate",
        .shorthand = "side",
        .threads_least = 1,
        .threads_most = 1024,
        .takes_lock = true,
        SETTINGS({KNOB_SIDE, 64}, SECTIONS(1, 200)),
        FUNCTIONS(grid),
    },
    {
        .name = "allocator",
        .summary = "objects that contain a lock: allocated, locked a few times, freed",
        .shape_of = "dedup",
        .shorthand = "objects",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS({KNOB_OBJECTS, 10000}, {KNOB_USES, 3}, SECTIONS(1, 400)),
        FUNCTIONS(allocator),
    },
    {
        .name = "unique-id",
        .summary = "work that rarely draws a number from a counter under a lock",
        .shape_of = "s_raytrace, s_raytrace_ll",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS(SECTIONS(1, 2000)),
        FUNCTIONS(sections),
    },
    {
        .name = "page-cache",
        .summary = "pages pinned in a directory under one lock, a lock for each frame",
        .shape_of = "sqlite, mysqld, rocksdb",
        .shorthand = "frames",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS({KNOB_PAGES, 4096}, {KNOB_FRAMES, 1024}, {KNOB_WORK_CYCLES, 20000},
                 {KNOB_UNEVEN, 20}, THINKING(400)),
        FUNCTIONS(page_cache),
    },
    {
        .name = "short-lived",
        .summary = "rounds in which all locks are created, acquired and destroyed",
        .shape_of = "water_nsquared, water_spatial, fmm",
        .shorthand = "life",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS({KNOB_LIFE, 100}, {KNOB_LOCKS, 512}, SECTIONS(1, 400)),
        FUNCTIONS(lifetimes),
    },
    {
        .name = "long-lived",
        .summary = "a few locks that are created once",
        .shape_of = "radiosity_ll, pca_ll",
        .shorthand = "locks",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS({KNOB_LIFE, 0}, {KNOB_LOCKS, 8}, SECTIONS(1, 400)),
        FUNCTIONS(lifetimes),
    },
    {
        .name = "barrier",
        .summary = "phases of work; waiters poll the barrier's lock with trylock",
        .shape_of = "streamcluster, streamcluster_ll",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS({KNOB_WORK_CYCLES, 10000}, {KNOB_UNEVEN, 20}, {KNOB_POLL_CYCLES, 200},
                 {KNOB_WATCH, 0}, {KNOB_STAGGER, 400}, {KNOB_HOME, 0}),
        FUNCTIONS(fork_join),
    },
    {
        .name = "pipeline",
        .summary = "stages that pass items through queues, one lock for each queue",
        .shape_of = "ferret, dedup, vips",
        .shorthand = "stages",
        .threads_least = 2,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS({KNOB_STAGES, 4}, {KNOB_CAPACITY, 16}, {KNOB_WORK_CYCLES, 1000},
                 {KNOB_UNEVEN, 20}, {KNOB_STAGGER, 400}, {KNOB_HOME, 0}),
        FUNCTIONS(pipeline),
    },
    {
        .name = "oversubscribed",
        .summary = "one-lock with more workers than CPUs, placed by the scheduler",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        .unpinned = true,
        SETTINGS(SECTIONS(1, 400)),
        FUNCTIONS(sections),
    },
    {
        .name = "readers",
        .summary = "all workers read, or rarely write, under one reader-writer lock",
        .shorthand = "read_percent",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_rwlock = true,
        SETTINGS({KNOB_READ, 99}, {KNOB_CS_LINES, 1}, {KNOB_CS_CYCLES, 0},
                 {KNOB_CS_NS, 0}, THINKING(400)),
        FUNCTIONS(readers),
    },
    {
        .name = "replay",
        .summary = "the load of a recorded program",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        .takes_rwlock = true,
        .takes_load = true,
        SETTINGS({KNOB_STAGGER, 400}, {KNOB_HOME, 0}),
        FUNCTIONS(replay),
        .report = replay_report,
    },
    {
        .name = "messages",
        .summary = "messages of one cache line, without a lock",
        .threads_least = 2,
        .threads_most = ANY,
        SETTINGS({KNOB_PATTERN, 0}, {KNOB_SERVERS, 1}, {KNOB_REPLY, 1},
                 {KNOB_WRITE_INTENT, 0}, {KNOB_READ_AHEAD, 0}, {KNOB_WORK_CYCLES, 0},
                 THINKING(0)),
        FUNCTIONS(messages),
    },
    {
        .name = "uncontended",
        .summary = "one worker acquires a free lock that another held last",
        .threads_least = 1,
        .threads_most = 2,
        .takes_lock = true,
        SETTINGS({KNOB_CS_LINES, 0}, {KNOB_TRYLOCK, 0}, THINKING(400)),
        FUNCTIONS(uncontended),
    },
    {
        .name = "atomics",
        .summary = "all workers execute an atomic operation on one line, no lock",
        .threads_least = 1,
        .threads_most = ANY,
        SETTINGS({KNOB_OPERATION, 2}, THINKING(400)),
        FUNCTIONS(atomics),
    },
    {
        .name = "rcl-micro",
        .summary = "RCL's micro-benchmark: sections with a fixed delay between them",
        .threads_least = 1,
        .threads_most = ANY,
        .takes_lock = true,
        SETTINGS(SECTIONS(1, 100)),
        FUNCTIONS(sections),
    },
};

const unsigned workload_count = sizeof workload_list / sizeof workload_list[0];
