/* SPDX-License-Identifier: MIT */
/*
 * Transactions over messages: V. Gramoli, R. Guerraoui, V. Trigonakis, "TM2C: a
 * software transactional memory for many-cores", EuroSys 2012. Each stripe of memory
 * belongs to a service, which alone records its readers and its writer. A transaction
 * asks the service for each stripe before it reads it; it asks for those that it stores
 * to before it commits, or at each store (eager). Words are in memory that all threads
 * share; messages only concern ownership. Unlike in TM2C, a transaction whose i-th load
 * was of a stripe that it stored to asks for the i-th load of its next one as a writer,
 * so that it need not ask again.
 *
 * If the stripe is in use, a contention manager decides whether the transaction that
 * asks goes on, or those that have the stripe. The loser is aborted. Each transaction
 * publishes
 *
 *   status    RUNNING, COMMITTING, ABORTED or ENDED, why it was aborted, and the
 *             number of the attempt
 *   priority  the lower one wins; 0: it runs alone and always wins
 *
 * Messages are sections of a delegate, one for each service, so that services can be
 * threads of their own (ffwd), or any other executor.
 *
 * M1. A service writes its tables in its sections only, which exclude each other.
 * M2. Nothing is sent at the end of a transaction. What a service has granted to an
 *     attempt is void once the status tells of another attempt, or of its end or
 *     abort. The store of ENDED (release) pairs with the service's load (acquire):
 *     whoever gets the stripe next sees what was committed.
 * M3. Before a service gives a stripe to another transaction, it changes the status of
 *     the one that has it from RUNNING to ABORTED. A transaction commits by changing
 *     its own from RUNNING to COMMITTING, before it stores. So one of the two fails.
 * M4. A transaction looks at its status after each load of a word. If it finds a value
 *     (acquire) that another one has committed since (release), it also finds that it
 *     was aborted. All that it has read before it looked was there at that moment.
 * M5. The exchanges of M3 order nothing themselves. Before the one to COMMITTING, its
 *     thread has stored to none of the words; each store after it is a release. Before
 *     the one to ABORTED, the service has acquired the same status; and whoever finds
 *     what another transaction commits afterwards has it from a chain of releases and
 *     acquires that begins after the exchange: the answer, and the commit (M4).
 */
#ifndef HASP_STRUCTURES_TRANSACTION_SERVICES_H
#define HASP_STRUCTURES_TRANSACTION_SERVICES_H

#include "delegation/server.h"
#include "structures/transaction/transaction.h"

enum {
    TX_CLIENTS = MODEL_CHECKED ? 4 : 64, /* open transactions */
    TX_KNOWN = MODEL_CHECKED ? 4 : 128,  /* stripes that a client remembers */
    TX_WANTED = MODEL_CHECKED ? 1 : 22,  /* stripes in a request */
};

enum tx_access { TX_READS_IT, TX_WRITES_IT };

/* States and causes, below the number of the attempt in a status. */
enum { TX_ENDED, TX_RUNNING, TX_COMMITTING, TX_ABORTED, TX_STATES };
enum tx_conflict { READ_AFTER_WRITE, WRITE_AFTER_READ, WRITE_AFTER_WRITE };
enum { TX_STATE_BITS = 2, TX_ATTEMPT_SHIFT = 4 };

/* The answer of a service. */
enum tx_answer {
    ANSWER_GRANTED,
    ANSWER_NO_MEMORY,
    ANSWER_LOST, /* with an enum tx_conflict added */
    /* With the number of a client added, whose transaction is in the way: ask again
     * when it has ended. */
    ANSWER_BUSY = ANSWER_LOST + 4,
};

/* A stripe, in its service. */
struct tx_stripe {
    uint64_t readers; /* a bit for each client */
    uint32_t writer;  /* client + 1, or 0 */
};

/* The stripes that a service has granted to a client's attempt. */
struct tx_grants {
    uint64_t attempt;
    uint32_t count, room;
    uint32_t *stripes;
};

struct tx_service {
    struct delegate delegate;
    struct tx_stripe *stripes;
    struct tx_grants grants[TX_CLIENTS];
};

