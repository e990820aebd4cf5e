/* SPDX-License-Identifier: MIT */
/* The sections of services (M1). */
#include "structures/transaction/services.h"

#include <string.h>

enum { GRANTS_FIRST = 64 };

static struct tx_service *service_of(struct tx_services *services, uint64_t stripe)
{
    return &services->all[stripe % services->count];
}

static struct tx_stripe *stripe_at(struct tx_services *services, uint64_t stripe)
{
    return &service_of(services, stripe)->stripes[stripe / services->count];
}

static uint64_t bit_of(uint32_t client)
{
    return (uint64_t)1 << client;
}

/* Takes back all that the service has granted to the client. */
static void take_back(struct tx_services *services, struct tx_service *service,
                      uint32_t client)
{
    struct tx_grants *grants = &service->grants[client];
    for (uint32_t i = 0; i < grants->count; i++) {
        struct tx_stripe *stripe = stripe_at(services, grants->stripes[i]);
        stripe->readers &= ~bit_of(client);
        if (stripe->writer == client + 1)
            stripe->writer = 0;
    }
    grants->count = 0;
}

static bool note(struct tx_services *services, struct tx_grants *grants,
                 uint64_t stripe)
{
    if (unlikely(grants->count == grants->room)) {
        uint32_t room = grants->room ? 2 * grants->room : GRANTS_FIRST;
        uint32_t *larger = (uint32_t *)tx_take(services->memory, room * sizeof *larger);
        if (!larger)
            return false;
        if (grants->stripes)
            memcpy(larger, grants->stripes, grants->count * sizeof *larger);
        tx_give(services->memory, grants->stripes, grants->room * sizeof *larger);
        grants->stripes = larger;
        grants->room = room;
    }
    grants->stripes[grants->count++] = (uint32_t)stripe;
    return true;
}

/* Returns the clients that exclude the access to the stripe, without `client` itself
 * (TX_CLIENTS: nobody). Stores the kind of the conflict. */
static uint64_t users_of(const struct tx_stripe *stripe, uint32_t client,
                         enum tx_access access, enum tx_conflict *conflict)
{
    uint64_t own = client < TX_CLIENTS ? bit_of(client) : 0, users = 0;
    uint64_t readers = access == TX_WRITES_IT ? stripe->readers & ~own : 0;
    if (stripe->writer)
        users = bit_of(stripe->writer - 1) & ~own;
    *conflict = access == TX_READS_IT ? READ_AFTER_WRITE
                : users               ? WRITE_AFTER_WRITE
                                      : WRITE_AFTER_READ;
    return users | readers;
}

/* Returns whether the client that asks, with this priority, wins against `other`. */
static bool wins(const struct tx_services *services, uint64_t priority, uint32_t client,
                 uint32_t other)
{
    uint64_t theirs = load_relaxed(&services->clients[other].priority);
    if (!priority || !theirs || services->manager >= MANAGE_BACKOFF)
        return !priority;
    return priority < theirs || (priority == theirs && client < other);
}

static enum tx_answer busy(uint32_t client)
{
    return (enum tx_answer)(ANSWER_BUSY + client);
}

/* Removes the users whose attempts have ended from the set. Returns busy() if one of
 * the others is committing, ANSWER_LOST if one of them wins, or ANSWER_GRANTED. */
static enum tx_answer judge(struct tx_services *services, struct tx_service *service,
                            uint64_t *users, uint64_t priority, uint32_t client)
{
    enum tx_answer answer = ANSWER_GRANTED;
    for (uint32_t other = 0; other < TX_CLIENTS && *users >> other; other++) {
        if (!(*users & bit_of(other)))
            continue;
        uint64_t status = load_acquire(&services->clients[other].status); /* M2 */
        unsigned state = status_state(status);
        if (status_attempt(status) != service->grants[other].attempt ||
            state == TX_ENDED || state == TX_ABORTED) {
            take_back(services, service, other);
            *users &= ~bit_of(other);
        } else if (state == TX_COMMITTING) {
            answer = busy(other);
        } else if (answer == ANSWER_GRANTED &&
                   !wins(services, priority, client, other)) {
            answer = ANSWER_LOST;
        }
    }
    return answer;
}

/* Aborts the users, which have lost. Returns ANSWER_GRANTED, or busy() if one of them
 * has begun to commit or has ended meanwhile: the failed exchange did not acquire its
 * commit. */
static enum tx_answer abort_all(struct tx_services *services,
                                struct tx_service *service, uint64_t users,
                                enum tx_conflict conflict)
{
    for (uint32_t other = 0; other < TX_CLIENTS && users >> other; other++) {
        if (!(users & bit_of(other)))
            continue;
        struct atomic_u64 *cell = &services->clients[other].status;
        uint64_t status = load_acquire(cell);
        uint64_t aborted = (status & ~(uint64_t)(TX_STATES - 1)) | (uint64_t)conflict
                                                                       << TX_STATE_BITS;
        if (status_attempt(status) == service->grants[other].attempt) {
            if (status_state(status) == TX_COMMITTING)
                return busy(other);
            if (status_state(status) == TX_RUNNING &&
                !compare_exchange_relaxed(cell, &status, aborted | TX_ABORTED)) /* M5 */
                return busy(other);
        }
        take_back(services, service, other);
    }
    return ANSWER_GRANTED;
}

