/* SPDX-License-Identifier: MIT */
#include "structures/map/resize.h"

#include "structures/map/chain.h"
#include "structures/map/memory.h"

enum {
    GROW_SAMPLE = 64, /* buckets looked at */
    SHRINK_SAMPLE = 128,
    SHRINK_GLANCE = 8,    /* looked at first; each look can cost another CPU its line */
    SECOND_SAMPLE = 2048, /* looked at if the first sample is for it */
    GROW_PERCENT = 70,    /* of an entry, on average */
    SHRINK_PERCENT = 20,  /* likewise */
    GROW_CHANCE = 16,     /* a thread looks one of so many times */
    HELP_BUCKETS = 64,    /* moved at a time, or half of a smaller table */
    CHAIN_MOST = 64,      /* buckets of a chain that are counted */
};

bool resize_begin(struct map *map, struct table *table, uint64_t count)
{
    uint32_t free = 0;
    enum map_result why;
    if (load_relaxed(&map->resizing) ||
        !compare_exchange_acquire(&map->resizing, &free, 1))
        return false;
    /* Acquire: pairs with the release in resize_finish. */
    struct table *next = NULL;
    if (map_table(map) == table && !table_next(table))
        next = (struct table *)memory_take(map, table_bytes(count), CACHE_LINE, &why);
    if (!next) {
        store_release(&map->resizing, 0);
        return false;
    }
    next->count = count;
    store_release(&table->next, (uint64_t)(uintptr_t)next);
    return true;
}

/* Makes the next table the map's: all buckets have moved. */
static void resize_finish(struct map *map, struct epochs_record *record,
                          struct table *table)
{
    store_release(&map->buckets, (uint64_t)(uintptr_t)table_next(table)->buckets);
    store_release(&map->resizing, 0);
    memory_retire(map, record, &table->retired, RETIRED_TABLE);
}

/* Returns the entries of a chain, which may change meanwhile. */
static uint64_t entries_of(struct bucket *bucket)
{
    uint64_t entries = 0;
    for (int i = 0; bucket && i < CHAIN_MOST; i++) {
        entries += bucket_used(load_relaxed(&bucket->control));
        bucket = bucket_next(bucket);
    }
    return entries;
}

