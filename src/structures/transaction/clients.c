/* SPDX-License-Identifier: MIT */
/* The side of the transactions: they send messages to services. */
#include "structures/transaction/services.h"

#include "delegation/list/descriptor.h"
#include "structures/turn.h"
#include "structures/transaction/writes.h"

enum { LOADS_SEEN = 64 }; /* whose accesses the next transaction repeats */

unsigned services_ask(struct tx_services *services, uint64_t service,
                      void *(*section)(void *), void *context)
{
    struct delegate *delegate = &services->all[service].delegate;
    void *answer = executor_operations_of(delegate)->run(delegate, section, context);
    return (unsigned)(uintptr_t)answer;
}

int services_join(struct transaction *tx)
{
    struct tx_services *services = tx->memory->services;
    uint64_t open = load_relaxed(&services->open), lowest;
    do {
        lowest = ~open & (open + 1);
        if (!lowest || lowest >> (TX_CLIENTS - 1) > 1)
            return TX_TOO_MANY;
    } while (!compare_exchange_acquire(&services->open, &open, open | lowest));
    const uint32_t number = (uint32_t)__builtin_ctzll(lowest);
    struct tx_client *client = &services->clients[number];
    client->services = services;
    client->number = number;
    client->tx = tx;
    client->effective = 0;
    client->stored = 0;
    client->wanted_count = 0;
    tx->client = client;
    tx->eager = services->eager;
    tx->filter = tx->filter_empty = UINT64_MAX; /* each load comes to services_load() */
    return TX_OK;
}

void services_part(struct transaction *tx)
{
    if (tx->client)
        fetch_and_release(&tx->client->services->open,
                          ~((uint64_t)1 << tx->client->number));
    tx->client = NULL;
}

static uint64_t priority_of(struct transaction *tx, struct tx_client *client)
{
    if (tx->alone)
        return 0;
    switch (client->services->manager) {
    case MANAGE_FAIR:
        return 1 + client->effective;
    case MANAGE_GREEDY:
        if (!tx->attempts)
            client->arrived = 1 + fetch_add_relaxed(&client->services->arrivals, 1);
        return client->arrived;
    case MANAGE_WHOLLY:
        return 1 + tx->counts.committed;
    case MANAGE_BACKOFF:
    case MANAGE_NONE:
        break;
    }
    return 1;
}

void services_begin(struct transaction *tx)
{
    struct tx_client *client = tx->client;
    if (client->services->manager == MANAGE_FAIR)
        client->began = ticks();
    client->attempt = status_attempt(load_relaxed(&client->status)) + 1;
    store_relaxed(&client->priority, priority_of(tx, client));
    store_release(&client->status, client->attempt << TX_ATTEMPT_SHIFT | TX_RUNNING);
}

void services_end(struct transaction *tx)
{
    struct tx_client *client = tx->client;
    store_release(&client->status, client->attempt << TX_ATTEMPT_SHIFT | TX_ENDED);
}

static int fail(struct transaction *tx, unsigned answer)
{
    struct tx_counts *counts = &tx->counts;
    uint64_t *const causes[] = {&counts->read_after_write, &counts->write_after_read,
                                &counts->write_after_write};
    if (answer == ANSWER_NO_MEMORY)
        return tx_fail(tx, TX_NO_MEMORY, &counts->no_memory);
    return tx_fail(tx, TX_AGAIN, causes[answer - ANSWER_LOST]);
}

/* Fails if a service has aborted the transaction. The load is relaxed: whoever has
 * acquired a value that was committed after the abort also finds the abort (M4), and
 * nothing else is read because of it. */
static int check(struct transaction *tx)
{
    uint64_t status = load_relaxed(&tx->client->status);
    if (likely(status_state(status) != TX_ABORTED))
        return TX_OK;
    return fail(tx, ANSWER_LOST + status_cause(status));
}

/* Waits while the other client's transaction is committing. Fails as check(). */
static int await_commit(struct transaction *tx, uint32_t other)
{
    const struct atomic_u64 *status = &tx->client->services->clients[other].status;
    uint32_t turns = 0;
    int result;
    while ((result = check(tx)) == TX_OK &&
           status_state(load_relaxed(status)) == TX_COMMITTING)
        wait_a_turn(&turns);
    return result;
}

