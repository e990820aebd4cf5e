/* SPDX-License-Identifier: MIT */
/* The locks and threads of a running load, and what is noted about them. */
#ifndef HASP_BENCH_WORKLOADS_REPLAY_RUN_H
#define HASP_BENCH_WORKLOADS_REPLAY_RUN_H

#include "bench/workloads/replay.h"
#include "bench/workloads/transactions.h"
#include "excluding.h"
#include "sharing.h"

struct replay_line {
    struct atomic_u64 count;
} __attribute__((aligned(CACHE_LINE)));

struct replay_lock {
    struct mutex mutex __attribute__((aligned(CACHE_LINE)));
    struct sharing sharing __attribute__((aligned(CACHE_LINE)));
    struct replay_line lines[] __attribute__((aligned(CACHE_LINE)));
};

struct replay_stats {
    /* Within the window; cycles. An acquisition ends when the last attempt begins. */
    uint64_t acquisitions, elided, waited, held, releasing;
    struct transactions transactions; /* of its outermost sections, in the window */
    uint64_t writes;                  /* in the whole run */
};

/* A time during which a thread wanted or exclusively held a lock. */
struct span {
    const struct replay_lock *lock;
    uint64_t from, to;
};

/* A section that ended, or will if the transaction around it commits. */
struct note {
    struct replay_stats *stats; /* of its site */
    const struct replay_lock *lock;
    uint64_t wanted, began, ended, left;
    bool reads, elided;
};

enum rendezvous {
    MEETING_EARLY,   /* others have not left yet, so it did not arrive */
    MEETING_ARRIVED, /* it waits for others */
    MEETING_DONE,    /* it arrived last, or left */
};

/* One worker. */
struct player {
    struct run *run;
    struct worker *worker;
    struct replay *replay;
    const struct replay_role *role;
    struct replay_stats *stats; /* by site */
    struct span *spans;         /* within the window */
    size_t span_count, span_room;
    struct note *notes; /* of the outermost section that it is in */
    size_t note_count, note_room;
    bool lost; /* out of memory */
    enum rendezvous meeting; /* what its last section did where threads meet */
};

/* A section that is to be entered. */
struct attempt {
    struct player *player;
    const struct replay_site *site;
    struct replay_lock *lock;
    unsigned mutexes; /* that the thread holds */
    bool reads, tries, leaves;
};

struct replay {
    struct replay_load load;
    struct replay_lock *only;   /* with one_lock */
    struct replay_stats *stats; /* by worker and site */
    struct player *players;     /* by worker */
};

static inline size_t lock_bytes(const struct replay_site *site)
{
    return sizeof(struct replay_lock) +
           site->parts * site->lines * sizeof(struct replay_line);
}

static inline struct replay_lock *replay_lock_at(const struct replay_site *site,
                                                 uint64_t index)
{
    return (struct replay_lock *)(site->memory + index * lock_bytes(site));
}

/* Returns a time of a shape with this mean, at random. */
uint64_t replay_shaped(struct player *player, uint64_t mean, unsigned shape);

/* Notes a time during which the thread wanted or held the lock. */
void replay_add_span(struct player *player, const struct replay_lock *lock,
                     uint64_t from, uint64_t to);

/* Creates the site's queue if it has one. */
bool replay_queue_create(struct run *run, struct replay_site *site);

/* Takes an item, and waits if there is none; the caller holds the mutex. Returns false
 * at the end of the run. A wait ends an acquisition and begins another one. */
bool replay_queue_take(struct player *player, const struct attempt *attempt,
                       struct mutex *mutex, struct note *made);

/* Puts a number of items; the caller holds the mutex. */
void replay_queue_put(struct player *player, const struct attempt *attempt,
                      uint64_t number);

/* Wakes the threads that wait for items, at the end of the run. */
void replay_queues_close(struct player *player);

/* Runs an outermost section of a site, and meets the other threads if they do there. */
void replay_section(struct player *player, unsigned number);

#endif
