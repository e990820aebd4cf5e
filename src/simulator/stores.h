/* SPDX-License-Identifier: MIT */
/*
 * Store buffers. Stores take effect in order; the oldest one has its line on the way,
 * the others wait. A thread reads its own stores before anybody else does.
 */
#ifndef HASP_SIMULATOR_STORES_H
#define HASP_SIMULATOR_STORES_H

#include "simulator/line.h"

/* Stores, at once or through the buffer; waits while that is full. */
void store(struct thread *self, struct line *line, void *address, uint32_t size,
           uint64_t value);

/* Waits until the buffer is empty. */
void drain_slowly(struct thread *self);
static inline void drain(struct thread *self)
{
    if (self->stores)
        drain_slowly(self);
}

/* The youngest store to the cell that is still in the buffer, or NULL. */
const struct store *find_store(const struct thread *self, const void *address);

/* Changes memory. */
void write_cell(const struct thread *thread, struct line *line, void *address,
                uint32_t size, uint64_t value, uint64_t time);

/* The event. */
void store_commits(struct thread *thread, uint64_t time);

#endif
