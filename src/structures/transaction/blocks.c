/* SPDX-License-Identifier: MIT */
#include "structures/transaction/blocks.h"

enum { PRESSURE_MOST = 256, ROUNDS = 8 };

static struct tx_block *block_of(void *bytes)
{
    return (struct tx_block *)bytes - 1;
}

void *block_allocate(struct tx_memory *memory, size_t bytes)
{
    if (bytes > SIZE_MAX - sizeof(struct tx_block))
        return NULL;
    size_t whole = bytes + sizeof(struct tx_block);
    void *made = tx_take(memory, whole);
    if (!made)
        return NULL;
    struct tx_block *block = (struct tx_block *)made;
    block->bytes = whole;
    return block + 1;
}

static void give(struct tx_memory *memory, struct tx_block *block)
{
    tx_give(memory, block, block->bytes);
}

void block_release(struct tx_memory *memory, void *bytes)
{
    if (bytes)
        give(memory, block_of(bytes));
}

int tx_allocate(struct transaction *tx, size_t bytes, void **made)
{
    if (tx->state != TX_OK)
        return tx->state;
    void *fresh = block_allocate(tx->memory, bytes);
    if (!fresh)
        return tx_fail(tx, TX_NO_MEMORY, &tx->counts.no_memory);
    struct tx_block *block = block_of(fresh);
    block->next = tx->taken;
    tx->taken = block;
    *made = fresh;
    return TX_OK;
}

int tx_free(struct transaction *tx, void *bytes)
{
    if (tx->state != TX_OK || !bytes)
        return tx->state;
    if (tx->freed_count == tx->writes_most)
        return tx_fail(tx, TX_TOO_LARGE, &tx->counts.too_large);
    tx->freed[tx->freed_count++] = bytes;
    return TX_OK;
}

static void give_all(struct tx_memory *memory, struct retired *item)
{
    while (item) {
        struct retired *next = item->next;
        give(memory, (struct tx_block *)(void *)item); /* its first member */
        item = next;
    }
}

void blocks_retire(struct transaction *tx)
{
    struct tx_memory *memory = tx->memory;
    struct retired_list *list = &memory->lists[tx->record->number % TX_LISTS];
    tx->taken = NULL;
    for (uint32_t i = 0; i < tx->freed_count; i++) {
        struct tx_block *block = block_of(tx->freed[i]);
        block->retired.tag = RETIRED_BLOCK;
        retired_push(list, &block->retired);
    }
    tx->pressure += tx->freed_count;
    if (unlikely(tx->pressure >= PRESSURE_MOST)) {
        tx->pressure = 0;
        give_all(memory, retired_collect(list, memory->epochs));
    }
}

void blocks_give_back(struct transaction *tx)
{
    while (tx->taken) {
        struct tx_block *block = tx->taken;
        tx->taken = block->next;
        give(tx->memory, block);
    }
}

bool blocks_collect(struct tx_memory *memory)
{
    bool left = true;
    for (int round = 0; round < ROUNDS && left; round++) {
        left = false;
        for (int i = 0; i < TX_LISTS; i++) {
            give_all(memory, retired_collect(&memory->lists[i], memory->epochs));
            left |= load_relaxed(&memory->lists[i].head) != 0;
        }
    }
    return !left;
}

void blocks_collect_unused(struct tx_memory *memory)
{
    for (int i = 0; i < TX_LISTS; i++)
        give_all(memory, retired_take(&memory->lists[i]));
}
