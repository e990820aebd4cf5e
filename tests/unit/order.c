/* SPDX-License-Identifier: MIT */
/*
 * Checks the order in which waiters acquire the lock.
 *
 * A holder lets waiters arrive one after the other; each is seen waiting before the
 * next one is started. Then it releases, and may acquire again; so may the waiters. An
 * acquisition overtakes all threads that were seen waiting when it was requested, and
 * that have not acquired yet for the first time.
 */
#include "crew.h"
#include "properties.h"

#include "platform/platform.h"

#include <string.h>

enum {
    WAITERS = 6,
    BOUND_RUNS = 4,
    HUNT_RUNS = 24, /* each lock that lets others overtake does so in the first two */
    NUMA_RUNS = 10,
    /* The smallest accepted percentage of handovers that stay on the node. A FIFO queue
     * reaches 0, a random order just under 50, a cohort lock 80. A lock that only backs
     * off longer hardly differs from random order. */
    NUMA_PERCENT = 25,
    RETURNS_MIN = 8,
    RETURNS_MAX = 400,
    RETURNS_NS = 1000000000, /* enough for each thread to acquire again */
};

struct shape {
    uint32_t returns; /* how often each thread acquires again */
    bool two_nodes;   /* the holder is on node 0, the waiters alternate between 1 and
                       * 0 */
};

struct run {
    struct lock lock;
    const struct lock_operations *operations;
    struct shape shape;
    uint64_t enough;           /* time, ns */
    struct atomic_u32 waiting; /* members 0 to waiting - 1 were seen waiting */
    /* Guarded by the lock. */
    bool served[WAITERS];
    uint32_t overtaken[WAITERS];
    uint32_t last_node, handovers, stays;
};

/* Makes one acquisition, which is requested after `waiting` waiters have queued. */
static void acquire_once(struct run *run, uint32_t waiting, uint32_t number,
                         uint32_t node)
{
    run->operations->lock(&run->lock);
    for (uint32_t i = 0; i < waiting; i++)
        run->overtaken[i] += !run->served[i] && i != number;
    if (number < WAITERS)
        run->served[number] = true;
    run->handovers++;
    run->stays += node == run->last_node;
    run->last_node = node;
    run->operations->unlock(&run->lock);
}

static void waiter_work(struct member *member)
{
    struct run *run = member->subject;
    acquire_once(run, member->number, member->number, current_node());
    for (uint32_t i = 0; i < run->shape.returns && now_ns() < run->enough; i++)
        acquire_once(run, load_acquire(&run->waiting), member->number, current_node());
}

static void holder_work(struct member *member)
{
    struct run *run = member->subject;
    struct member waiters[WAITERS];
    run->operations->lock(&run->lock);
    run->last_node = current_node();
    for (uint32_t i = 0; i < WAITERS; i++) {
        waiters[i] = (struct member){.work = waiter_work, .subject = run, .number = i};
        waiters[i].node = run->shape.two_nodes ? (i + 1) % 2 : ANY_NODE;
        crew_start(&waiters[i]);
        crew_await(&waiters[i]);
        store_release(&run->waiting, i + 1);
    }
    run->enough = now_ns() + RETURNS_NS;
    run->operations->unlock(&run->lock);
    for (uint32_t i = 0; i < run->shape.returns && now_ns() < run->enough; i++)
        acquire_once(run, WAITERS, WAITERS, current_node());
    for (uint32_t i = 0; i < WAITERS; i++)
        pthread_join(waiters[i].thread, NULL);
}

/* Returns the largest number of times that one waiter was overtaken. */
static uint32_t run_once(const struct lock_descriptor *descriptor, struct shape shape,
                         struct run *run)
{
    memset(run, 0, sizeof *run);
    run->operations = &descriptor->operations;
    run->shape = shape;
    struct member holder = {.work = holder_work, .subject = run};
    holder.node = shape.two_nodes ? 0 : ANY_NODE;
    crew_start(&holder);
    pthread_join(holder.thread, NULL);
    descriptor->operations.destroy(&run->lock);
    uint32_t most = 0;
    for (int i = 0; i < WAITERS; i++)
        most = run->overtaken[i] > most ? run->overtaken[i] : most;
    return most;
}

/* No thread is overtaken more often than declared, whether threads acquire again or
 * not. */
static void check_bound(const struct lock_descriptor *descriptor)
{
    uint32_t bound = descriptor->bypass_bound;
    if (descriptor->bypass_each)
        bound *= WAITERS; /* the other waiters, and the holder */
    uint32_t returns = bound < RETURNS_MAX / 2 ? 2 * bound : RETURNS_MAX;
    if (returns < RETURNS_MIN)
        returns = RETURNS_MIN;
    for (int i = 0; i < BOUND_RUNS; i++) {
        struct run run;
        struct shape shape = {.returns = i % 2 ? returns : 0, .two_nodes = i / 2 % 2};
        uint32_t most = run_once(descriptor, shape, &run);
        if (most > bound)
            fprintf(stderr, "%s: overtaken %u times\n", descriptor->name, most);
        CHECK(most <= bound);
    }
}

/* A lock that is declared to allow overtaking does so at least once. */
static void check_overtaking(const struct lock_descriptor *descriptor)
{
    struct run run;
    for (int i = 0; i < HUNT_RUNS; i++) {
        struct shape shape = {.returns = RETURNS_MIN << i % 4, .two_nodes = i % 2};
        if (run_once(descriptor, shape, &run))
            return;
    }
    CHECK(!"no waiter was overtaken: declare the lock FIFO");
}

/* The waiters queue alternately on two nodes, so a FIFO lock would change nodes at each
 * handover. */
static void check_numa(const struct lock_descriptor *descriptor)
{
    uint32_t stays = 0, handovers = 0;
    for (int i = 0; i < NUMA_RUNS; i++) {
        struct run run;
        run_once(descriptor, (struct shape){.returns = 0, .two_nodes = true}, &run);
        stays += run.stays;
        handovers += run.handovers;
    }
    if (stays * 100 < NUMA_PERCENT * handovers)
        fprintf(stderr, "%s: %u of %u handovers stay on the node\n", descriptor->name,
                stays, handovers);
    CHECK(stays * 100 >= NUMA_PERCENT * handovers);
}

void check_order(const struct lock_descriptor *descriptor)
{
    CHECK(topology_read("2x4,threads"));
    if (descriptor->bypass_bound != UINT32_MAX)
        check_bound(descriptor);
    if (descriptor->bypass_bound != 0)
        check_overtaking(descriptor);
    if (descriptor->numa)
        check_numa(descriptor);
    CHECK(topology_read(getenv("HASP_TOPOLOGY")));
}
