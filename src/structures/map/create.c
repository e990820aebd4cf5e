/* SPDX-License-Identifier: MIT */
#include "structures/map/create.h"

#include "structures/map/memory.h"

enum { LEAST_BUCKETS = 16, STRIPES_MOST = 64, STRIPES_LIMIT = 65536, WORD = 8 };

static bool set_sizes(struct map *map, const struct map_options *options)
{
    uint64_t least = options->least_buckets ? options->least_buckets : LEAST_BUCKETS;
    map->most = options->most_buckets ? options->most_buckets : MAP_BUCKETS_MOST;
    map->stripe_count = 1;
    if (least > map->most || map->most > MAP_BUCKETS_MOST ||
        options->stripes > STRIPES_LIMIT || options->key_bytes > MAP_KEY_MOST)
        return false;
    if (options->lock) {
        uint64_t stripes = options->stripes ? options->stripes : STRIPES_MOST;
        map->stripe_count = options->stripes || stripes < least ? stripes : least;
        /* Each stripe has the same number of buckets. */
        least = (least + map->stripe_count - 1) / map->stripe_count * map->stripe_count;
        if (map->most < least)
            map->most = least;
    }
    map->least = least;
    map->key_bytes = options->key_bytes;
    map->value_bytes = options->value_bytes;
    map->key_in_slot = options->key_bytes && options->key_bytes <= WORD;
    map->value_in_slot =
        map->key_in_slot && options->value_bytes && options->value_bytes <= WORD;
    return true;
}

static int set_lock(struct map *map, const char *name)
{
    int index = name ? lock_find(name) : 0;
    if (index < 0 || (name && index == 0))
        return MAP_UNKNOWN_LOCK;
    if (!name)
        return MAP_OK;
    map->operations = lock_at((unsigned)index).operations;
    map->lock = &map->operations;
    enum map_result why;
    map->stripes = (struct stripe *)memory_take(
        map, map->stripe_count * sizeof(struct stripe), CACHE_LINE, &why);
    return map->stripes ? MAP_OK : (int)why;
}

static void give_stripes(struct map *map)
{
    if (!map->stripes)
        return;
    for (uint64_t i = 0; i < map->stripe_count; i++)
        map->lock->destroy(&map->stripes[i].lock);
    memory_give(map, map->stripes, map->stripe_count * sizeof(struct stripe));
}

int map_prepare(struct map *map, const struct map_options *options,
                const struct map_memory *memory, struct epochs *epochs)
{
    if (!set_sizes(map, options))
        return MAP_BAD_OPTIONS;
    map->memory = *memory;
    map->budget = options->budget ? options->budget : UINT64_MAX;
    map->secret = hash_secret(options->seed);
    map->epochs = epochs;
    int result = set_lock(map, options->lock);
    if (result != MAP_OK)
        return result;
    enum map_result why;
    struct table *table =
        (struct table *)memory_take(map, table_bytes(map->least), CACHE_LINE, &why);
    if (!table) {
        give_stripes(map);
        return why;
    }
    table->count = map->least;
    store_release(&map->buckets, (uint64_t)(uintptr_t)table->buckets);
    return MAP_OK;
}

static void give_nodes(struct map *map, struct bucket *bucket)
{
    for (; bucket; bucket = bucket_next(bucket))
        for (unsigned i = 0; i < BUCKET_SLOTS; i++)
            if (bucket_has(load_relaxed(&bucket->control), i)) {
                struct node *node = node_at(load_relaxed(bucket_value(bucket, i)));
                memory_give(map, node, node_bytes(node));
            }
}

void map_finish(struct map *map)
{
    memory_reclaim_unused(map);
    struct table *table = map_table(map);
    while (table) {
        struct table *next = table_next(table);
        for (uint64_t i = 0; i < table->count && !map->value_in_slot; i++)
            if (!(load_relaxed(&table->buckets[i].control) & BUCKET_MOVED))
                give_nodes(map, &table->buckets[i]);
        memory_give_table(map, table);
        table = next;
    }
    give_stripes(map);
}
