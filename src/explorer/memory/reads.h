/* SPDX-License-Identifier: MIT */
/* What a thread has read since it last waited: it waits until one of these locations
 * can return another value. */
#ifndef HASP_EXPLORER_MEMORY_READS_H
#define HASP_EXPLORER_MEMORY_READS_H

#include "explorer/base/model.h"
#include "explorer/memory/locations.h"

void note_read(struct thread *thread, const struct location *location, uint64_t value);

/* Returns whether the thread could read another value there now. */
bool is_stale(const struct thread *thread, const struct read *read);

#endif
