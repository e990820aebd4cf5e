/* SPDX-License-Identifier: MIT */
/* The views of threads and messages; model.h defines their meaning. Only the entries of
 * known cells and plain locations are ever copied; the others are undefined. */
#ifndef HASP_EXPLORER_MEMORY_VIEWS_H
#define HASP_EXPLORER_MEMORY_VIEWS_H

#include "explorer/base/model.h"

void view_join(struct view *into, const struct view *from);
void view_copy(struct view *into, const struct view *from);
uint8_t view_take(void); /* with undefined contents */
uint8_t view_new(const struct view *content);
void view_give(uint8_t view); /* may be NO_VIEW */

/* Calls `visit` for every view of a thread or message. */
void views_visit(void (*visit)(struct view *, void *), void *argument);

/* Moves all positions in the cell's order at or after `from` by `by`. */
void views_shift(uint16_t cell, unsigned from, int by);

#endif
