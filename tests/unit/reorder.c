/* SPDX-License-Identifier: MIT */
/*
 * Tests how queues that prefer waiters of a node reorder them: it compares hand-made
 * queues before and after the operations of the holder in cna.h and of the shuffler in
 * shfl.h. A letter is a waiter: `o` is on the caller's node, `x` on another; a number
 * distinguishes equal ones.
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

/* The state while the caller holds the (inner) lock. */
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

/* Writes the numbers of the waiters from `id` on, and checks that the last one is the
 * queue's tail. */
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
    struct outer_latch_alpha alpha = {0};
    queue_up(&queue, nodes);
    unsigned steps = 0;
    while (shfl_examine(&queue.lock, &alpha))
        CHECK(++steps <= queue.count);
    check_sequence(&queue, load_relaxed(&mcs_of(&queue.lock)->next), expected);
    CHECK_EQUAL(alpha.order, cna_order(0, moves));
    give_all(&queue);
}

/* Checks which waiter a holder picks, and the order of the others once the main queue
 * has been appended to the secondary one. */
static void check_picking(const char *nodes, unsigned picked, const char *secondary,
                          const char *main_queue)
{
    struct queue queue;
    queue_up(&queue, nodes);
    struct mcs *mcs = mcs_of(&queue.lock);
    uint32_t order = 0;
    uint32_t id = cna_pick(mcs, &order, load_relaxed(&mcs->next));
    CHECK_EQUAL(number_of(&queue, id), picked);
    check_sequence(&queue, id, main_queue);
    uint32_t last = order & CNA_ID;
    CHECK_EQUAL(order >> CNA_ID_BITS, *secondary != '\0');
    CHECK_EQUAL(last != 0, *secondary != '\0');
    char all[2 * MOST + 1];
    snprintf(all, sizeof all, "%s%s", secondary, main_queue);
    check_sequence(&queue, cna_join(last, id), all);
    give_all(&queue);
}

/* After HANDOVER_LIMIT handovers past the first waiter, that waiter and all threads
 * waiting by then are served in order of arrival. */
static void check_limit(void)
{
    struct queue queue;
    queue_up(&queue, "xoxo");
    struct mcs *mcs = mcs_of(&queue.lock);
    uint32_t order = 0;
    uint32_t next = cna_pick(mcs, &order, load_relaxed(&mcs->next));
    CHECK_EQUAL(number_of(&queue, next), 1);
    order = cna_order(order & CNA_ID, CNA_LIMIT);
    for (unsigned served = 0; served < queue.count; served++) {
        next = cna_pick(mcs, &order, next);
        CHECK_EQUAL(number_of(&queue, next), served);
        CHECK_EQUAL(order == 0, served == queue.count - 1);
        next = load_relaxed(&waiter_at(next)->next);
    }
    give_all(&queue);
}

int main(void)
{
    CHECK(topology_read("2x2,threads")); /* threads do not move */
    check_shuffling("", "", 0);
    check_shuffling("ooxx", "0123", 0);
    check_shuffling("xo", "01", 0); /* the last one keeps its position */
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