/* Aborts the users that exclude the access, if the client wins against all of them. */
static enum tx_answer clear(struct tx_services *services, uint64_t stripe,
                            uint64_t priority, uint32_t client, enum tx_access access)
{
    struct tx_service *service = service_of(services, stripe);
    enum tx_conflict conflict;
    uint64_t users = users_of(stripe_at(services, stripe), client, access, &conflict);
    if (likely(!users))
        return ANSWER_GRANTED;
    enum tx_answer answer = judge(services, service, &users, priority, client);
    if (answer == ANSWER_LOST)
        return (enum tx_answer)(ANSWER_LOST + conflict);
    return answer == ANSWER_GRANTED ? abort_all(services, service, users, conflict)
                                    : answer;
}

static enum tx_answer grant_one(struct tx_client *client, uint64_t at,
                                enum tx_access access)
{
    struct tx_services *services = client->services;
    struct tx_service *service = service_of(services, at);
    struct tx_stripe *stripe = stripe_at(services, at);
    struct tx_grants *grants = &service->grants[client->number];
    const uint64_t own = bit_of(client->number);
    uint64_t status = load_relaxed(&client->status);
    if (grants->attempt != status_attempt(status)) {
        take_back(services, service, client->number);
        grants->attempt = status_attempt(status);
    }
    if (status_state(status) == TX_ABORTED)
        return (enum tx_answer)(ANSWER_LOST + status_cause(status));
    enum tx_answer answer =
        clear(services, at, load_relaxed(&client->priority), client->number, access);
    if (answer != ANSWER_GRANTED)
        return answer;
    if (!(stripe->readers & own) && stripe->writer != client->number + 1 &&
        !note(services, grants, at))
        return ANSWER_NO_MEMORY;
    if (access == TX_READS_IT)
        stripe->readers |= own;
    else
        stripe->writer = client->number + 1;
    return ANSWER_GRANTED;
}

static void *answered(enum tx_answer answer)
{
    return (void *)(uintptr_t)answer;
}

void *service_grant(void *context)
{
    struct tx_client *client = (struct tx_client *)context;
    enum tx_answer answer = ANSWER_GRANTED;
    for (uint32_t i = 0; i < client->wanted_count && answer == ANSWER_GRANTED; i++)
        answer = grant_one(client, tx_wish_stripe(client->wanted[i]),
                           tx_wish_access(client->wanted[i]));
    return answered(answer);
}

void *service_forget(void *context)
{
    struct tx_client *client = (struct tx_client *)context;
    uint64_t stripe = tx_wish_stripe(client->wanted[0]);
    struct tx_stripe *forgotten = stripe_at(client->services, stripe);
    forgotten->readers &= ~bit_of(client->number);
    if (tx_wish_access(client->wanted[0]) == TX_WRITES_IT &&
        forgotten->writer == client->number + 1)
        forgotten->writer = 0;
    return answered(ANSWER_GRANTED);
}

/* Loads the word before the writer's status: if the value is from a commit that has not
 * ended, the status shows that commit. */
void *service_load(void *context)
{
    struct tx_direct *direct = (struct tx_direct *)context;
    uint32_t writer = stripe_at(direct->services, direct->stripe)->writer;
    direct->value = load_acquire(direct->word);
    if (!writer)
        return answered(ANSWER_GRANTED);
    uint64_t status = load_acquire(&direct->services->clients[writer - 1].status);
    bool committing =
        status_state(status) == TX_COMMITTING &&
        status_attempt(status) ==
            service_of(direct->services, direct->stripe)->grants[writer - 1].attempt;
    return answered(committing ? busy(writer - 1) : ANSWER_GRANTED);
}

void *service_store(void *context)
{
    struct tx_direct *direct = (struct tx_direct *)context;
    struct tx_services *services = direct->services;
    struct tx_service *service = service_of(services, direct->stripe);
    enum tx_conflict conflict;
    uint64_t users = users_of(stripe_at(services, direct->stripe), TX_CLIENTS,
                              TX_WRITES_IT, &conflict);
    enum tx_answer answer = judge(services, service, &users, 1, 0);
    if (answer >= ANSWER_BUSY)
        return answered(answer);
    for (uint32_t other = 0; other < TX_CLIENTS; other++)
        if (users & bit_of(other) && !load_relaxed(&services->clients[other].priority))
            return answered(busy(other)); /* it runs alone */
    answer = abort_all(services, service, users, conflict);
    if (answer != ANSWER_GRANTED)
        return answered(answer);
    store_release(direct->word, direct->value);
    return answered(ANSWER_GRANTED);
}
