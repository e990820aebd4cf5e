/* SPDX-License-Identifier: MIT */
/*
 * Store buffers. Stores take effect in order: the line of the oldest one has been
 * requested, the others wait. A thread reads its own stores before other threads do.
 */
#ifndef HASP_SIMULATOR_STORES_H
#define HASP_SIMULATOR_STORES_H

#include "simulator/line.h"

/* Stores at once if the thread owns the line, else through the buffer; waits while the
 * buffer is full. */
void store(struct thread *self, struct line *line, void *address, uint32_t size,
           uint64_t value);

/* Waits until the buffer is empty. */
void drain_slowly(struct thread *self);
static inline void drain(struct thread *self)
{
    if (self->stores)
        drain_slowly(self);
}

/* Returns the youngest store to the cell in the buffer, or NULL. */
const struct store *find_store(const struct thread *self, const void *address);

/* Changes memory, once the line has arrived. */
void write_cell(const struct thread *thread, struct line *line, void *address,
                uint32_t size, uint64_t value, uint64_t time);

/* Handles EVENT_COMMIT. */
void store_commits(struct thread *thread, uint64_t time);

#endif
