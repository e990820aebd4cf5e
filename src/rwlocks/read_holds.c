/* SPDX-License-Identifier: MIT */
#include "rwlocks/read_holds.h"

struct pool read_holds_pool;
void (*read_holds_begun)(void);

struct read_holds *read_holds_make(void)
{
    struct read_holds *holds = read_holds_mine();
    if (likely(holds != NULL))
        return holds;
    holds = (struct read_holds *)pool_take(&read_holds_pool);
    store_relaxed(&holds->generation, fork_generation());
    store_relaxed(&holds->nested, 0);
    store_relaxed(&held_nodes()->reads, holds->link.id);
    if (read_holds_begun)
        read_holds_begun();
    return holds;
}

struct atomic_u64 *read_holds_search_empty(struct read_holds *holds)
{
    for (unsigned i = 1; i < READ_HOLDS; i++)
        if (load_relaxed(&holds->at[i]) == 0)
            return &holds->at[i];
    return NULL;
}

void read_holds_put(const struct rwlock *lock, enum read_hold how)
{
    struct read_holds *holds = read_holds_make();
    struct atomic_u64 *entry = read_holds_empty(holds);
    if (entry)
        store_relaxed(entry, read_hold_of(lock, how));
}

static struct atomic_u64 *find(struct read_holds *holds, uint64_t entry)
{
    for (unsigned i = 0; i < READ_HOLDS; i++)
        if (load_relaxed(&holds->at[i]) == entry)
            return &holds->at[i];
    return NULL;
}

bool read_holds_have(const struct rwlock *lock)
{
    struct read_holds *holds = read_holds_mine();
    return holds && (find(holds, read_hold_of(lock, HOLD_COUNTED)) ||
                     find(holds, read_hold_of(lock, HOLD_BIASED)));
}

bool read_holds_nest(const struct rwlock *lock)
{
    if (!read_holds_have(lock))
        return false;
    struct read_holds *holds = read_holds_mine();
    struct atomic_u64 *entry = read_holds_empty(holds);
    if (!entry)
        return false;
    store_relaxed(entry, read_hold_of(lock, HOLD_NESTED));
    store_relaxed(&holds->nested, load_relaxed(&holds->nested) + 1);
    return true;
}

static int drop_of(struct read_holds *holds, const struct rwlock *lock, bool nested)
{
    static const enum read_hold order[] = {HOLD_NESTED, HOLD_COUNTED, HOLD_BIASED};
    for (unsigned i = nested ? 0 : 1; i < sizeof order / sizeof order[0]; i++) {
        uint64_t held = read_hold_of(lock, order[i]);
        struct atomic_u64 *entry = find(holds, held);
        if (entry && compare_exchange_release(entry, &held, 0)) {
            if (order[i] == HOLD_NESTED)
                store_relaxed(&holds->nested, load_relaxed(&holds->nested) - 1);
            return order[i];
        }
    }
    return -1;
}

/* Returns the record with this id if it may hold locks, or NULL. */
static struct read_holds *in_use(uint32_t id, uint32_t generation)
{
    struct read_holds *holds = (struct read_holds *)pool_find(&read_holds_pool, id);
    return holds && load_relaxed(&holds->generation) == generation ? holds : NULL;
}

int read_holds_drop(const struct rwlock *lock)
{
    struct read_holds *mine = read_holds_mine();
    return mine ? drop_of(mine, lock, true) : -1;
}

int read_holds_drop_of_others(const struct rwlock *lock)
{
    const struct read_holds *mine = read_holds_mine();
    uint32_t generation = fork_generation(), last = pool_size(&read_holds_pool);
    int found = -1;
    for (uint32_t id = 1; id <= last && found < 0; id++) {
        struct read_holds *holds = in_use(id, generation);
        if (holds && holds != mine)
            found = drop_of(holds, lock, false);
    }
    return found;
}

int read_holds_release(const struct rwlock *lock)
{
    int found = read_holds_drop(lock);
    return found < 0 ? read_holds_drop_of_others(lock) : found;
}

bool read_holds_biased(const struct rwlock *lock)
{
    const uint64_t held = read_hold_of(lock, HOLD_BIASED);
    uint32_t generation = fork_generation(), last = pool_size(&read_holds_pool);
    for (uint32_t id = 1; id <= last; id++) {
        struct read_holds *holds = in_use(id, generation);
        for (unsigned i = 0; holds && i < READ_HOLDS; i++)
            if (load_acquire(&holds->at[i]) == held)
                return true;
    }
    return false;
}

uint32_t read_holds_counted(const struct rwlock *lock)
{
    const uint64_t held = read_hold_of(lock, HOLD_COUNTED);
    uint32_t generation = fork_generation(), last = pool_size(&read_holds_pool);
    uint32_t counted = 0;
    for (uint32_t id = 1; id <= last; id++) {
        struct read_holds *holds = in_use(id, generation);
        for (unsigned i = 0; holds && i < READ_HOLDS; i++)
            counted += load_relaxed(&holds->at[i]) == held;
    }
    return counted;
}

void read_holds_give_back(void)
{
    struct read_holds *holds = read_holds_mine();
    if (!holds)
        return;
    for (unsigned i = 0; i < READ_HOLDS; i++)
        if (load_relaxed(&holds->at[i]) != 0)
            return; /* it still holds a lock, which stays held */
    store_relaxed(&held_nodes()->reads, 0);
    pool_give(&read_holds_pool, (struct pool_slot *)holds);
}

void read_holds_in_child(void)
{
    struct read_holds *holds = read_holds_mine();
    if (holds)
        store_relaxed(&holds->generation, fork_generation());
}
