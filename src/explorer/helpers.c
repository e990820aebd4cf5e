/* SPDX-License-Identifier: MIT */
/* What clients may ask of the explorer. */
#include "explorer/clients.h"
#include "explorer/model.h"

void expect(bool condition, const char *text)
{
    if (!condition)
        fail("assertion", "%s", text);
}

void begin_operation(void)
{
    struct thread *self = &model.thread[model.running];
    self->turn.steps = 0;
    self->reads = self->spins = self->read_clock = self->read_deadline = 0;
}

const struct deadline *new_deadline(void)
{
    static const struct deadline some_time = {CLOCK_MONOTONIC, {1000000000, 0}};
    model.thread[model.running].struck = 0;
    return &some_time;
}

void move_to_node(unsigned node)
{
    model.thread[model.running].node = (uint8_t)node;
}
