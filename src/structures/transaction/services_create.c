/* SPDX-License-Identifier: MIT */
#include "structures/transaction/services.h"

#include "delegation/list/descriptor.h"

#include <string.h>

static const char *const managers[] = {"fair", "greedy", "wholly", "backoff", "none"};

int services_find_manager(const char *name)
{
    if (!name)
        return MANAGE_FAIR;
    for (int i = MANAGE_FAIR; i <= MANAGE_NONE; i++)
        if (strcmp(managers[i], name) == 0)
            return i;
    return -1;
}

static size_t bytes_for(uint32_t count)
{
    return CACHE_LINE + sizeof(struct tx_services) + count * sizeof(struct tx_service);
}

/* Returns the bytes of the stripes of one service. */
static size_t stripes_bytes(const struct tx_memory *memory, uint32_t count)
{
    return (memory->stripes / count + 1) * sizeof(struct tx_stripe);
}

static bool start(struct tx_services *services, uint32_t number, unsigned executor)
{
    struct tx_memory *memory = services->memory;
    struct tx_service *service = &services->all[number];
    if (!delegate_init_at(&service->delegate, executor, &memory->operations, number))
        return false;
    services->count = number + 1;
    return true;
}

int services_prepare(struct tx_memory *memory, uint32_t count, enum tx_manager manager,
                     bool eager, unsigned executor)
{
    memory->services_block = tx_take(memory, bytes_for(count));
    memory->services_most = count;
    if (!memory->services_block)
        return TX_NO_MEMORY;
    uintptr_t aligned = ((uintptr_t)memory->services_block + CACHE_LINE - 1) &
                        ~(uintptr_t)(CACHE_LINE - 1);
    struct tx_services *services = (struct tx_services *)aligned;
    memory->services = services;
    services->memory = memory;
    services->manager = manager;
    services->eager = eager;
    for (uint32_t i = 0; i < count; i++) {
        services->all[i].stripes =
            (struct tx_stripe *)tx_take(memory, stripes_bytes(memory, count));
        if (!services->all[i].stripes || !start(services, i, executor)) {
            services_finish(memory);
            return TX_NO_MEMORY;
        }
    }
    return TX_OK;
}

static void give_tables(struct tx_memory *memory, struct tx_service *service)
{
    tx_give(memory, service->stripes, stripes_bytes(memory, memory->services_most));
    for (uint32_t i = 0; i < TX_CLIENTS; i++)
        tx_give(memory, service->grants[i].stripes,
                service->grants[i].room * sizeof(uint32_t));
}

void services_finish(struct tx_memory *memory)
{
    struct tx_services *services = memory->services;
    if (!services)
        return;
    for (uint32_t i = 0; i < services->count; i++) {
        struct delegate *delegate = &services->all[i].delegate;
        executor_operations_of(delegate)->destroy(delegate);
    }
    for (uint32_t i = 0; i < memory->services_most; i++)
        give_tables(memory, &services->all[i]);
    tx_give(memory, memory->services_block, bytes_for(memory->services_most));
    memory->services = NULL;
}
