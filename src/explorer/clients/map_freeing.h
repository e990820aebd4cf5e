/* SPDX-License-Identifier: MIT */
/* Bodies of clients of the map that free nodes. */
#ifndef HASP_EXPLORER_CLIENTS_MAP_FREEING_H
#define HASP_EXPLORER_CLIENTS_MAP_FREEING_H

#include "structures/map/map.h"

enum { COLLECTIONS = EPOCHS_APART + 2 };

/* Frees what no reader can hold any more: everything, after COLLECTIONS times. */
void map_collect(struct map *map);

void node_is_freed(unsigned thread);
void node_is_freed_with_fences(unsigned thread);
void late_reader(unsigned thread); /* the reader's record is new */
void record_is_used_again(unsigned thread);
void another_collects(unsigned thread);
void node_is_freed_by_two(unsigned thread);
void node_is_freed_late(unsigned thread); /* it was unlinked before */

#endif
