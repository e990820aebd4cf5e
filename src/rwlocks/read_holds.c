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

/* The way of a lock through the blocks of a record. */
struct way {
    struct read_holds *block;
    uint64_t turns; /* the next one in the top bit */
};

static struct way way_of(struct read_holds *first, const struct rwlock *lock)
{
    return (struct way){first, (uintptr_t)lock / sizeof(uint64_t) * 0x9e3779b97f4a7c15};
}

static struct atomic_u32 *way_below(const struct way *way)
{
    return &way->block->below[way->turns >> 63];
}

/* Goes to the next block; returns false if there is none. */
static bool way_goes_on(struct way *way)
{
    uint32_t id = load_relaxed(way_below(way));
    if (!id)
        return false;
    way->block = (struct read_holds *)pool_at(&read_holds_pool, id);
    way->turns = way->turns << 1 | way->turns >> 63;
    return true;
}

enum { DEPTH_SHIFT = 56 };
static const uint64_t one_deeper = (uint64_t)1 << DEPTH_SHIFT;
static const uint64_t deepest = (uint64_t)0xff << DEPTH_SHIFT;

/* Returns what an entry holds, without the depth of a nested one. */
static uint64_t held_by(uint64_t entry)
{
    return (entry & 3) == HOLD_NESTED ? entry & ~deepest : entry;
}

/* Returns the first entry of the block that holds `held` at most so deep, or NULL. */
static struct atomic_u64 *find_in(struct read_holds *block, uint64_t held,
                                  uint64_t depth)
{
    held = held_by(held);
    for (unsigned i = 0; i < READ_HOLDS; i++) {
        uint64_t entry = load_relaxed(&block->at[i]);
        if (held_by(entry) == held && entry - held <= depth)
            return &block->at[i];
    }
    return NULL;
}

static struct atomic_u64 *find(struct read_holds *first, const struct rwlock *lock,
                               enum read_hold how, uint64_t depth)
{
    struct way way = way_of(first, lock);
    struct atomic_u64 *found;
    do
        found = find_in(way.block, read_hold_of(lock, how), depth);
    while (!found && way_goes_on(&way));
    return found;
}

static bool is_held_in(struct read_holds *block, const struct rwlock *lock)
{
    return find_in(block, read_hold_of(lock, HOLD_COUNTED), 0) ||
           find_in(block, read_hold_of(lock, HOLD_BIASED), 0);
}

/* Returns an empty entry on the way of the lock; adds a block if there is none, unless
 * the lock `may_nest` and is in an entry. */
static struct atomic_u64 *search_empty(struct read_holds *first,
                                       const struct rwlock *lock, bool may_nest)
{
    struct way way = way_of(first, lock);
    bool nests = false;
    do {
        struct atomic_u64 *empty = find_in(way.block, 0, 0);
        if (empty)
            return empty;
        nests = nests || (may_nest && is_held_in(way.block, lock));
    } while (way_goes_on(&way));
    if (nests)
        return NULL;
    struct read_holds *added = (struct read_holds *)pool_take(&read_holds_pool);
    store_relaxed(&added->generation, fork_generation());
    store_relaxed(way_below(&way), added->link.id);
    return &added->at[0];
}

struct atomic_u64 *read_holds_search_empty(struct read_holds *holds,
                                           const struct rwlock *lock)
{
    return search_empty(holds, lock, true);
}

void read_holds_put(const struct rwlock *lock, enum read_hold how)
{
    store_relaxed(search_empty(read_holds_make(), lock, false),
                  read_hold_of(lock, how));
}

bool read_holds_have(const struct rwlock *lock)
{
    struct read_holds *holds = read_holds_mine();
    return holds && (find(holds, lock, HOLD_COUNTED, 0) ||
                     find(holds, lock, HOLD_BIASED, 0));
}

