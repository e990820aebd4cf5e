/* SPDX-License-Identifier: MIT */
#ifndef HASP_STRUCTURES_MAP_CREATE_H
#define HASP_STRUCTURES_MAP_CREATE_H

#include "structures/map/map.h"

/* What a map is created with. Zero is a default for every field. */
struct map_options {
    uint32_t key_bytes, value_bytes; /* 0: any length */
    const char *lock;                /* NULL: the buckets' own */
    uint64_t stripes;                /* with a lock; 0: as many as pays */
    uint64_t least_buckets, most_buckets;
    uint64_t budget; /* in bytes; 0: none */
    uint64_t seed;   /* of the hash */
};

/* Makes `map`, which is zeroed, an empty map. Returns an enum map_result. */
int map_prepare(struct map *map, const struct map_options *options,
                const struct map_memory *memory, struct epochs *epochs);

/* Gives all memory back that belongs to the map. Nobody uses it any more. */
void map_finish(struct map *map);

#endif
