/* SPDX-License-Identifier: MIT */
/*
 * Checks that a held lock keeps a bounded number of waiters of timed-out threads,
 * however many threads time out, and that it works as before.
 *
 *   timeouts NAME [NUMBER]   this many time-outs (default 100000) on that lock
 */
#include "crew.h"

#include "locks/list/descriptor.h"
#include "locks/memory/side_memory.h"
#include "locks/waiting/abandoned_nodes.h"

#include <stdlib.h>

enum {
    PEERS = 4,
    ROUNDS = 4,
    NUMBER = 100000,
    EACH_MOST = ABANDONED_MOST + 8, /* one thread may have abandoned all nodes */
    SLOTS_MOST = PEERS * EACH_MOST,
    SOON_NS = 1000,
    LATE_NS = 2000000000,
    HOLD_US = 2000,
};

static struct lock lock;
static struct lock_operations operations;
static uint32_t number; /* number of time-outs in a round */
static struct atomic_u32 round, left, done;

static struct deadline deadline_in(uint64_t ns)
{
    uint64_t at = now_ns() + ns;
    struct deadline deadline = {CLOCK_MONOTONIC,
                                {(time_t)(at / 1000000000u), (long)(at % 1000000000u)}};
    return deadline;
}

/* Times out repeatedly in each round, while time-outs remain to be done. */
static void give_up(struct member *member)
{
    (void)member;
    for (uint32_t mine = 1; mine <= ROUNDS; mine++) {
        while (load_acquire(&round) < mine)
            yield();
        while ((int32_t)fetch_add_relaxed(&left, UINT32_MAX) > 0) {
            struct deadline soon = deadline_in(SOON_NS);
            CHECK(!operations.timedlock(&lock, &soon));
        }
        fetch_add_release(&done, 1);
    }
}

static void wait_for_good(struct member *member)
{
    (void)member;
    operations.lock(&lock);
    operations.unlock(&lock);
}

/* Acquires a lock full of abandoned nodes, without a deadline. */
static void wait_in_time(struct member *member)
{
    (void)member;
    struct deadline late = deadline_in(LATE_NS);
    CHECK(operations.timedlock(&lock, &late));
    operations.unlock(&lock);
}

/* The other threads time out at the end of the current queue; then a thread without a
 * deadline arrives. */
static void do_round(struct member *waiting, void (*work)(struct member *))
{
    store_relaxed(&left, number);
    store_relaxed(&done, 0);
    fetch_add_release(&round, 1);
    while (load_acquire(&done) < PEERS)
        yield();
    *waiting = (struct member){.work = work, .node = ANY_NODE};
    crew_start(waiting);
    usleep(HOLD_US);
}

int main(int count, char **words)
{
    CHECK(count > 1);
    int found = lock_find(words[1]);
    CHECK(found > 0);
    number = (count > 2 ? (uint32_t)strtoul(words[2], NULL, 10) : NUMBER) / ROUNDS;
    barrier_register();
    CHECK(topology_read("2x4,roam"));
    operations = lock_at((unsigned)found).operations;
    struct member peers[PEERS], waiting[2];
    for (unsigned i = 0; i < PEERS; i++) {
        peers[i] = (struct member){.work = give_up, .node = ANY_NODE};
        crew_start(&peers[i]);
    }
    for (int times = 0; times < ROUNDS / 2; times++) {
        operations.lock(&lock);
        do_round(&waiting[0], wait_for_good);
        do_round(&waiting[1], wait_in_time);
        operations.unlock(&lock);
        pthread_join(waiting[0].thread, NULL);
        pthread_join(waiting[1].thread, NULL);
    }
    for (unsigned i = 0; i < PEERS; i++)
        pthread_join(peers[i].thread, NULL);
    CHECK(operations.trylock(&lock));
    operations.unlock(&lock);
    operations.destroy(&lock);
    for (unsigned i = 0; i < ABANDONED_CELLS; i++)
        CHECK_EQUAL(abandoned_in(load_relaxed(&abandoned_cells[i])), 0);
    uint32_t slots = waiter_count() + side_block_count();
    if (slots > SLOTS_MOST)
        fprintf(stderr, "%s: %u slots, at most %u\n", words[1], slots, SLOTS_MOST);
    CHECK(slots <= SLOTS_MOST);
    return 0;
}
