/* SPDX-License-Identifier: MIT */
/* Reads that copy the value. */
#ifndef HASP_STRUCTURES_MAP_READ_H
#define HASP_STRUCTURES_MAP_READ_H

#include "structures/map/map.h"

/* Copies the value into `value`, which has room for *value_bytes, and stores its length
 * there. `record` belongs to the calling thread. Returns an enum map_result. */
static inline int read_copy_keyed(struct map *map, struct epochs_record *record,
                                  const struct map_key *key, void *value,
                                  size_t *value_bytes)
{
    uint64_t word;
    int result = MAP_ABSENT;
    bool outermost = epochs_enter(map->epochs, record);
    if (map_find(map, key, &word)) {
        struct map_span found = map_value(map, &word);
        result = found.length <= *value_bytes ? MAP_OK : MAP_SMALL_BUFFER;
        *value_bytes = found.length;
        if (likely(result == MAP_OK && found.length == sizeof word))
            memcpy(value, found.bytes, sizeof word); /* no call */
        else if (result == MAP_OK && found.length)
            memcpy(value, found.bytes, found.length);
    }
    epochs_leave(record, outermost);
    return result;
}

/* The same with the bytes of the key. */
static inline int read_copy(struct map *map, struct epochs_record *record,
                            struct map_span key, void *value, size_t *value_bytes)
{
    struct map_key sought;
    if (unlikely(!map_key(map, &sought, key.bytes, key.length)))
        return MAP_BAD_KEY;
    return read_copy_keyed(map, record, &sought, value, value_bytes);
}

#endif
