/* SPDX-License-Identifier: MIT */
/* Operations that change a map. */
#ifndef HASP_STRUCTURES_MAP_WRITE_H
#define HASP_STRUCTURES_MAP_WRITE_H

#include "structures/map/map.h"

enum map_change { MAP_KEEP, MAP_STORE, MAP_REMOVE };

/* Decides about an entry. `value.bytes` is NULL if the key is absent. With MAP_STORE,
 * *fresh is the value to store. */
typedef enum map_change map_decide(void *argument, struct map_span value,
                                   struct map_span *fresh);

/* Each returns an enum map_result. `record` belongs to the calling thread. */
int map_put(struct map *map, struct epochs_record *record, struct map_span key,
            struct map_span value);
int map_insert(struct map *map, struct epochs_record *record, struct map_span key,
               struct map_span value);
int map_remove(struct map *map, struct epochs_record *record, struct map_span key);
int map_update(struct map *map, struct epochs_record *record, struct map_span key,
               map_decide *decide, void *argument);

/* The same for a key that map_key() has filled in. */
int map_put_keyed(struct map *map, struct epochs_record *record,
                  const struct map_key *key, struct map_span value);
int map_insert_keyed(struct map *map, struct epochs_record *record,
                     const struct map_key *key, struct map_span value);
int map_remove_keyed(struct map *map, struct epochs_record *record,
                     const struct map_key *key);
int map_update_keyed(struct map *map, struct epochs_record *record,
                     const struct map_key *key, map_decide *decide, void *argument);

#endif
