/* SPDX-License-Identifier: MIT */
/* The order in which locks are acquired while others are held. */
#ifndef HASP_PROFILER_EDGES_H
#define HASP_PROFILER_EDGES_H

#include "profiler/file.h"

/* Before a lock is acquired while others are held (me->hold), or waited for. */
void edges_acquiring(struct recording *me, uint32_t inner, void *caller);

/* The same, by a trylock that has succeeded. */
void edges_tried(struct recording *me, uint32_t inner);

#endif