static uint64_t entries_near(struct table *table, uint64_t hash, uint64_t buckets)
{
    uint64_t entries = 0, first = map_part(hash, table->count);
    for (uint64_t i = 0; i < buckets; i++)
        entries += entries_of(&table->buckets[(first + i) % table->count]);
    return entries;
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Returns the entries in 100 buckets of a sample. */
static uint64_t percent_near(struct table *table, uint64_t hash, uint64_t buckets)
{
    uint64_t sample = smaller(buckets, table->count);
    return entries_near(table, hash, sample) * 100 / sample;
}

void resize_consider(struct map *map, struct epochs_record *record, struct table *table,
                     uint64_t hash, bool removed)
{
    if (removed) {
        if (table->count / 2 >= map->least && table->count % 2 == 0 &&
            percent_near(table, hash, SHRINK_GLANCE) < SHRINK_PERCENT &&
            percent_near(table, hash, SHRINK_SAMPLE) < SHRINK_PERCENT &&
            percent_near(table, hash, SECOND_SAMPLE) < SHRINK_PERCENT)
            resize_begin(map, table, table->count / 2);
        return;
    }
    if (table->count * 2 <= map->most && record->chances++ % GROW_CHANCE == 0 &&
        percent_near(table, hash, GROW_SAMPLE) > GROW_PERCENT &&
        percent_near(table, hash, SECOND_SAMPLE) > GROW_PERCENT)
        resize_begin(map, table, table->count * 2);
}

static uint64_t hash_of(const struct map *map, uint64_t word)
{
    return map->key_in_slot ? hash_word(word, &map->secret) : word;
}

/* The chains to which the entries of a bucket go: two if the table grows. */
struct targets {
    struct chain chains[2];
    unsigned count;
    struct link *spares;
};

static void targets_acquire(struct targets *targets, struct map *map,
                            struct table *table, uint64_t index)
{
    struct table *next = table_next(table);
    targets->count = next->count > table->count ? 2 : 1;
    targets->spares = NULL;
    for (unsigned i = 0; i < targets->count; i++) {
        uint64_t at = targets->count == 2 ? 2 * index + i : index / 2;
        /* The next table is not replaced before this one is gone. */
        chain_acquire(&targets->chains[i], map, next, &next->buckets[at]);
    }
}

static struct chain *target_of(struct targets *targets, uint64_t hash)
{
    if (targets->count == 1)
        return &targets->chains[0];
    struct table *next = targets->chains[0].table;
    return &targets->chains[map_part(hash, next->count) & 1];
}

static unsigned vacancies(const struct chain *chain)
{
    unsigned vacant = 0;
    for (struct bucket *at = chain->head; at; at = bucket_next(at))
        vacant += BUCKET_SLOTS - bucket_used(chain_control(chain, at));
    return vacant;
}

/* Takes the links that the entries need at their targets. */
static bool targets_reserve(struct targets *targets, struct chain *from)
{
    struct map *map = from->map;
    unsigned arriving[2] = {0, 0}, needed = 0;
    enum map_result why;
    for (struct bucket *at = from->head; at; at = bucket_next(at))
        for (unsigned i = 0; i < BUCKET_SLOTS; i++)
            if (bucket_has(chain_control(from, at), i)) {
                uint64_t hash = hash_of(map, load_relaxed(&at->keys[i]));
                arriving[target_of(targets, hash) - targets->chains]++;
            }
    for (unsigned i = 0; i < targets->count; i++) {
        unsigned vacant = vacancies(&targets->chains[i]);
        if (arriving[i] > vacant)
            needed += (arriving[i] - vacant + BUCKET_SLOTS - 1) / BUCKET_SLOTS;
    }
    for (; needed; needed--) {
        struct link *link =
            (struct link *)memory_take(map, sizeof *link, BUCKET_LINE, &why);
        if (!link)
            return false;
        link->bucket.next.raw = (uint64_t)(uintptr_t)targets->spares;
        targets->spares = link;
    }
    return true;
}

/* Returns the first free place of a chain. */
static struct place vacant_place(const struct chain *chain)
{
    struct place place = {chain->head, NULL, 0};
    for (;;) {
        uint64_t control = chain_control(chain, place.bucket);
        for (place.slot = 0; place.slot < BUCKET_SLOTS; place.slot++)
            if (!bucket_has(control, place.slot))
                return place;
        struct bucket *next = bucket_next(place.bucket);
        if (!next)
            return place;
        place.before = place.bucket;
        place.bucket = next;
    }
}

static struct link *spare_of(struct targets *targets)
{
    struct link *link = targets->spares;
    if (link) {
        targets->spares = (struct link *)(uintptr_t)load_relaxed(&link->bucket.next);
        store_relaxed(&link->bucket.next, 0);
    }
    return link;
}

static void move_entries(struct targets *targets, struct chain *from)
{
    for (struct bucket *at = from->head; at; at = bucket_next(at))
        for (unsigned i = 0; i < BUCKET_SLOTS; i++) {
            if (!bucket_has(chain_control(from, at), i))
                continue;
            uint64_t word = load_relaxed(&at->keys[i]);
            struct chain *to = target_of(targets, hash_of(from->map, word));
            struct place place = vacant_place(to);
            struct link *spare = place.slot == BUCKET_SLOTS ? spare_of(targets) : NULL;
            chain_insert(to, &place, word, load_relaxed(bucket_value(at, i)), &spare);
        }
}

static void targets_release(struct targets *targets, struct map *map)
{
    struct link *spare;
    for (unsigned i = 0; i < targets->count; i++)
        chain_release(&targets->chains[i]);
    while ((spare = spare_of(targets)))
        memory_give(map, spare, sizeof *spare);
}

/* Moves the bucket unless that has been done. Sets *moved if it did it now. Returns
 * false if memory is short. */
static bool move_bucket(struct map *map, struct table *table, uint64_t index,
                        bool *moved)
{
    struct chain from;
    struct targets targets;
    bool reserved = true;
    *moved = false;
    struct stripe *stripe = NULL;
    if (map->lock) {
        stripe = &map->stripes[index / (table->count / map->stripe_count)];
        map->lock->lock(&stripe->lock);
    }
    if (chain_acquire(&from, map, table, &table->buckets[index])) {
        targets_acquire(&targets, map, table, index);
        reserved = targets_reserve(&targets, &from);
        if (reserved) {
            move_entries(&targets, &from);
            *moved = true;
        }
        targets_release(&targets, map);
        if (*moved)
            from.control = (from.control | BUCKET_MOVED) + BUCKET_VERSION;
        chain_release(&from);
    }
    if (stripe)
        map->lock->unlock(&stripe->lock);
    return reserved;
}

void resize_help(struct map *map, struct epochs_record *record, struct table *table)
{
    uint64_t done = 0, share = smaller(HELP_BUCKETS, (table->count + 1) / 2);
    uint64_t first = load_relaxed(&table->claimed);
    if (first < table->count)
        first = fetch_add_relaxed(&table->claimed, share);
    else if (load_relaxed(&table->failed) && exchange_relaxed(&table->failed, 0))
        store_relaxed(&table->claimed, 0); /* buckets were left: go over all again */
    for (uint64_t i = first; i < first + share && i < table->count; i++) {
        bool moved;
        if (!move_bucket(map, table, i, &moved)) {
            store_relaxed(&table->failed, 1);
            break;
        }
        done += moved;
    }
    /* Release: the last one finishes what all have moved. */
    if (done && fetch_add_acq_rel(&table->moved, done) + done == table->count)
        resize_finish(map, record, table);
}

/* Moves what is left of the table. Returns false if that is not possible now. */
static bool move_rest(struct map *map, struct epochs_record *record,
                      struct table *table)
{
    if (map_table(map) != table)
        return true;
    store_relaxed(&table->claimed, 0);
    store_relaxed(&table->failed, 0);
    while (load_relaxed(&table->claimed) < table->count && map_table(map) == table)
        resize_help(map, record, table);
    return map_table(map) != table;
}

bool resize_settle(struct map *map, struct epochs_record *record)
{
    bool settled = false, outermost = epochs_enter(map->epochs, record);
    for (;;) {
        struct table *table = map_table(map);
        if (table_next(table)) {
            if (!move_rest(map, record, table))
                break;
            continue;
        }
        uint64_t entries = 0;
        for (uint64_t i = 0; i < table->count; i++)
            entries += entries_of(&table->buckets[i]);
        settled = table->count / 2 < map->least || table->count % 2 ||
                  entries * 100 >= SHRINK_PERCENT * table->count;
        if (settled || !resize_begin(map, table, table->count / 2))
            break;
    }
    epochs_leave(record, outermost);
    return settled;
}
