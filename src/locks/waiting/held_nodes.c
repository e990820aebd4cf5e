/* SPDX-License-Identifier: MIT */
#include "locks/waiting/held_nodes.h"

static uint32_t low_half(const struct lock *lock)
{
    return (uint32_t)(uintptr_t)lock;
}

/* Returns the position of the youngest entry of the lock, or the number of entries. */
static uint32_t place_of(struct held_nodes *held, const struct lock *lock,
                         uint32_t count)
{
    for (uint32_t i = count; i--;)
        if (load_relaxed(&held->entries[i].lock) == low_half(lock))
            return i;
    return count;
}

/* Removes an entry; the others keep their order. */
static void remove_at(struct held_nodes *held, uint32_t index, uint32_t count)
{
    for (count--; index < count; index++) {
        store_relaxed(&held->entries[index].lock,
                      load_relaxed(&held->entries[index + 1].lock));
        store_relaxed(&held->entries[index].node,
                      load_relaxed(&held->entries[index + 1].node));
    }
    store_relaxed(&held->count, count);
    if (!count)
        expect_wait(false);
}

static bool is_held_through(const struct lock *lock, const struct waiter *waiter)
{
    return load_relaxed(&waiter->holds) == (uintptr_t)lock;
}

void held_nodes_expect(const struct lock *lock, struct waiter *waiter)
{
    struct held_nodes *held = held_nodes();
    uint32_t count = load_relaxed(&held->count);
    store_relaxed(&waiter->holder, current_thread());
    if (unlikely(count)) {
        uint32_t stale = place_of(held, lock, count);
        if (stale < count)
            remove_at(held, stale, count--);
        else if (count == HELD_NODES)
            remove_at(held, 0, count--); /* locks are mostly released in reverse */
    }
    store_relaxed(&held->entries[count].lock, low_half(lock));
    store_relaxed(&held->entries[count].node, waiter->link.id);
    store_relaxed(&held->count, count + 1);
    if (!count)
        expect_wait(false);
}

void held_nodes_cancel(const struct lock *lock)
{
    struct held_nodes *held = held_nodes();
    uint32_t count = load_relaxed(&held->count), at = place_of(held, lock, count);
    if (at < count)
        remove_at(held, at, count);
}

struct waiter *held_nodes_take(const struct lock *lock, uint32_t count)
{
    struct held_nodes *held = held_nodes();
    uint32_t at = place_of(held, lock, count);
    if (at == count)
        return NULL;
    struct waiter *waiter = waiter_at(load_relaxed(&held->entries[at].node));
    remove_at(held, at, count);
    return likely(is_held_through(lock, waiter)) ? waiter : NULL;
}

struct waiter *held_nodes_search(const struct lock *lock)
{
    uint32_t last = pool_size(&waiter_pool);
    for (uint32_t id = 1; id <= last; id++) {
        struct waiter *waiter = (struct waiter *)pool_find(&waiter_pool, id);
        if (waiter && is_held_through(lock, waiter))
            return waiter;
    }
    return NULL;
}

void held_nodes_drop(const struct lock *lock)
{
    struct waiter *stale = held_nodes_take(lock, held_nodes_count());
    if (stale && load_relaxed(&stale->holder) == current_thread())
        store_relaxed(&stale->holds, 0); /* its lock's memory was used anew */
}

bool held_nodes_have(const struct lock *lock)
{
    struct held_nodes *held = held_nodes();
    uint32_t count = load_relaxed(&held->count), at = place_of(held, lock, count);
    if (at == count)
        return false;
    struct waiter *waiter = waiter_at(load_relaxed(&held->entries[at].node));
    return is_held_through(lock, waiter) &&
           load_relaxed(&waiter->holder) == current_thread();
}