/* Asks the service, again as long as a transaction is in the way. */
static int ask(struct transaction *tx, uint64_t service, void *(*section)(void *))
{
    struct tx_client *client = tx->client;
    for (;;) {
        unsigned answer = services_ask(client->services, service, section, client);
        if (likely(answer == ANSWER_GRANTED))
            return TX_OK;
        if (answer < ANSWER_BUSY)
            return fail(tx, answer);
        int result = await_commit(tx, answer - ANSWER_BUSY);
        if (result != TX_OK)
            return result;
    }
}

/* Returns the note of a client that it has this stripe in this attempt. */
static uint64_t noted(const struct tx_client *client, uint64_t stripe,
                      enum tx_access access)
{
    return client->attempt << 30 | tx_wish(stripe, access);
}

static uint64_t *note_of(struct tx_client *client, uint64_t stripe)
{
    return &client->known[stripe % TX_KNOWN];
}

/* Returns whether the client remembers that it may do this. */
static bool is_known(struct tx_client *client, uint64_t stripe, enum tx_access access)
{
    uint64_t known = *note_of(client, stripe);
    return known == noted(client, stripe, access) ||
           known == noted(client, stripe, TX_WRITES_IT);
}

/* Gets the stripes of the request, all from one service. */
static int get_wanted(struct transaction *tx)
{
    struct tx_client *client = tx->client;
    if (!client->wanted_count)
        return TX_OK;
    uint64_t first = tx_wish_stripe(client->wanted[0]);
    int result = ask(tx, first % client->services->count, service_grant);
    for (uint32_t i = 0; i < client->wanted_count && result == TX_OK; i++) {
        uint64_t stripe = tx_wish_stripe(client->wanted[i]);
        *note_of(client, stripe) =
            noted(client, stripe, tx_wish_access(client->wanted[i]));
    }
    client->wanted_count = 0;
    return result;
}

static int get_stripe(struct transaction *tx, uint64_t stripe, enum tx_access access)
{
    struct tx_client *client = tx->client;
    if (is_known(client, stripe, access))
        return TX_OK;
    client->wanted[0] = tx_wish(stripe, access);
    client->wanted_count = 1;
    return get_wanted(tx);
}

/* How the transaction asks for the stripe of its next load. */
static enum tx_access access_of_load(const struct transaction *tx)
{
    return tx->read_count < LOADS_SEEN && tx->client->stored >> tx->read_count & 1
               ? TX_WRITES_IT
               : TX_READS_IT;
}

/* Notes which loads were of stripes that the transaction stores to. */
static void note_stored(struct transaction *tx)
{
    struct tx_client *client = tx->client;
    client->stored = 0;
    for (uint32_t i = 0; i < tx->read_count && i < LOADS_SEEN; i++) {
        uint64_t stripe = services_stripe(tx->memory, tx->reads[i]);
        bool stored = *note_of(client, stripe) == noted(client, stripe, TX_WRITES_IT);
        client->stored |= (uint64_t)stored << i;
    }
}

int services_load(struct transaction *tx, const struct atomic_u64 *word,
                  uint64_t *value)
{
    if (tx->read_count == tx->reads_most)
        return tx_fail(tx, TX_TOO_LARGE, &tx->counts.too_large);
    int result = get_stripe(tx, services_stripe(tx->memory, word), access_of_load(tx));
    if (result != TX_OK)
        return result;
    uint64_t found = load_acquire(word); /* M4 */
    result = check(tx);
    if (result != TX_OK)
        return result;
    tx->reads[tx->read_count++] = word;
    *value = found;
    return TX_OK;
}

int services_own(struct transaction *tx, const struct atomic_u64 *word)
{
    int result = get_stripe(tx, services_stripe(tx->memory, word), TX_WRITES_IT);
    return result == TX_OK ? check(tx) : result;
}

