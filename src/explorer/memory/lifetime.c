/* SPDX-License-Identifier: MIT */
#include "explorer/memory/lifetime.h"

#include "explorer/base/names.h"
#include "explorer/base/slots.h"
#include "explorer/base/verdict.h"
#include "explorer/base/variables.h"
#include "explorer/memory/locations.h"
#include "explorer/memory/messages.h"

static void expect_lock_exists(const void *address)
{
    if (model.lock_destroyed && is_of_the_lock(address))
        fail("touched late", "%s is accessed after the lock was destroyed",
             cell_name(address));
}

void lock_is_destroyed(void)
{
    const struct thread *self = &model.thread[model.running];
    uint16_t positions[MESSAGES];
    model.lock_destroyed = 1;
    for (uint16_t c = 0; c < known.cells; c++)
        if (is_of_the_lock(location_of_index(c)->address) && message_count(c) > 1 &&
            store_choices(self, c, positions) > 1)
            expect_lock_exists(location_of_index(c)->address);
}

/* A read of a waiter that was given back may be a hint; a write may not. No thread
 * may use an id that was never handed out: it was read from uninitialised memory. */
static void expect_slot_in_use(const void *address, bool writes)
{
    int pool;
    unsigned id;
    size_t offset;
    if (!slot_at(address, &pool, &id, &offset))
        return;
    const struct pool_state *state = &model.pool[pool];
    if (!id || id > state->carved || (writes && !state->taken[id - 1]))
        fail("not in use", "%s is accessed, but no thread has taken it",
             cell_name(address));
}

void expect_in_use(const void *address, bool writes)
{
    expect_lock_exists(address);
    expect_slot_in_use(address, writes);
}
