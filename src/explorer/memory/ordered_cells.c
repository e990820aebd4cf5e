/* SPDX-License-Identifier: MIT */
#include "explorer/memory/ordered_cells.h"

#include "explorer/base/counterexample.h"
#include "explorer/memory/lifetime.h"
#include "explorer/memory/races.h"
#include "explorer/memory/reads.h"

#include <string.h>

/* Returns whether the operation writes, and the value in `after`. */
static bool writes(const struct request *request, unsigned size, uint64_t before,
                   uint64_t *after)
{
    switch (request->operation) {
    case OP_STORE:
        *after = request->operand;
        return true;
    case OP_CHANGE:
        *after = changed_value(request, size, before);
        return true;
    case OP_COMPARE:
        *after = request->operand;
        return before == request->expected;
    default:
        return false;
    }
}

static void note_step(const struct location *location, const struct request *request,
                      uint64_t before, uint64_t after, bool succeeded)
{
    counterexample_add(&(struct counterexample_step){.thread = model.running,
                                                     .operation = request->operation,
                                                     .order = request->order,
                                                     .change = request->change,
                                                     .address = location->address,
                                                     .before = before,
                                                     .after = after,
                                                     .succeeded = succeeded,
                                                     .function = request->function});
}

uint64_t stack_operation(void *address, unsigned size, const struct request *request)
{
    uint64_t before = value_at(address, size), after;
    if (writes(request, size, before, &after))
        memcpy(address, &after, size);
    return before;
}

uint64_t ordered_operation(struct location *location, const struct request *request)
{
    struct thread *thread = &model.thread[model.running];
    uint64_t before = value_at(location->address, location->size), after = before;
    bool write = writes(request, location->size, before, &after);
    expect_in_use(location->address, write);
    /* Storing the value that the cell already has does not count as a write. */
    if (write && before != after)
        location_note_write(location);
    if (is_tracked(location)) {
        bool reads = request->operation != OP_STORE;
        if ((reads && !read_is_ordered(location->plain, model.running)) ||
            (write && !write_is_ordered(location->plain, model.running)))
            location_note_race(location);
    }
    if (write) {
        memcpy(location->address, &after, location->size);
        thread->iteration.idle = 0;
    }
    if (request->operation != OP_STORE)
        note_read(thread, location, after);
    note_step(location, request, before, after, write);
    return before;
}

void ordered_initialise(struct location *location, uint64_t value)
{
    if (value_at(location->address, location->size) != value)
        location_note_write(location);
    if (is_tracked(location) && !write_is_ordered(location->plain, model.running))
        location_note_race(location);
    memcpy(location->address, &value, location->size);
}
