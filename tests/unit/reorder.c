/* SPDX-License-Identifier: MIT */
/*
 * Queues that prefer waiters of a node, as sequences: hand-made queues before and after
 * what cna.h's holder and shfl.h's shuffler do to them. A letter is a waiter: `o` of
 * the caller's node, `x` of another; equal ones are told apart by their number.
 */
#include "check.h"

#include "locks/algorithms/fissile.h"
#include "locks/algorithms/shfl.h"

#include <stdio.h>
#include <string.h>

enum { MOST = 16 };

struct queue {
    struct lock lock;
    struct waiter *waiters[MOST];
    unsigned count;
};

/* As it stands while the caller holds the (inner) lock. */
static void queue_up(struct queue *queue, const char *nodes)
{
    memset(queue, 0, sizeof *queue);
    struct mcs *mcs = mcs_of(&queue->lock);
    store_relaxed(&mcs->tail, TAIL_HELD);
    for (; *nodes; nodes++) {
        struct waiter *waiter = queue->waiters[queue->count++] = waiter_take();
        store_relaxed(&waiter->more[CNA_NODE], current_node() + (*nodes == 'x'));
        mcs_enqueue(mcs, waiter);
    }
}

static unsigned number_of(const struct queue *queue, uint32_t id)
{
    unsigned i = 0;
    while (i < MOST && i < queue->count && queue->waiters[i]->link.id != id)
        i++;
    return i;
}

/* The waiters' numbers from `id` on, and that the last of them is the queue's. */
static void check_sequence(struct queue *queue, uint32_t id, const char *expected)
{
    char found[2 * MOST + 1] = "";
    uint32_t last = TAIL_HELD;
    for (unsigned length = 0; id && length < MOST; length++) {
        found[length] = "0123456789abcdef?"[number_of(queue, id)];
        last = id;
        id = load_relaxed(&waiter_at(id)->next);
    }
    if (strcmp(found, expected) != 0)
        fprintf(stderr, "the queue is %s instead of %s\n", found, expected);
    CHECK(strcmp(found, expected) == 0);
    CHECK_EQUAL(last, load_relaxed(&mcs_of(&queue->lock)->tail));
}

static void give_all(struct queue *queue)
{
    for (unsigned i = 0; i < queue->count; i++)
        waiter_give(queue->waiters[i]);
}

static void check_shuffling(const char *nodes, const char *expected, uint32_t moves)
{
    struct queue queue;
    struct outer_latch_alpha alpha = {0, {0}, 0, 0};
    queue_up(&queue, nodes);
    unsigned looks = 0;
    while (shfl_examine(&queue.lock, &alpha))
        CHECK(++looks <= queue.count);
    check_sequence(&queue, load_relaxed(&mcs_of(&queue.lock)->next), expected);
    CHECK_EQUAL(load_relaxed(&alpha.order), cna_order(0, moves));
    give_all(&queue);
}

/* Whom a holder picks, and who comes after that one when the main queue is joined to
 * the secondary one again. */
static void check_picking(const char *nodes, unsigned picked, const char *secondary,
                          const char *main_queue)
{
    struct queue queue;
    queue_up(&queue, nodes);
    struct mcs *mcs = mcs_of(&queue.lock);
    struct atomic_u32 order = {0};
    uint32_t id = cna_pick(mcs, &order, load_relaxed(&mcs->next));
    CHECK_EQUAL(number_of(&queue, id), picked);
    check_sequence(&queue, id, main_queue);
    uint32_t last = load_relaxed(&order) & CNA_ID;
    CHECK_EQUAL(load_relaxed(&order) >> CNA_ID_BITS, *secondary != '\0');
    CHECK_EQUAL(last != 0, *secondary != '\0');
    char all[2 * MOST + 1];
    snprintf(all, sizeof all, "%s%s", secondary, main_queue);
    check_sequence(&queue, cna_join(last, id), all);
    give_all(&queue);
}

/* After HANDOVER_LIMIT hand-overs past the first waiter it has its turn, and so have
 * all who wait by then, in the order of arrival. */
static void check_limit(void)
{
    struct queue queue;
    queue_up(&queue, "xoxo");
    struct mcs *mcs = mcs_of(&queue.lock);
    struct atomic_u32 order = {0};
    uint32_t next = cna_pick(mcs, &order, load_relaxed(&mcs->next));
    CHECK_EQUAL(number_of(&queue, next), 1);
    store_relaxed(&order, cna_order(load_relaxed(&order) & CNA_ID, HANDOVER_LIMIT));
    for (unsigned turn = 0; turn < queue.count; turn++) {
        next = cna_pick(mcs, &order, next);
        CHECK_EQUAL(number_of(&queue, next), turn);
        CHECK_EQUAL(load_relaxed(&order) == 0, turn == queue.count - 1);
        next = load_relaxed(&waiter_at(next)->next);
    }
    give_all(&queue);
}

int main(void)
{
    CHECK(topology_read("2x2,threads")); /* threads do not move */
    check_shuffling("", "", 0);
    check_shuffling("ooxx", "0123", 0);
    check_shuffling("xo", "01", 0); /* the last one stays */
    check_shuffling("xox", "102", 1);
    check_shuffling("xxoxoox", "2450136", 3);
    check_shuffling("oxoxo", "02134", 1);
    check_shuffling("oxxooxo", "0341256", 2);
    check_picking("oxx", 0, "", "012");
    check_picking("xxx", 0, "", "012");
    check_picking("xo", 1, "0", "1");
    check_picking("xxoxo", 2, "01", "234");
    check_limit();
    return 0;
}
