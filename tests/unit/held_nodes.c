/* SPDX-License-Identifier: MIT */
/* Checks that a lock whose memory held another lock before, while that was held by a
 * node, is not released by that node. */
#include "check.h"

#include "locks/list/descriptor.h"
#include "locks/waiting/held_nodes.h"

#include <string.h>

static struct lock lock;

/* The lock was held by a node when its memory was used anew. */
static struct waiter *leave_entry(void)
{
    struct waiter *node = waiter_take();
    held_nodes_put(&lock, node);
    CHECK(held_nodes_have(&lock));
    CHECK_EQUAL(current_thread_if_known(), 0); /* so that no fast path is taken */
    memset(&lock, 0, sizeof lock);
    return node;
}

static void check_release(const struct lock_operations *operations, struct waiter *node)
{
    CHECK(!held_nodes_have(&lock));
    CHECK_EQUAL(load_relaxed(&node->holds), 0);
    CHECK(load_relaxed(&lock.word) != 0);
    operations->unlock(&lock);
    CHECK_EQUAL(load_relaxed(&lock.word), 0);
    CHECK(operations->trylock(&lock));
    operations->unlock(&lock);
    CHECK_EQUAL(current_thread_if_known(), current_thread());
    waiter_give(node);
}

static void check(const char *name)
{
    unsigned index = (unsigned)lock_find(name);
    const struct lock_operations *operations = lock_operations_at(index);
    memset(&lock, 0, sizeof lock);
    operations->lock(&lock); /* now the thread's id is known */
    operations->unlock(&lock);
    CHECK_EQUAL(current_thread_if_known(), current_thread());

    struct waiter *node = leave_entry();
    operations->lock(&lock);
    check_release(operations, node);

    node = leave_entry();
    CHECK(operations->trylock(&lock));
    check_release(operations, node);
}

int main(void)
{
    check("mcs");
    check("clh");
    check("c-tkt-tkt");
    check("gcr+hmcs");
    check("auto");
    return 0;
}
