/* SPDX-License-Identifier: MIT */
/*
 * Operations on ordered cells (see model.h). Their value is in the memory of the code
 * under check itself, and no operation on them is a scheduling point.
 */
#ifndef HASP_EXPLORER_MEMORY_ORDERED_CELLS_H
#define HASP_EXPLORER_MEMORY_ORDERED_CELLS_H

#include "explorer/base/model.h"
#include "explorer/memory/locations.h"

/* Both return the value before the operation. */
uint64_t ordered_operation(struct location *location, const struct request *request);
/* The cell is on the stack of the thread, which alone accesses it. */
uint64_t stack_operation(void *address, unsigned size, const struct request *request);

/* Sets the value of a cell that no other thread can access. */
void ordered_initialise(struct location *location, uint64_t value);

#endif
