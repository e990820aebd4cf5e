/* SPDX-License-Identifier: MIT */
/* The messages of contended cells, and how threads read and write them. */
#ifndef HASP_EXPLORER_MEMORY_MESSAGES_H
#define HASP_EXPLORER_MEMORY_MESSAGES_H

#include "explorer/base/model.h"

unsigned message_count(uint16_t cell);
struct message *message_of(uint16_t cell, unsigned index);

/* Both store the positions in the cell's order that an access may choose, and return
 * how many there are. */
unsigned load_choices(const struct thread *thread, uint16_t cell, uint16_t *choices);
unsigned store_choices(const struct thread *thread, uint16_t cell, uint16_t *choices);
unsigned change_choices(const struct thread *thread, const struct request *request,
                        uint16_t *choices);

uint64_t memory_load(struct thread *thread, uint16_t cell, unsigned index, int order);
void memory_store(struct thread *thread, uint16_t cell, unsigned index, uint64_t value,
                  int order);
/* A read-modify-write of message `index`: the new message follows it directly. */
void memory_change(struct thread *thread, uint16_t cell, unsigned index, uint64_t value,
                   int order);
/* Makes `value` the newest one of a cell that no other thread can access. */
void memory_initialise(struct thread *thread, uint16_t cell, uint64_t value);

#endif
