/* SPDX-License-Identifier: MIT */
/*
 * A small pool in the place of src/locks/memory/pool.c, which would multiply the states
 * of every lock (a client of its own checks that one). Each thread finds its last slots
 * again, as there; what happened before a give happens before the take.
 */
#include "locks/list/descriptor.h"
#include "locks/memory/side_memory.h"

#include "explorer/clients.h"
#include "explorer/model.h"
#include "explorer/trail.h"

#include <string.h>

enum { FREE, TAKEN, KEPT }; /* of pool_state.taken */

static struct pool_slot slots[POOLS][SLOTS + 1];

static unsigned index_of(const struct pool *pool)
{
    return pool == &side_pool;
}

void pools_prepare(void)
{
    waiter_pool.chunks[0] = slots[index_of(&waiter_pool)];
    side_pool.chunks[0] = slots[index_of(&side_pool)];
    /* What a slot holds when it is taken is undefined: the id of none that is. (In
     * parts it is enough where locks keep ids, and the others cost nothing.) */
    enum { LINK = 12, KEY }; /* in struct gcr */
    for (unsigned pool = 0; pool < POOLS; pool++)
        for (uint32_t i = 0; i <= SLOTS; i++) {
            uint32_t *words = (uint32_t *)(void *)&slots[pool][i];
            for (unsigned word = 0; word < SIDE_BLOCK_WORDS; word++)
                if (pool == index_of(&waiter_pool) || word < 2 ||
                    word == SIDE_BLOCKS_MAX || word == SIDE_FLAG || word == LINK ||
                    word == KEY)
                    words[word] = SLOTS;
            slots[pool][i].link = (struct pool_link){.id = i};
        }
    for (uint32_t i = 0; i <= SLOTS; i++)
        waiter_at(i)->epoch = 0; /* this one lasts */
}

static uint16_t order_cell(struct pool_slot *slot)
{
    struct place *place =
        place_of_cell(&slot->link.free_next.raw, sizeof slot->link.free_next.raw);
    place_is_contended(place);
    if (is_quiet(place))
        fail("again", "with what was learnt");
    return place->cell;
}

/* What side_block_take() does, but in one step: nobody else can tell yet. */
static void zero_part(struct pool_slot *slot, int thread)
{
    struct side_block *part = (struct side_block *)slot;
    for (int i = 0; i < SIDE_BLOCK_WORDS; i++)
        memory_prepare(&model.thread[thread],
                       place_of_cell(&part->words[i].raw, sizeof(uint32_t)), 0);
}

static struct pool_slot *slot_for(struct pool *pool, int thread)
{
    struct pool_state *state = &model.pool[index_of(pool)];
    unsigned id;
    if (state->free_count[thread])
        id = state->free[thread][--state->free_count[thread]];
    else if (state->carved < SLOTS - 1)
        id = ++state->carved;
    else
        return NULL;
    if (pool == &side_pool)
        zero_part(&slots[1][id], thread);
    state->home[id - 1] = (uint8_t)thread;
    state->taken[id - 1] = TAKEN;
    return &slots[index_of(pool)][id];
}

struct pool_slot *pool_take(struct pool *pool)
{
    int thread = model.running;
    struct pool_slot *slot = slot_for(pool, thread);
    if (!slot)
        fail("pool exhausted", "more than %d slots in use: a leak?", SLOTS - 1);
    model.thread[thread].turn.idle = 0;
    uint16_t cell = order_cell(slot);
    memory_load(&model.thread[thread], cell, message_count(cell) - 1, CHECKED_ACQUIRE);
    trail_add(
        &(struct trail_step){.thread = thread, .operation = OP_TAKE, .address = slot});
    return slot;
}

/* Who gives a slot back must have seen what others stored there, or the next user's
 * store may come before one of theirs. Hints may come late. */
static void expect_settled(struct pool *pool, struct pool_slot *slot)
{
    const struct thread *self = &model.thread[model.running];
    uint16_t places[MESSAGES];
    unsigned words =
        pool == &side_pool ? SIDE_BLOCK_WORDS : offsetof(struct waiter, asleep) / 4;
    for (unsigned i = 0; i < words; i++) {
        struct atomic_u32 *word = &((struct side_block *)slot)->words[i];
        const struct place *place = place_of_cell(&word->raw, sizeof word->raw);
        if (!is_quiet(place) && message_count(place->cell) > 1 &&
            store_choices(self, place->cell, places) > 1)
            fail("given back early", "%s may still change", cell_name(word));
    }
}

void pool_give(struct pool *pool, struct pool_slot *slot)
{
    int thread = model.running;
    struct pool_state *state = &model.pool[index_of(pool)];
    uint32_t id = slot->link.id;
    trail_add(
        &(struct trail_step){.thread = thread, .operation = OP_GIVE, .address = slot});
    if (!id || id > state->carved || !state->taken[id - 1])
        fail("given back twice", "%s is in the pool already", cell_name(slot));
    expect_settled(pool, slot);
    unsigned home = state->home[id - 1];
    state->taken[id - 1] = FREE;
    state->free[home][state->free_count[home]++] = (uint8_t)id;
    model.thread[thread].turn.idle = 0;
    uint16_t cell = order_cell(slot);
    memory_store(&model.thread[thread], cell, message_count(cell), 0, CHECKED_RELEASE);
}

void pool_keep(struct pool *pool, struct pool_slot *slot)
{
    model.pool[index_of(pool)].taken[slot->link.id - 1] = KEPT;
}

unsigned pool_taken(void)
{
    unsigned taken = 0;
    for (int pool = 0; pool < POOLS; pool++)
        for (int i = 0; i < model.pool[pool].carved; i++)
            taken += model.pool[pool].taken[i] == TAKEN;
    return taken;
}

/* A look at a waiter that was given back may be a hint, a store there is none; and an
 * id that nobody was given comes from memory that nobody prepared. */
void pool_expect_use(const void *address, bool writes)
{
    int pool;
    unsigned id;
    size_t offset;
    if (!slot_at(address, &pool, &id, &offset))
        return;
    const struct pool_state *state = &model.pool[pool];
    if (!id || id > state->carved || (writes && !state->taken[id - 1]))
        fail("not in use", "%s, which nobody has taken", cell_name(address));
}

/* For names. */
bool slot_at(const void *address, int *pool, unsigned *id, size_t *offset)
{
    const char *at = address;
    for (*pool = 0; *pool < POOLS; (*pool)++) {
        const char *from = (const char *)slots[*pool];
        if (at >= from && at < from + sizeof slots[*pool]) {
            *id = (unsigned)((size_t)(at - from) / sizeof slots[0][0]);
            *offset = (size_t)(at - from) % sizeof slots[0][0];
            return true;
        }
    }
    return false;
}
