/* SPDX-License-Identifier: MIT */
/*
 * Iteration, in the order of the hashes and without a lock.
 *
 * The cursor is a hash. A step copies the chain that holds the hashes from the cursor
 * on, in whichever table they are, calls the function for each entry that it found, and
 * moves the cursor to the end of that chain's range. Ranges of different tables
 * overlap, but the cursor passes each hash once. So a key that is present during the
 * whole iteration is visited exactly once, whatever else changes and however often the
 * map is resized; one that is inserted or removed meanwhile is visited once or not at
 * all. A value that is visited was the key's value at some time during the iteration.
 */
#ifndef HASP_STRUCTURES_MAP_ITERATE_H
#define HASP_STRUCTURES_MAP_ITERATE_H

#include "structures/map/map.h"

/* Returns false to end the iteration. */
typedef bool map_visit(void *argument, struct map_span key, struct map_span value);

/* Visits every entry. The function may use the map. Returns false if the function ended
 * the iteration. */
bool map_iterate(struct map *map, struct epochs_record *record, map_visit *visit,
                 void *argument);

/* Returns the number of entries, counted as an iteration visits them. */
uint64_t map_count(struct map *map, struct epochs_record *record);

#endif
