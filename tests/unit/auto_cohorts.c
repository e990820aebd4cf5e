/* SPDX-License-Identifier: MIT */
/*
 * Checks cohorts of the lock auto on any host: holders of a node hand over within their
 * cohort, and its last one to the next leader or timed thread; another thread may
 * unlock, a forked child loses the waiters of its parent, and the side memory is freed.
 * It chooses that policy itself.
 */
#include "crew.h"

#include "locks/algorithms/auto.h"
#include "locks/list/descriptor.h"

#include <string.h>
#include <sys/wait.h>

enum { ROUNDS = 100 };

static struct lock lock;
static const struct lock_operations *operations;
static struct atomic_u32 stage; /* the member that holds the lock; steps of a test */

static void await_stage(uint32_t number)
{
    while (load_acquire(&stage) < number)
        yield();
}

static void renew(void)
{
    memset(&lock, 0, sizeof lock);
    store_relaxed(&stage, 0);
}

/* Acquires the lock and chooses the policy, as a holder may. */
static void lock_with_cohorts(void)
{
    operations->lock(&lock);
    auto_end_bias(&lock);
    auto_choose(&lock, AUTO_COHORTS);
}

static struct atomic_u32 *tail(void)
{
    return &side_memory_find(auto_directory(&lock), current_cohort())->words[0];
}

static void check_free(void)
{
    CHECK_EQUAL(load_relaxed(&lock.word), 0);
    CHECK_EQUAL(load_relaxed(&lock.owner), 0);
    CHECK(!auto_is_held_by_node(&lock));
    CHECK_EQUAL(load_relaxed(tail()), 0);
    CHECK(!held_nodes_search(&lock));
}

/* The caller holds the lock, and received it by this handover of a series. */
static struct waiter *check_held_by_node(uint32_t handovers)
{
    struct waiter *node = held_nodes_search(&lock);
    CHECK(node);
    CHECK_EQUAL(load_relaxed(auto_handovers(node)), handovers);
    CHECK(auto_is_held_by_node(&lock));
    CHECK(load_relaxed(&lock.word) != 0);
    CHECK_EQUAL(load_relaxed(&lock.owner), OWNER_IN_NODE);
    CHECK(held_nodes_have(&lock));
    CHECK(!operations->trylock(&lock));
    if (load_relaxed(&node->more[AUTO_CROWDED])) { /* this host may be busy */
        store_relaxed(&node->more[AUTO_CROWDED], 0);
        store_relaxed(&node->more[AUTO_LONGEST], HANDOVER_LIMIT);
    }
    return node;
}

/* Holds the lock until the next stage; the first member's number is 1. */
static void hold(struct member *member)
{
    operations->lock(&lock);
    check_held_by_node(member->number - 1);
    store_release(&stage, 2 * member->number - 1);
    await_stage(2 * member->number);
    operations->unlock(&lock);
}

static void start_on(uint32_t node, struct member *member, uint32_t number,
                     void (*work)(struct member *))
{
    *member = (struct member){.work = work, .number = number, .node = node};
    crew_start(member);
}

static void start(struct member *member, uint32_t number, void (*work)(struct member *))
{
    start_on(ANY_NODE, member, number, work);
}

static void check_handover(void)
{
    struct member members[3];
    renew();
    lock_with_cohorts();
    for (uint32_t i = 0; i < 3; i++) {
        start(&members[i], i + 1, hold);
        crew_await(&members[i]);
    }
    operations->unlock(&lock);
    for (uint32_t i = 0; i < 3; i++) {
        await_stage(2 * i + 1);
        CHECK(!operations->trylock(&lock));
        store_release(&stage, 2 * i + 2);
        pthread_join(members[i].thread, NULL);
    }
    check_free();
    CHECK(operations->trylock(&lock));
    operations->unlock(&lock);
    operations->destroy(&lock);
    CHECK_EQUAL(load_relaxed(auto_directory(&lock)), 0);
}

static void hold_for_another(struct member *member)
{
    (void)member;
    operations->lock(&lock);
    check_held_by_node(0);
    store_release(&stage, 1);
    await_stage(2);
    CHECK(!held_nodes_have(&lock)); /* the entry is stale */
    operations->lock(&lock);
    operations->unlock(&lock);
    CHECK_EQUAL(current_thread_if_known(), current_thread());
}

static void check_unlock_by_another(void)
{
    struct member member;
    renew();
    lock_with_cohorts();
    start(&member, 1, hold_for_another);
    crew_await(&member);
    operations->unlock(&lock);
    await_stage(1);
    operations->unlock(&lock);
    check_free();
    store_release(&stage, 2);
    pthread_join(member.thread, NULL);
    operations->destroy(&lock);
}

static void check_child(pid_t child)
{
    int status;
    CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
}

