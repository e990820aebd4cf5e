/* SPDX-License-Identifier: MIT */
#include "structures/transaction/create.h"

#include "structures/transaction/attempt.h"
#include "structures/transaction/blocks.h"
#include "structures/transaction/services.h"

#include "delegation/list/descriptor.h"

static bool is_power_of_two(uint64_t number)
{
    return number && !(number & (number - 1));
}

static int set_lock(struct tx_memory *memory, const char *name)
{
    int index = name ? lock_find(name) : (int)lock_default;
    if (index <= 0) /* 0 is glibc's */
        return TX_UNKNOWN_LOCK;
    memory->operations = lock_at((unsigned)index).operations;
    return TX_OK;
}

static int prepare_services(struct tx_memory *memory,
                            const struct tx_memory_options *options)
{
    const struct lock_operations *lock;
    int manager = services_find_manager(options->manager);
    if (manager < 0 || options->servers > SERVERS_MOST)
        return TX_BAD_OPTIONS;
    return services_prepare(memory, options->servers, (enum tx_manager)manager,
                            options->eager, (unsigned)executor_find("ffwd", &lock));
}

int tx_memory_prepare(struct tx_memory *memory, const struct tx_memory_options *options,
                      const struct tx_allocator *allocator, struct epochs *epochs)
{
    uint64_t stripes = options->stripes ? options->stripes : TX_STRIPES;
    uint32_t bytes = options->stripe_bytes ? options->stripe_bytes : TX_STRIPE_BYTES;
    if (!is_power_of_two(stripes) || stripes > TX_STRIPES_MOST ||
        !is_power_of_two(bytes) || bytes < sizeof(uint64_t) ||
        bytes > TX_STRIPE_BYTES_MOST ||
        (!options->servers && (options->manager || options->eager)))
        return TX_BAD_OPTIONS;
    memory->stripes = stripes;
    while ((uint32_t)1 << memory->shift < bytes)
        memory->shift++;
    memory->attempts_most = options->attempts ? options->attempts : TX_ATTEMPTS;
    memory->epochs = epochs;
    memory->allocator = *allocator;
    int result = set_lock(memory, options->lock);
    if (result != TX_OK)
        return result;
    if (options->servers)
        return prepare_services(memory, options);
    memory->locks = (struct atomic_u64 *)tx_take(memory, stripes * sizeof(uint64_t));
    return memory->locks ? TX_OK : TX_NO_MEMORY;
}

void tx_memory_finish(struct tx_memory *memory)
{
    services_finish(memory);
    blocks_collect_unused(memory);
    memory->operations.destroy(&memory->alone);
    tx_give(memory, memory->locks, memory->stripes * sizeof(uint64_t));
}

static size_t index_bytes(const struct transaction *tx)
{
    return sizeof(uint64_t) << tx->index_bits;
}

int tx_prepare(struct transaction *tx, struct tx_memory *memory, uint32_t reads,
               uint32_t writes)
{
    tx->memory = memory;
    tx->locks = memory->locks;
    tx->mask = memory->stripes - 1;
    tx->shift = memory->shift;
    tx->state = TX_OUTSIDE;
    tx->generation = 1;
    tx->random = (uint32_t)((uintptr_t)tx >> 6) | 1;
    tx->reads_most = reads ? reads : TX_READS;
    tx->writes_most = writes ? writes : TX_WRITES;
    if (tx->reads_most > TX_SET_MOST || tx->writes_most > TX_SET_MOST)
        return TX_BAD_OPTIONS;
    while ((uint64_t)1 << tx->index_bits < 2 * (uint64_t)tx->writes_most)
        tx->index_bits++;
    tx->reads = (const struct atomic_u64 **)tx_take(memory,
                                                 tx->reads_most * sizeof *tx->reads);
    tx->writes =
        (struct tx_write *)tx_take(memory, tx->writes_most * sizeof *tx->writes);
    tx->freed = (void **)tx_take(memory, tx->writes_most * sizeof *tx->freed);
    tx->index = (uint64_t *)tx_take(memory, index_bytes(tx));
    int result = TX_NO_MEMORY;
    if (tx->reads && tx->writes && tx->freed && tx->index)
        result = memory->services ? services_join(tx) : TX_OK;
    if (result != TX_OK)
        tx_finish(tx);
    return result;
}

void tx_finish(struct transaction *tx)
{
    struct tx_memory *memory = tx->memory;
    tx_abort(tx);
    services_part(tx);
    tx_give(memory, tx->reads, tx->reads_most * sizeof *tx->reads);
    tx_give(memory, tx->writes, tx->writes_most * sizeof *tx->writes);
    tx_give(memory, tx->freed, tx->writes_most * sizeof *tx->freed);
    tx_give(memory, tx->index, index_bytes(tx));
}
