/* SPDX-License-Identifier: MIT */
#include "explorer/clients/transaction_state.h"

#include "explorer/clients/clients.h"

#include "delegation/list/descriptor.h"
#include "structures/transaction/services.h"

#include <string.h>

struct atomic_u64 tx_words[WORDS] __attribute__((aligned(WORDS * sizeof(uint64_t))));
struct tx_memory tx_memory;
struct epochs_record tx_records[THREADS];
struct client_transaction transactions[THREADS];
uint32_t contents[WORDS];
struct node_block tx_nodes[2];
static struct atomic_u64 locks[WORDS];
static struct epochs epochs;

/* The ways in which transactions meet. */
static const struct variant {
    const char *name;
    uint32_t services; /* 0: in shared memory */
    bool eager;
} variants[] = {
    {"", 0, false},
    {"transaction", 0, false},
    {"messages", 2, false},
    {"messages-eager", 2, true},
};
const unsigned transaction_variants = sizeof variants / sizeof variants[0];

enum { GRANTS = 8, SERVICES = 2 };
static uint32_t granted[SERVICES][TX_CLIENTS][GRANTS];
static struct tx_stripe stripes[SERVICES][WORDS];
static union {
    struct tx_services services;
    char bytes[sizeof(struct tx_services) + SERVICES * sizeof(struct tx_service)];
} over_messages;

/* A service's sections are executed under a lock here: the messages of executors are
 * checked by clients of their own. */
static void use_services(const struct variant *variant)
{
    struct tx_services *services = &over_messages.services;
    memset((void *)&over_messages, 0, sizeof over_messages);
    tx_memory.services = services;
    services->memory = &tx_memory;
    services->count = variant->services;
    services->eager = variant->eager;
    services->manager = MANAGE_GREEDY;
    services->open.raw = ~UINT64_C(1); /* one number is left for services_join() */
    for (unsigned i = 0; i < SERVICES; i++) {
        delegate_init(&services->all[i].delegate, 0, &tx_memory.operations);
        services->all[i].stripes = stripes[i];
        for (unsigned client = 0; client < TX_CLIENTS; client++) {
            services->all[i].grants[client].stripes = granted[i][client];
            services->all[i].grants[client].room = GRANTS;
        }
    }
    for (unsigned i = 0; i < THREADS && i < TX_CLIENTS; i++) {
        struct transaction *tx = &transactions[i].tx;
        struct tx_client *client = &services->clients[i];
        client->services = services;
        client->number = i;
        client->tx = tx;
        tx->client = client;
        tx->eager = variant->eager;
        tx->filter = tx->filter_empty = UINT64_MAX;
    }
}

bool meets_in_memory(const struct lock_descriptor *about)
{
    return strcmp(about->name, "transaction") == 0;
}

bool meets_by_messages(const struct lock_descriptor *about)
{
    return !meets_in_memory(about);
}

int transaction_variant_find(const char *name)
{
    for (unsigned i = 1; i < transaction_variants; i++)
        if (strcmp(name, variants[i].name) == 0)
            return (int)i;
    return -1;
}

void give_node(void *context, void *block, size_t bytes)
{
    (void)context, (void)bytes;
    contents[((struct node_block *)block)->word] = POISON;
}

struct lock_descriptor transaction_client_uses(unsigned variant)
{
    const struct lock_descriptor about = {.name = variants[variant].name};
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
    tx_memory.services = NULL;
    if (variants[variant].services)
        use_services(&variants[variant]);
    tx_words[POINTER].raw = (uint64_t)(uintptr_t)&tx_nodes[0].word;
    return about;
}
