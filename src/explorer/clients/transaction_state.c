/* SPDX-License-Identifier: MIT */
#include "explorer/clients/transaction_state.h"

#include "explorer/clients/clients.h"

#include <string.h>

struct atomic_u64 tx_words[WORDS] __attribute__((aligned(WORDS * sizeof(uint64_t))));
struct tx_memory tx_memory;
struct epochs_record tx_records[THREADS];
struct client_transaction transactions[THREADS];
uint32_t contents[WORDS];
struct node_block tx_nodes[2];
static struct atomic_u64 locks[WORDS];
static struct epochs epochs;

const unsigned transaction_variants = 2;

int transaction_variant_find(const char *name)
{
    return strcmp(name, "transaction") == 0 ? 1 : -1;
}

void give_node(void *context, void *block, size_t bytes)
{
    (void)context, (void)bytes;
    contents[((struct node_block *)block)->word] = POISON;
}

struct lock_descriptor transaction_client_uses(void)
{
    static const struct lock_descriptor about = {.name = "transaction"};
    tx_memory.locks = locks;
    tx_memory.stripes = WORDS;
    tx_memory.shift = WORD_SHIFT;
    tx_memory.attempts_most = 2;
    tx_memory.epochs = &epochs;
    tx_memory.allocator.release = give_node;
    tx_memory.operations = lock_at((unsigned)lock_find("ttas")).operations;
    epochs.now.raw = 1;
    for (unsigned i = 0; i < THREADS; i++) {
        struct client_transaction *own = &transactions[i];
        tx_records[i].next = i ? &tx_records[i - 1] : NULL;
        own->tx = (struct transaction){.memory = &tx_memory,
                                       .locks = locks,
                                       .mask = WORDS - 1,
                                       .shift = WORD_SHIFT,
                                       .state = TX_OUTSIDE,
                                       .generation = 1,
                                       .random = 1,
                                       .reads = own->reads,
                                       .reads_most = SET,
                                       .writes = own->writes,
                                       .writes_most = SET,
                                       .freed = own->freed,
                                       .index = own->index,
                                       .index_bits = INDEX_BITS};
    }
    epochs.records.raw = (uint64_t)(uintptr_t)&tx_records[THREADS - 1];
    for (unsigned i = 0; i < 2; i++) {
        tx_nodes[i].header.bytes = sizeof tx_nodes[i];
        tx_nodes[i].word = NODE + i;
    }
    tx_words[POINTER].raw = (uint64_t)(uintptr_t)&tx_nodes[0].word;
    return about;
}
