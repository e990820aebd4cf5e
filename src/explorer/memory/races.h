/* SPDX-License-Identifier: MIT */
/* Which accesses of plain locations are ordered by happens-before; see model.h. */
#ifndef HASP_EXPLORER_MEMORY_RACES_H
#define HASP_EXPLORER_MEMORY_RACES_H

#include "explorer/base/model.h"

/* Record the access and return true if it is ordered after all conflicting accesses of
 * other threads; otherwise return false. */
bool read_is_ordered(unsigned plain, int thread);
bool write_is_ordered(unsigned plain, int thread);

uint8_t unordered_readers(unsigned plain, int thread); /* bit set of threads */

/* Forgets accesses that happen before the next step of every thread. */
void races_canonicalise(void);

#endif
