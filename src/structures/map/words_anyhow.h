/* SPDX-License-Identifier: MIT */
/* The functions of hasp/map.h for words, where the code of words.h is not enough. They
 * are for any map, and return MAP_BAD_KEY if its entries are not words. */
#ifndef HASP_STRUCTURES_MAP_WORDS_ANYHOW_H
#define HASP_STRUCTURES_MAP_WORDS_ANYHOW_H

#include "structures/map/threads.h"
#include "structures/map/words.h"

struct hasp_map;

struct words_found words_get_anyhow(struct hasp_map *map, uint64_t key);
int words_put_anyhow(struct hasp_map *map, uint64_t key, uint64_t value);
int words_insert_anyhow(struct hasp_map *map, uint64_t key, uint64_t value);
int words_remove_anyhow(struct hasp_map *map, uint64_t key);

/* Its first member is the map itself. */
WORDS_INLINE struct map *map_within(struct hasp_map *map)
{
    return (struct map *)(void *)map;
}

#endif
