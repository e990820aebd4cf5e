/* SPDX-License-Identifier: MIT */
/* The threads and the memory of the process, for maps of native programs. */
#ifndef HASP_STRUCTURES_MAP_THREADS_H
#define HASP_STRUCTURES_MAP_THREADS_H

#include "structures/map/map.h"
#include "structures/map/records.h"

/* malloc() for small blocks, whole pages for large ones. */
extern const struct map_memory threads_memory __attribute__((visibility("hidden")));

/* Prepares the process. May be called again. Returns false if memory is exhausted. */
bool threads_prepare(void);

#endif
