/* SPDX-License-Identifier: MIT */
/*
 * Checks the memory of a lock. A lock uses no memory outside the mutex while no thread
 * waits, and as much as declared once one does. When it is destroyed, all of that
 * memory is freed.
 */
#include "crew.h"
#include "properties.h"

#include "locks/memory/side_memory.h"

#include <string.h>

enum {
    IDLE = 1000,
    PEERS = 3,
    ROUNDS_MIN = 100,
    ROUNDS_NS = 1000000000, /* time limit; a busy machine only reaches the minimum */
    NODES = 2,
    STATE_WORDS = 4,
    LEAVE_EVERY = 5,
    HEAD_START = 30,
};

unsigned space_rounds = 1500;

struct plot {
    struct lock lock;
    const struct lock_operations *operations;
    uint32_t words; /* words of state that the lock may use */
    bool leaving;   /* peers occasionally time out */
    struct atomic_u32 round, arrived, done, ended;
};

static bool beyond_is_untouched(const struct plot *plot)
{
    for (uint32_t i = plot->words; i < STATE_WORDS; i++)
        if (load_relaxed(&plot->lock.state[i]))
            return false;
    return true;
}

static struct deadline very_soon(void)
{
    uint64_t at = now_ns() + 20000;
    struct deadline deadline = {CLOCK_MONOTONIC,
                                {(time_t)(at / 1000000000u), (long)(at % 1000000000u)}};
    return deadline;
}

/* While no thread waits, no lock takes any memory, however it is acquired. */
static void check_idle(const struct lock_operations *operations)
{
    struct deadline past = {CLOCK_MONOTONIC, {0, 0}};
    uint32_t waiters = waiter_count(), blocks = side_block_count();
    for (int i = 0; i < IDLE; i++) {
        struct lock lock;
        memset(&lock, 0, sizeof lock);
        operations->lock(&lock);
        operations->unlock(&lock);
        CHECK(operations->trylock(&lock));
        CHECK(!operations->trylock(&lock));
        operations->unlock(&lock);
        CHECK(operations->timedlock(&lock, &past));
        operations->unlock(&lock);
    }
    CHECK_EQUAL(waiter_count(), waiters);
    CHECK_EQUAL(side_block_count(), blocks);
}

/* Acquires the lock once per round, and occasionally times out. */
static void peer_work(struct member *member)
{
    struct plot *plot = member->subject;
    for (uint32_t round = 1;; round++) {
        while (load_acquire(&plot->round) < round)
            yield();
        if (load_relaxed(&plot->ended))
            break;
        fetch_add_relaxed(&plot->arrived, 1);
        bool held = true;
        struct deadline soon = very_soon();
        if (plot->leaving && (round + member->number) % LEAVE_EVERY == 0)
            held = plot->operations->timedlock(&plot->lock, &soon);
        else
            plot->operations->lock(&plot->lock);
        CHECK(beyond_is_untouched(plot));
        if (held)
            plot->operations->unlock(&plot->lock);
        fetch_add_release(&plot->done, 1);
    }
}

/* Lets the peers wait for a while and then acquire; each round uses a new lock. */
static void hold_and_destroy(struct plot *plot)
{
    uint64_t enough = now_ns() + ROUNDS_NS;
    uint32_t round = 1;
    for (; round <= space_rounds && (round <= ROUNDS_MIN || now_ns() < enough);
         round++) {
        plot->operations->lock(&plot->lock);
        store_release(&plot->round, round);
        while (load_acquire(&plot->arrived) < round * PEERS)
            yield();
        pause_for(HEAD_START);
        if (plot->leaving && round % LEAVE_EVERY == 0)
            usleep(30);
        CHECK(beyond_is_untouched(plot));
        plot->operations->unlock(&plot->lock);
        while (load_acquire(&plot->done) < round * PEERS)
            yield();
        plot->operations->destroy(&plot->lock);
        memset(&plot->lock, 0, sizeof plot->lock);
    }
    store_relaxed(&plot->ended, 1);
    store_release(&plot->round, round);
}

static void contend(const struct lock_descriptor *descriptor, bool leaving)
{
    static struct plot plot;
    struct member members[PEERS];
    memset(&plot, 0, sizeof plot);
    plot.operations = &descriptor->operations;
    CHECK(descriptor->bytes <= sizeof plot.lock.state);
    plot.words = (uint32_t)(descriptor->bytes / sizeof plot.lock.state[0]);
    plot.leaving = leaving;
    for (uint32_t i = 0; i < PEERS; i++) {
        members[i] = (struct member){
            .work = peer_work, .subject = &plot, .number = i, .node = ANY_NODE};
        crew_start(&members[i]);
    }
    hold_and_destroy(&plot);
    for (uint32_t i = 0; i < PEERS; i++)
        pthread_join(members[i].thread, NULL);
}

/* Each thread has one waiter, and a second one if another thread has not finished
 * giving back the first. Each thread may have created every side block once, because
 * the pool returns blocks to the threads that created them. One superfluous block is
 * allowed, because two threads may have found a block missing at the same time, and the
 * blocks that a thread creates ahead. */
static void check_used(const struct lock_descriptor *descriptor, bool leaving)
{
    uint32_t slot = sizeof(struct pool_slot);
    /* The second round, if there is one, runs in other threads. */
    uint32_t threads = (leaving ? 2 : 1) * (PEERS + 1);
    uint32_t each = (descriptor->waiter_bytes + slot - 1) / slot;
    if (leaving && !each)
        each = 1; /* left by a thread that timed out */
    uint32_t waiters = 2 * threads * each;
    uint32_t bytes = descriptor->outside_bytes + NODES * descriptor->node_bytes;
    uint32_t blocks =
        bytes ? threads * ((bytes + slot - 1) / slot + 1 + SIDE_BLOCKS_AHEAD) : 0;
    if (waiter_count() > waiters || side_block_count() > blocks)
        fprintf(stderr, "%s: %u waiters and %u side blocks, %u and %u declared\n",
                descriptor->name, waiter_count(), side_block_count(), waiters, blocks);
    CHECK(waiter_count() <= waiters);
    CHECK(side_block_count() <= blocks);
}

void check_space(const struct lock_descriptor *descriptor)
{
    CHECK(topology_read("2x4,threads"));
    check_idle(&descriptor->operations);
    contend(descriptor, false);
    check_used(descriptor, false);
    CHECK(topology_read("2x4,roam"));
    contend(descriptor, true);
    check_used(descriptor, true);
    check_idle(&descriptor->operations);
    CHECK(topology_read(getenv("HASP_TOPOLOGY")));
}