bool read_holds_nest(const struct rwlock *lock)
{
    if (!read_holds_have(lock))
        return false;
    struct read_holds *holds = read_holds_mine();
    struct atomic_u64 *entry = find(holds, lock, HOLD_NESTED, deepest - one_deeper);
    uint64_t nested = entry ? load_relaxed(entry) : 0;
    if (nested && compare_exchange_relaxed(entry, &nested, nested + one_deeper))
        return true;
    entry = search_empty(holds, lock, false);
    store_relaxed(entry, held_by(read_hold_of(lock, HOLD_NESTED)));
    store_relaxed(&holds->nested, load_relaxed(&holds->nested) + 1);
    return true;
}

/* Takes one hold from the entry; returns false if another thread did it first. Release:
 * pairs with the load by a writer in read_holds_biased(). */
static bool take_from(struct atomic_u64 *entry, bool *emptied)
{
    uint64_t held = load_relaxed(entry);
    *emptied = held_by(held) == held;
    return compare_exchange_release(entry, &held, *emptied ? 0 : held - one_deeper);
}

static const enum read_hold order_of_release[] = {HOLD_NESTED, HOLD_COUNTED,
                                                  HOLD_BIASED};
enum { KINDS_OF_HOLDS = sizeof order_of_release / sizeof order_of_release[0] };

int read_holds_drop(const struct rwlock *lock)
{
    struct read_holds *mine = read_holds_mine();
    for (unsigned i = 0; mine && i < KINDS_OF_HOLDS; i++) {
        enum read_hold how = order_of_release[i];
        if (how == HOLD_NESTED && !load_relaxed(&mine->nested))
            continue;
        struct atomic_u64 *entry = find(mine, lock, how, deepest);
        bool emptied;
        if (!entry || !take_from(entry, &emptied))
            continue;
        if (how == HOLD_NESTED && emptied)
            store_relaxed(&mine->nested, load_relaxed(&mine->nested) - 1);
        return how;
    }
    return -1;
}

/* Returns the block with this id if it may hold locks, or NULL. */
static struct read_holds *in_use(uint32_t id, uint32_t generation)
{
    struct read_holds *holds = (struct read_holds *)pool_find(&read_holds_pool, id);
    return holds && load_relaxed(&holds->generation) == generation ? holds : NULL;
}

/* The caller's record has no hold of the lock. */
int read_holds_drop_of_others(const struct rwlock *lock)
{
    uint32_t generation = fork_generation(), last = pool_size(&read_holds_pool);
    for (unsigned i = 0; i < KINDS_OF_HOLDS; i++) {
        uint64_t held = read_hold_of(lock, order_of_release[i]);
        for (uint32_t id = 1; id <= last; id++) {
            struct read_holds *block = in_use(id, generation);
            struct atomic_u64 *entry = block ? find_in(block, held, deepest) : NULL;
            bool emptied;
            if (entry && take_from(entry, &emptied))
                return order_of_release[i];
        }
    }
    return -1;
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

static struct read_holds *block_below(const struct read_holds *block, unsigned side)
{
    uint32_t id = load_relaxed(&block->below[side]);
    return id ? (struct read_holds *)pool_at(&read_holds_pool, id) : NULL;
}

static bool holds_anything(const struct read_holds *block)
{
    for (unsigned i = 0; block && i < READ_HOLDS; i++)
        if (load_relaxed(&block->at[i]) != 0)
            return true;
    return block && (holds_anything(block_below(block, 0)) ||
                     holds_anything(block_below(block, 1)));
}

static void give_back(struct read_holds *block)
{
    for (unsigned side = 0; block && side < 2; side++) {
        give_back(block_below(block, side));
        store_relaxed(&block->below[side], 0);
    }
    if (block)
        pool_give(&read_holds_pool, (struct pool_slot *)block);
}

void read_holds_give_back(void)
{
    struct read_holds *holds = read_holds_mine();
    if (!holds || holds_anything(holds))
        return; /* what it still holds stays held */
    store_relaxed(&held_nodes()->reads, 0);
    give_back(holds);
}

static void keep_in_child(struct read_holds *block)
{
    if (!block)
        return;
    store_relaxed(&block->generation, fork_generation());
    keep_in_child(block_below(block, 0));
    keep_in_child(block_below(block, 1));
}

void read_holds_in_child(void)
{
    keep_in_child(read_holds_mine());
}
