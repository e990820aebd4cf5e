/* SPDX-License-Identifier: MIT */
#include "structures/map/memory.h"

/* A thread reclaims after it has retired so many items; large ones count more. */
enum { PRESSURE_MOST = 256, PRESSURE_BYTES = 1024, ROUNDS = 8 };

static bool reserve(struct map *map, size_t bytes)
{
    if (map->budget == UINT64_MAX)
        return true;
    uint64_t used = fetch_add_relaxed(&map->used, bytes) + bytes;
    if (used <= map->budget)
        return true;
    fetch_add_relaxed(&map->used, (uint64_t)0 - bytes);
    return false;
}

static void unreserve(struct map *map, size_t bytes)
{
    if (map->budget != UINT64_MAX)
        fetch_add_relaxed(&map->used, (uint64_t)0 - bytes);
}

void *memory_take(struct map *map, size_t bytes, size_t alignment, enum map_result *why)
{
    *why = MAP_OVER_BUDGET;
    if (!reserve(map, bytes)) {
        memory_reclaim_all(map);
        if (!reserve(map, bytes))
            return NULL;
    }
    void *memory = map->memory.allocate(map->memory.context, bytes, alignment);
    if (!memory) {
        memory_reclaim_all(map);
        memory = map->memory.allocate(map->memory.context, bytes, alignment);
    }
    if (memory)
        return memory;
    unreserve(map, bytes);
    *why = MAP_NO_MEMORY;
    return NULL;
}

void memory_give(struct map *map, void *memory, size_t bytes)
{
    map->memory.release(map->memory.context, memory, bytes);
    unreserve(map, bytes);
}

static void give_chain(struct map *map, struct bucket *bucket)
{
    while (bucket) {
        struct bucket *next = bucket_next(bucket);
        memory_give(map, link_of(bucket), sizeof(struct link));
        bucket = next;
    }
}

void memory_give_table(struct map *map, struct table *table)
{
    for (uint64_t i = 0; i < table->count; i++)
        give_chain(map, bucket_next(&table->buckets[i]));
    memory_give(map, table, table_bytes(table->count));
}

static struct link *link_retired(struct retired *item)
{
    return (struct link *)(void *)((char *)item - offsetof(struct link, retired));
}

static size_t bytes_of(struct retired *item)
{
    switch (retired_kind(item)) {
    case RETIRED_NODE:
        return node_bytes((struct node *)(void *)item);
    case RETIRED_TABLE:
        return table_bytes(((struct table *)(void *)item)->count);
    default:
        return sizeof(struct link);
    }
}

static void give_all(struct map *map, struct retired *item)
{
    while (item) {
        struct retired *next = item->next;
        if (retired_kind(item) == RETIRED_TABLE)
            memory_give_table(map, (struct table *)(void *)item);
        else if (retired_kind(item) == RETIRED_LINK)
            memory_give(map, link_retired(item), sizeof(struct link));
        else
            memory_give(map, item, bytes_of(item));
        item = next;
    }
}

static struct retired_list *list_of(struct map *map, const struct epochs_record *record)
{
    return &map->lists[record->number % MAP_LISTS];
}

void memory_retire(struct map *map, struct epochs_record *record, struct retired *item,
                   enum retired_kind kind)
{
    item->tag = kind;
    size_t bytes = bytes_of(item);
    record->pressure +=
        1 + (uint32_t)(bytes / PRESSURE_BYTES > PRESSURE_MOST ? PRESSURE_MOST
                                                              : bytes / PRESSURE_BYTES);
    retired_push(list_of(map, record), item);
}

void memory_reclaim(struct map *map, struct epochs_record *record)
{
    if (likely(record->pressure < PRESSURE_MOST))
        return;
    record->pressure = 0;
    give_all(map, retired_collect(list_of(map, record), map->epochs));
}

bool memory_reclaim_all(struct map *map)
{
    bool left = true;
    for (int round = 0; round < ROUNDS && left; round++) {
        left = false;
        for (int i = 0; i < MAP_LISTS; i++) {
            give_all(map, retired_collect(&map->lists[i], map->epochs));
            left |= load_relaxed(&map->lists[i].head) != 0;
        }
    }
    return !left;
}

void memory_reclaim_unused(struct map *map)
{
    for (int i = 0; i < MAP_LISTS; i++)
        give_all(map, retired_take(&map->lists[i]));
}