/* The forking thread holds the lock by its node; the waiters vanish. */
static void check_child_of_holder(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        CHECK(!operations->trylock(&lock));
        operations->unlock(&lock);
        check_free();
        lock_with_cohorts();
        operations->unlock(&lock);
        check_free();
        operations->destroy(&lock);
        _exit(0);
    }
    check_child(child);
}

/* The holder vanishes, too: the lock stays held. */
static void check_child_of_another(void)
{
    pid_t child = fork();
    CHECK(child >= 0);
    if (!child) {
        struct deadline soon = deadline_after(2000000);
        CHECK(!operations->trylock(&lock));
        CHECK(!operations->timedlock(&lock, &soon));
        CHECK(auto_is_held_by_node(&lock));
        _exit(0);
    }
    check_child(child);
}

/* Stages 1 and 2 are those of the main thread. */
static void lock_first(struct member *member)
{
    (void)member;
    lock_with_cohorts();
    store_release(&stage, 1);
    while (!load_relaxed(auto_demand_of(&lock)))
        usleep(100); /* the main thread becomes the leader of its cohort */
    operations->unlock(&lock);
}

static void check_fork(void)
{
    struct member first, members[2];
    renew();
    start(&first, 1, lock_first);
    await_stage(1);
    operations->lock(&lock);
    check_held_by_node(0);
    store_relaxed(&stage, 2);
    for (uint32_t i = 0; i < 2; i++) {
        start(&members[i], i + 2, hold);
        crew_await(&members[i]);
    }
    check_child_of_holder();
    operations->unlock(&lock);
    for (uint32_t i = 0; i < 2; i++) {
        await_stage(2 * i + 3);
        check_child_of_another();
        store_release(&stage, 2 * i + 4);
        pthread_join(members[i].thread, NULL);
    }
    pthread_join(first.thread, NULL);
    check_free();
    operations->destroy(&lock);
}

static void hold_timed(struct member *member)
{
    struct deadline end = deadline_after(60000000000u);
    uint32_t uses = auto_uses(&lock);
    CHECK(operations->timedlock(&lock, &end));
    CHECK(!auto_is_held_by_node(&lock));
    CHECK_EQUAL(auto_uses(&lock), uses + 4); /* main, two cohorts of one and two */
    store_release(&stage, 2 * member->number - 1);
    await_stage(2 * member->number);
    operations->unlock(&lock);
}

/* A cohort of one thread, one of two, and a timed thread wait in this order. */
static void check_leaders(void)
{
    struct member members[4];
    CHECK(topology_read("2x4,threads"));
    renew();
    lock_with_cohorts();
    for (uint32_t i = 0; i < 4; i++) {
        if (i < 3)
            start_on((i + 1) / 2, &members[i], i + 1, hold);
        else
            start(&members[i], i + 1, hold_timed);
        crew_await(&members[i]);
    }
    operations->unlock(&lock);
    for (uint32_t i = 0; i < 4; i++) {
        await_stage(2 * i + 1);
        if (i < 3)
            check_child_of_another();
        store_release(&stage, 2 * i + 2);
        pthread_join(members[i].thread, NULL);
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct side_block *block = side_memory_find(auto_directory(&lock), i);
        CHECK(block && !load_relaxed(&block->words[0]));
    }
    CHECK(!load_relaxed(auto_tail(&lock)));
    check_free();
    operations->destroy(&lock);
}

static void check_side_memory(void)
{
    uint32_t blocks = 0;
    for (int i = 0; i < ROUNDS; i++) {
        renew();
        CHECK(side_memory_get(auto_directory(&lock), 0));
        CHECK(side_memory_get(auto_directory(&lock), 1));
        blocks = i ? blocks : side_block_count();
        operations->destroy(&lock);
    }
    CHECK_EQUAL(side_block_count(), blocks);
}

/* Threads that wait are counted by their bits, each once. */
static void note_waiting(struct member *member)
{
    auto_note_waiting(&lock);
    auto_note_waiting(&lock);
    await_stage(member->number);
}

static void check_waiting(void)
{
    struct auto_record *record = auto_record_of(&lock);
    struct member members[8];
    renew();
    auto_forget_waiting(record);
    CHECK_EQUAL(auto_waiting(record), 0);
    for (uint32_t i = 0; i < 8; i++)
        start(&members[i], 1, note_waiting);
    store_release(&stage, 1);
    for (uint32_t i = 0; i < 8; i++)
        pthread_join(members[i].thread, NULL);
    uint32_t waiting = auto_waiting(record); /* two may share a bit */
    CHECK(waiting >= 5 && waiting <= 8);
    auto_forget_waiting(record);
    CHECK_EQUAL(auto_waiting(record), 0);
}

int main(void)
{
    CHECK(topology_read("1x4,threads"));
    crew_watch_forks();
    operations = lock_operations_at((unsigned)lock_find("auto"));
    check_handover();
    check_unlock_by_another();
    check_fork();
    check_leaders();
    check_side_memory();
    check_waiting();
    return 0;
}
