/* SPDX-License-Identifier: MIT */
#include "simulator/ahead.h"
#include "simulator/event_loop.h"
#include "simulator/requests.h"

/* Returns the place of the access that ends first. */
static uint64_t *first_to_end(struct thread *self)
{
    uint64_t *first = &self->misses[0];
    for (unsigned i = 1; i < machine.model.misses_in_flight; i++)
        if (self->misses[i] < *first)
            first = &self->misses[i];
    return first;
}

static bool is_there(struct line *line, const struct thread *self, bool writes)
{
    uint64_t at = writes ? writable_at(line, self, self->now)
                         : readable_at(line, self, self->now);
    return at != UINT64_MAX;
}

void begin_access_ahead(struct thread *self, const void *address, bool writes)
{
    if (machine.protocol == HOME_EXECUTED || machine.model.misses_in_flight < 2 ||
        self->in_transaction || on_own_stack(self, address))
        return;
    catch_up(self);
    struct line *line = line_used(line_of(address), self);
    if (is_there(line, self, writes))
        return;
    uint64_t *place = first_to_end(self);
    if (*place > self->now)
        block_until(self, *place);
    /* It may have lost its CPU meanwhile. */
    if (!is_there(line, self, writes))
        *place =
            request(line, self, writes ? MACHINE_STORE : MACHINE_LOAD, self->now);
}
