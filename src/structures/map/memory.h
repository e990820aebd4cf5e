/* SPDX-License-Identifier: MIT */
/* The memory of a map: allocated within its budget, retired, and given back. */
#ifndef HASP_STRUCTURES_MAP_MEMORY_H
#define HASP_STRUCTURES_MAP_MEMORY_H

#include "structures/map/map.h"

/* Returns zeroed memory, or NULL and the reason in *why. Gives retired memory back
 * first if the budget requires it; less of it if the caller is in a section. */
void *memory_take(struct map *map, size_t bytes, size_t alignment,
                  enum map_result *why);

/* Gives memory back at once. Nobody else has seen it. */
void memory_give(struct map *map, void *memory, size_t bytes);

/* Gives memory back once no reader can hold it. It has been unlinked. */
void memory_retire(struct map *map, struct epochs_record *record, struct retired *item,
                   enum retired_kind kind);

/* Gives back what the thread's list has, after enough has been retired. */
void memory_reclaim(struct map *map, struct epochs_record *record);

/* Gives back everything that is possible now. Returns whether nothing is left. */
bool memory_reclaim_all(struct map *map);

/* Gives back all retired memory of a map that nobody uses any more. */
void memory_reclaim_unused(struct map *map);

/* Gives the table and its chains back at once. */
void memory_give_table(struct map *map, struct table *table);

static inline size_t table_bytes(uint64_t count)
{
    return sizeof(struct table) + count * sizeof(struct bucket);
}

static inline size_t node_bytes(const struct node *node)
{
    return sizeof *node + node->key_bytes + node->value_bytes;
}

#endif
