/* SPDX-License-Identifier: MIT */
/* The locations that a thread has read since it last waited. It waits until one of them
 * can return another value. */
#ifndef HASP_EXPLORER_MEMORY_READS_H
#define HASP_EXPLORER_MEMORY_READS_H

#include "explorer/base/model.h"
#include "explorer/memory/locations.h"

void note_read(struct thread *thread, const struct location *location, uint64_t value);

/* Returns whether the thread could read another value there now. */
bool is_stale(const struct thread *thread, const struct read *read);

#endif
