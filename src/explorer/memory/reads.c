/* SPDX-License-Identifier: MIT */
#include "explorer/memory/reads.h"

#include "explorer/memory/locations.h"
#include "explorer/memory/messages.h"

void note_read(struct thread *thread, const struct location *location, uint64_t value)
{
    uint32_t index = (uint32_t)(location - known.location);
    for (unsigned i = 0; i < thread->reads; i++)
        if (thread->read[i].location == index) {
            thread->read[i] = (struct read){index, false, value};
            return;
        }
    if (thread->reads == READS) {
        /* Drop the oldest one: no waiting loop has so many reads. */
        for (unsigned i = 1; i < READS; i++)
            thread->read[i - 1] = thread->read[i];
        thread->reads--;
    }
    thread->read[thread->reads++] = (struct read){index, false, value};
}

bool is_stale(const struct thread *thread, const struct read *read)
{
    const struct location *location = &known.location[read->location];
    if (read->stale)
        return true;
    if (is_ordered_cell(location))
        return value_at(location->address, location->size) != read->value;
    for (unsigned m = thread->view.at[location->cell];
         m < message_count(location->cell); m++)
        if (message_of(location->cell, m)->value != read->value)
            return true;
    return false;
}
