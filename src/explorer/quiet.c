/* SPDX-License-Identifier: MIT */
/*
 * Cells that behave as plain memory; see model.h. Their value is where the code under
 * check believes it to be, and no operation on them is a scheduling point.
 */
#include "explorer/model.h"
#include "explorer/trail.h"

#include <string.h>

uint64_t value_at(const void *address, unsigned size)
{
    uint64_t value = 0;
    if (size == sizeof(uint32_t)) /* nearly always: no call */
        memcpy(&value, address, sizeof(uint32_t));
    else
        memcpy(&value, address, size);
    return value;
}

/* Whether the operation writes; and what, if so. */
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

static void note_step(const struct place *place, const struct request *request,
                      uint64_t before, uint64_t after, bool succeeded)
{
    trail_add(&(struct trail_step){.thread = model.running,
                                   .operation = request->operation,
                                   .order = request->order,
                                   .change = request->change,
                                   .address = place->address,
                                   .before = before,
                                   .after = after,
                                   .succeeded = succeeded,
                                   .function = request->function});
}

uint64_t own_operation(void *address, unsigned size, const struct request *request)
{
    uint64_t before = value_at(address, size), after;
    if (writes(request, size, before, &after))
        memcpy(address, &after, size);
    return before;
}

uint64_t quiet_operation(struct place *place, const struct request *request)
{
    struct thread *thread = &model.thread[model.running];
    uint64_t before = value_at(place->address, place->size), after = before;
    bool write = writes(request, place->size, before, &after);
    expect_in_use(place->address, write);
    /* What is never written but with the value it has is never written. */
    if (write && before != after)
        place_is_written(place);
    if (is_tracked(place)) {
        bool reads = request->operation != OP_STORE;
        if ((reads && !read_is_ordered(place->plain, model.running)) ||
            (write && !write_is_ordered(place->plain, model.running)))
            place_is_contended(place);
    }
    if (write) {
        memcpy(place->address, &after, place->size);
        thread->turn.idle = 0;
    }
    if (request->operation != OP_STORE)
        note_read(thread, place, after);
    note_step(place, request, before, after, write);
    return before;
}

void quiet_prepare(struct place *place, uint64_t value)
{
    if (value_at(place->address, place->size) != value)
        place_is_written(place);
    if (is_tracked(place) && !write_is_ordered(place->plain, model.running))
        place_is_contended(place);
    memcpy(place->address, &value, place->size);
}
