/* SPDX-License-Identifier: MIT */
#include "explorer/execution/pool.h"

#include "explorer/base/counterexample.h"
#include "explorer/base/names.h"
#include "explorer/base/slots.h"
#include "explorer/base/verdict.h"
#include "explorer/memory/locations.h"
#include "explorer/memory/messages.h"
#include "explorer/memory/ordered_cells.h"

#include "barriers/barrier.h"
#include "delegation/call.h"
#include "locks/memory/side_memory.h"
#include "locks/waiting/waiter.h"
#include "rwlocks/read_holds.h"

enum { FREE, TAKEN, KEPT }; /* of pool_state.taken */

static struct pool *const pools[POOLS] = {[WAITER_POOL] = &waiter_pool,
                                          [SIDE_POOL] = &side_pool,
                                          [HOLDS_POOL] = &read_holds_pool,
                                          [BARRIER_POOL] = &barrier_pool,
                                          [CALL_POOL] = &call_pool};

static unsigned index_of(const struct pool *pool)
{
    unsigned index = 0;
    while (pools[index] != pool)
        index++;
    return index;
}

/* Returns whether locks keep ids in this word of a slot. */
static bool holds_id(unsigned pool, unsigned word)
{
    enum { LINK = 12, KEY }; /* in struct gcr */
    enum { NEXT = 1 };       /* in struct call */
    return pool == WAITER_POOL || (pool == CALL_POOL && word == NEXT) ||
           (pool == SIDE_POOL &&
            (word < 2 || word == SIDE_BLOCKS_MAX || word == SIDE_FLAG || word == LINK ||
             word == KEY));
}

void pools_prepare(void)
{
    /* The contents of a slot are undefined when it is taken. Here its id words hold
     * one that is never handed out. Read holds and blocks of barriers are zero. */
    for (unsigned pool = 0; pool < POOLS; pool++) {
        pools[pool]->chunks[0] = slots[pool];
        for (uint32_t i = 0; i <= SLOTS; i++) {
            uint32_t *words = (uint32_t *)(void *)&slots[pool][i];
            for (unsigned word = 0; word < SIDE_BLOCK_WORDS; word++)
                if (holds_id(pool, word))
                    words[word] = SLOTS;
            slots[pool][i].link = (struct pool_link){.id = i};
        }
    }
    for (uint32_t i = 0; i <= SLOTS; i++) {
        /* These persist from one use to the next. */
        waiter_at(i)->epoch = 0;
        waiter_at(i)->condition_spins = 1;
        waiter_at(i)->holds.raw = 0;
    }
}

static uint16_t order_cell(struct pool_slot *slot)
{
    struct location *location =
        location_of_cell(&slot->link.free_next.raw, sizeof slot->link.free_next.raw);
    location_note_race(location);
    if (is_ordered_cell(location))
        fail("restart", "a cell became contended");
    return location->cell;
}

static void initialise(int thread, struct location *location, uint64_t value)
{
    if (is_ordered_cell(location))
        ordered_initialise(location, value);
    else
        memory_initialise(&model.thread[thread], location->cell, value);
}

/* The work of side_block_take() and barrier_block_take(), in one step: no other thread
 * can reach the slot yet. The latter leaves the block's first word. */
static void zero_block(struct pool_slot *slot, int first, int thread)
{
    struct side_block *block = (struct side_block *)slot;
    for (int i = first; i < SIDE_BLOCK_WORDS; i++)
        initialise(thread, location_of_cell(&block->words[i].raw, sizeof(uint32_t)), 0);
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
    if (pool == &side_pool || pool == &barrier_pool)
        zero_block(&slots[index_of(pool)][id], pool == &barrier_pool ? 1 : 0, thread);
    state->home[id - 1] = (uint8_t)thread;
    state->taken[id - 1] = TAKEN;
    return &slots[index_of(pool)][id];
}

struct pool_slot *pool_take(struct pool *pool)
{
    int thread = model.running;
    struct pool_slot *slot = slot_for(pool, thread);
    if (!slot)
        fail("pool exhausted",
             "more than %d slots are in use; probably there is a leak", SLOTS - 1);
    model.thread[thread].iteration.idle = 0;
    uint16_t cell = order_cell(slot);
    memory_load(&model.thread[thread], cell, message_count(cell) - 1, CHECKED_ACQUIRE);
    counterexample_add(&(struct counterexample_step){
        .thread = thread, .operation = OP_TAKE, .address = slot});
    return slot;
}

struct pool_slot *pool_take_ahead(struct pool *pool, uint32_t ahead)
{
    (void)ahead;
    return pool_take(pool);
}

/* No lock takes several slots at once here (side_array_take). */
struct pool_slot *pool_carve(struct pool *pool, uint32_t count)
{
    (void)count;
    return pool_take(pool);
}

/* The thread that gives a slot back must have seen all stores that others made to it.
 * Otherwise the next user's store could be overwritten by one of them. (Stores of hints
 * are exempt.) */
static void expect_settled(struct pool *pool, struct pool_slot *slot)
{
    const struct thread *self = &model.thread[model.running];
    uint16_t positions[MESSAGES];
    unsigned words =
        pool == &side_pool || pool == &barrier_pool
            ? SIDE_BLOCK_WORDS
        : pool == &call_pool ? offsetof(struct call, asleep) / 4
                             : offsetof(struct waiter, asleep) / 4;
    for (unsigned i = 0; i < words; i++) {
        struct atomic_u32 *word = &((struct side_block *)slot)->words[i];
        const struct location *location =
            location_of_cell(&word->raw, sizeof word->raw);
        if (!is_ordered_cell(location) && message_count(location->cell) > 1 &&
            store_choices(self, location->cell, positions) > 1)
            fail("given back early",
                 "another thread's store to %s may still take effect", cell_name(word));
    }
}

void pool_give(struct pool *pool, struct pool_slot *slot)
{
    int thread = model.running;
    struct pool_state *state = &model.pool[index_of(pool)];
    uint32_t id = slot->link.id;
    counterexample_add(&(struct counterexample_step){
        .thread = thread, .operation = OP_GIVE, .address = slot});
    if (!id || id > state->carved || !state->taken[id - 1])
        fail("given back twice", "%s is already in the pool", cell_name(slot));
    expect_settled(pool, slot);
    unsigned home = state->home[id - 1];
    state->taken[id - 1] = FREE;
    state->free[home][state->free_count[home]++] = (uint8_t)id;
    model.thread[thread].iteration.idle = 0;
    uint16_t cell = order_cell(slot);
    memory_store(&model.thread[thread], cell, message_count(cell), 0, CHECKED_RELEASE);
}

void pool_give_here(struct pool *pool, struct pool_slot *slot)
{
    model.pool[index_of(pool)].home[slot->link.id - 1] = (uint8_t)model.running;
    pool_give(pool, slot);
}

void pool_keep(struct pool *pool, struct pool_slot *slot)
{
    model.pool[index_of(pool)].taken[slot->link.id - 1] = KEPT;
}

uint32_t pool_size(const struct pool *pool)
{
    return model.pool[index_of(pool)].carved;
}

struct pool_slot *pool_find(const struct pool *pool, uint32_t id)
{
    return &slots[index_of(pool)][id];
}

unsigned pool_taken(void)
{
    unsigned taken = 0;
    for (int pool = 0; pool < POOLS; pool++)
        for (int i = 0; i < model.pool[pool].carved; i++)
            taken += model.pool[pool].taken[i] == TAKEN && pool != HOLDS_POOL;
    return taken;
}