/* Gets what the transaction stores to from one service. */
static int get_written_from(struct transaction *tx, uint64_t service)
{
    struct tx_client *client = tx->client;
    int result = TX_OK;
    for (uint32_t i = 0; i < tx->write_count && result == TX_OK; i++) {
        uint64_t stripe = services_stripe(tx->memory, tx->writes[i].word);
        if (stripe % client->services->count != service ||
            is_known(client, stripe, TX_WRITES_IT))
            continue;
        client->wanted[client->wanted_count++] = tx_wish(stripe, TX_WRITES_IT);
        if (client->wanted_count == TX_WANTED)
            result = get_wanted(tx);
    }
    return result == TX_OK ? get_wanted(tx) : result;
}

/* Gets all stripes that the transaction stores to. */
static int get_written(struct transaction *tx)
{
    struct tx_client *client = tx->client;
    uint64_t asked = 0;
    int result = TX_OK;
    for (uint32_t i = 0; i < tx->write_count && result == TX_OK; i++) {
        uint64_t stripe = services_stripe(tx->memory, tx->writes[i].word);
        uint64_t service = stripe % client->services->count;
        if (asked >> service & 1 || is_known(client, stripe, TX_WRITES_IT))
            continue;
        asked |= (uint64_t)1 << service;
        result = get_written_from(tx, service);
    }
    return result;
}

/* Counts the time of the attempt, which commits. */
static int note_effective(struct tx_client *client)
{
    if (client->services->manager == MANAGE_FAIR)
        client->effective += ticks() - client->began;
    return TX_OK;
}

int services_commit(struct transaction *tx)
{
    struct tx_client *client = tx->client;
    if (!tx->write_count) {
        client->stored = 0;
        return check(tx) == TX_OK ? note_effective(client) : tx->state;
    }
    int result = client->services->eager ? TX_OK : get_written(tx);
    if (result != TX_OK)
        return result;
    uint64_t running = client->attempt << TX_ATTEMPT_SHIFT | TX_RUNNING;
    if (!compare_exchange_relaxed(&client->status, &running,
                                  client->attempt << TX_ATTEMPT_SHIFT |
                                      TX_COMMITTING)) /* M3, M5 */
        return fail(tx, ANSWER_LOST + status_cause(running));
    for (uint32_t i = 0; i < tx->write_count; i++)
        store_release(tx->writes[i].word, tx->writes[i].value); /* M4 */
    note_stored(tx);
    return note_effective(client);
}

void services_forget(struct transaction *tx, const struct atomic_u64 *word)
{
    struct tx_client *client = tx->client;
    uint64_t stripe = services_stripe(tx->memory, word);
    for (uint32_t i = 0; i < tx->read_count; i++)
        if (services_stripe(tx->memory, tx->reads[i]) == stripe)
            return;                       /* another word of the stripe */
    enum tx_access access = TX_WRITES_IT; /* of a load that asked as a writer */
    for (uint32_t i = 0; i < tx->write_count; i++)
        if (services_stripe(tx->memory, tx->writes[i].word) == stripe)
            access = TX_READS_IT;
    *note_of(client, stripe) = 0;
    client->wanted[0] = tx_wish(stripe, access);
    services_ask(client->services, stripe % client->services->count, service_forget,
                 client);
}

/* Returns whether the client's transaction commits, or runs alone. */
static bool is_in_the_way(const struct tx_client *client)
{
    unsigned state = status_state(load_relaxed(&client->status));
    return state == TX_COMMITTING ||
           (state == TX_RUNNING && !load_relaxed(&client->priority));
}

static void ask_directly(struct tx_direct *direct, void *(*section)(void *))
{
    struct tx_services *services = direct->services;
    for (;;) {
        unsigned answer =
            services_ask(services, direct->stripe % services->count, section, direct);
        if (likely(answer == ANSWER_GRANTED))
            return;
        uint32_t turns = 0;
        while (is_in_the_way(&services->clients[answer - ANSWER_BUSY]))
            wait_a_turn(&turns);
    }
}

uint64_t services_direct_load(struct tx_memory *memory, const struct atomic_u64 *word)
{
    struct tx_direct direct = {memory->services, (struct atomic_u64 *)(uintptr_t)word,
                               services_stripe(memory, word), 0};
    ask_directly(&direct, service_load);
    return direct.value;
}

void services_direct_store(struct tx_memory *memory, struct atomic_u64 *word,
                           uint64_t value)
{
    struct tx_direct direct = {memory->services, word, services_stripe(memory, word),
                               value};
    ask_directly(&direct, service_store);
}