/* A transaction as others see it. */
struct tx_client {
    struct atomic_u64 status __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 priority;
    struct tx_services *services;
    /* The request. All that a service reads is here, in one line if it is short: each
     * further line would have to come from the client's CPU. */
    uint32_t number, wanted_count;
    uint32_t wanted[TX_WANTED]; /* tx_wish() */

    /* Private to the client's thread. */
    uint64_t known[TX_KNOWN] __attribute__((aligned(CACHE_LINE)));
    struct transaction *tx;
    uint64_t stored; /* a bit for each of the first loads of the last commit */
    uint64_t attempt;
    uint64_t arrived;   /* greedy: rank of its first attempt in time */
    uint64_t effective; /* fair: ticks of the attempts that committed */
    uint64_t began;
};

enum tx_manager {
    MANAGE_FAIR,
    MANAGE_GREEDY,
    MANAGE_WHOLLY,
    MANAGE_BACKOFF,
    MANAGE_NONE
};

struct tx_services {
    uint32_t count;
    enum tx_manager manager;
    bool eager;
    struct tx_memory *memory;
    struct atomic_u64 open; /* clients, a bit each */
    struct atomic_u64 arrivals __attribute__((aligned(CACHE_LINE)));
    struct tx_client clients[TX_CLIENTS];
    struct tx_service all[];
};

/* Returns an enum tx_manager, or -1. NULL: the default. */
int services_find_manager(const char *name);

/* Creates `count` services of this executor for the memory, whose other parts are
 * prepared. Returns TX_OK or TX_NO_MEMORY. */
int services_prepare(struct tx_memory *memory, uint32_t count, enum tx_manager manager,
                     bool eager, unsigned executor);
void services_finish(struct tx_memory *memory);

/* Makes the transaction a client. Returns TX_OK or TX_TOO_MANY. */
int services_join(struct transaction *tx);
void services_part(struct transaction *tx);

/* Called in the course of a transaction. Those with a result return TX_OK or the reason
 * of the failure. More of them: services_begin() and services_own(). */
int services_load(struct transaction *tx, const struct atomic_u64 *word,
                  uint64_t *value);
int services_commit(struct transaction *tx);
void services_end(struct transaction *tx);
void services_forget(struct transaction *tx, const struct atomic_u64 *word);

/* Called outside of transactions. */
uint64_t services_direct_load(struct tx_memory *memory, const struct atomic_u64 *word);
void services_direct_store(struct tx_memory *memory, struct atomic_u64 *word,
                           uint64_t value);

/* Executes the section in a service. Returns its result as a number. */
unsigned services_ask(struct tx_services *services, uint64_t service,
                      void *(*section)(void *), void *context);

/* The sections that a service executes. Those of a transaction get its struct tx_client
 * as their context, those of a direct access a struct tx_direct. */
void *service_grant(void *context); /* what the client wants, all from this service */
/* The client no longer reads the stripe that it wants, nor stores to it if it wants to
 * store to it. */
void *service_forget(void *context);
void *service_load(void *context);
void *service_store(void *context);

struct tx_direct {
    struct tx_services *services;
    struct atomic_u64 *word;
    uint64_t stripe, value;
};

static inline uint64_t services_stripe(const struct tx_memory *memory,
                                       const struct atomic_u64 *word)
{
    return ((uintptr_t)word >> memory->shift) & (memory->stripes - 1);
}

/* A stripe in a request. */
static inline uint32_t tx_wish(uint64_t stripe, enum tx_access access)
{
    return (uint32_t)(stripe << 1 | access);
}

static inline uint64_t tx_wish_stripe(uint32_t wish)
{
    return wish >> 1;
}

static inline enum tx_access tx_wish_access(uint32_t wish)
{
    return wish & 1 ? TX_WRITES_IT : TX_READS_IT;
}

static inline uint64_t status_attempt(uint64_t status)
{
    return status >> TX_ATTEMPT_SHIFT;
}

static inline unsigned status_state(uint64_t status)
{
    return status & (TX_STATES - 1);
}

static inline enum tx_conflict status_cause(uint64_t status)
{
    return (enum tx_conflict)(status >> TX_STATE_BITS & 3);
}

#endif
