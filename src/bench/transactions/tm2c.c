/* SPDX-License-Identifier: MIT */
/*
 * The programs with the messages of TM2C in their published form: V. Gramoli, R.
 * Guerraoui, V. Trigonakis, "TM2C: a software transactional memory for many-cores",
 * EuroSys 2012. Not the authors' code. One service core owns all addresses. A
 * transaction asks it for each word that it loads, and at its commit for each word that
 * it stores to, and waits for each answer; then it writes, and sends a last message,
 * which has no answer. The messages are those of libssmp, a line whose flag both sides
 * write. Whoever is refused aborts, and tries again after a pause that gets longer each
 * time (the manager "backoff-retry").
 */
#include "bench/burst.h"

#include "platform/xorshift.h"

#include <pthread.h>
#include <stdlib.h>

enum { WRITES_MOST = 64, HELD_MOST = 1 << 16, ENTRIES = 1 << 17, CLIENTS = 64 };
enum { PAUSE_LEAST = 8, DOUBLINGS_MOST = 12 };

enum request { LOAD_WORD = 1, STORE_WORD, FINISH };

/* A message of libssmp. */
struct line {
    uint64_t words[7];
    struct atomic_u32 full;
} __attribute__((aligned(CACHE_LINE)));

/* A word that the service knows. */
struct entry {
    uint64_t word, readers; /* readers: a bit for each client */
    uint32_t writer;        /* client + 1, or 0 */
};

struct client {
    struct line request, answer;
    /* The service's: what this client has. */
    struct entry *held[HELD_MOST];
    uint32_t held_count;
};

struct store {
    uint64_t *word, value;
};

struct transaction {
    struct client *client;
    struct store stores[WRITES_MOST];
    uint32_t store_count, doublings, random;
    void *taken, *given; /* nodes */
};

static struct client clients[CLIENTS];
static struct atomic_u32 client_count;
static struct entry entries[ENTRIES];
static __thread struct transaction own_tx;

static void line_send(struct line *line, uint64_t first, uint64_t second)
{
    while (load_acquire(&line->full))
        relax();
    line->words[0] = first;
    line->words[1] = second;
    store_release(&line->full, 1);
}

static uint64_t line_receive(struct line *line)
{
    while (!load_acquire(&line->full))
        relax();
    uint64_t first = line->words[0];
    store_release(&line->full, 0);
    return first;
}

static struct entry *entry_of(uint64_t word)
{
    for (uint64_t i = (word >> 3) * 0x9e3779b97f4a7c15u >> 47;; i++) {
        struct entry *entry = &entries[i % ENTRIES];
        if (!entry->word)
            entry->word = word;
        if (entry->word == word)
            return entry;
    }
}

/* Whether the client may load, or store to, the word. */
static bool hand_out(struct client *client, uint32_t number, enum request request,
                     struct entry *entry)
{
    uint64_t bit = (uint64_t)1 << number;
    bool stores = request == STORE_WORD;
    if ((entry->writer && entry->writer != number + 1) ||
        (stores && (entry->readers & ~bit)) || client->held_count == HELD_MOST)
        return false;
    if (!(entry->readers & bit) && entry->writer != number + 1)
        client->held[client->held_count++] = entry;
    if (stores)
        entry->writer = number + 1;
    else
        entry->readers |= bit;
    return true;
}

static void release_all(struct client *client, uint32_t number)
{
    for (uint32_t i = 0; i < client->held_count; i++) {
        client->held[i]->readers &= ~((uint64_t)1 << number);
        if (client->held[i]->writer == number + 1)
            client->held[i]->writer = 0;
    }
    client->held_count = 0;
}

static void *serve(void *unused)
{
    for (;;)
        for (uint32_t i = 0; i < CLIENTS && i <= load_relaxed(&client_count); i++) {
            struct line *line = &clients[i].request;
            if (!load_acquire(&line->full))
                continue;
            enum request request = (enum request)line->words[0];
            uint64_t word = line->words[1];
            store_release(&line->full, 0);
            if (request == FINISH)
                release_all(&clients[i], i);
            else
                line_send(&clients[i].answer,
                          hand_out(&clients[i], i, request, entry_of(word)), 0);
        }
    return unused;
}

static bool ask(struct transaction *tx, enum request request, uint64_t *word)
{
    line_send(&tx->client->request, request, (uint64_t)(uintptr_t)word);
    return line_receive(&tx->client->answer);
}

static struct store *find_store(struct transaction *tx, const uint64_t *word)
{
    for (uint32_t i = 0; i < tx->store_count; i++)
        if (tx->stores[i].word == word)
            return &tx->stores[i];
    return NULL;
}

static bool load_word(struct transaction *tx, uint64_t *word, uint64_t *value)
{
    struct store *store = find_store(tx, word);
    if (!store && !ask(tx, LOAD_WORD, word))
        return false;
    *value = store ? store->value : *word;
    return true;
}

static bool store_word(struct transaction *tx, uint64_t *word, uint64_t value)
{
    struct store *store = find_store(tx, word);
    if (!store && tx->store_count == WRITES_MOST)
        return false;
    if (!store)
        store = &tx->stores[tx->store_count++];
    *store = (struct store){word, value};
    return true;
}

/* Returns whether it has committed. */
static bool end(struct transaction *tx, bool goes_on)
{
    for (uint32_t i = 0; i < tx->store_count && goes_on; i++)
        goes_on = ask(tx, STORE_WORD, tx->stores[i].word);
    for (uint32_t i = 0; i < tx->store_count && goes_on; i++)
        *tx->stores[i].word = tx->stores[i].value;
    line_send(&tx->client->request, FINISH, 0);
    free(goes_on ? tx->given : tx->taken);
    tx->given = tx->taken = NULL;
    tx->store_count = 0;
    if (goes_on) {
        tx->doublings = 0;
    } else {
        tx->doublings += tx->doublings < DOUBLINGS_MOST;
        tx->random = xorshift32(tx->random);
        pause_for((tx->random >> 8) % ((uint32_t)PAUSE_LEAST << tx->doublings));
    }
    return goes_on;
}

#define WORD uint64_t
#define GET(word) (*(word))
#define SET(word, value) (*(word) = (value))
#define BODY static bool
#define CONTEXT struct transaction *
#define LOAD(word, variable)                                                           \
    if (!load_word(tx, word, &(variable)))                                             \
    return false
#define STORE(word, value)                                                             \
    if (!store_word(tx, word, value))                                                  \
    return false
#define TAKE(node)                                                                     \
    if (!((node) = tx->taken = NEW_NODE()))                                            \
    abort()
#define GIVE(node) (tx->given = (node))
#define DONE return true
#define NEW_NODE() calloc(1, sizeof(struct node))
#define RUN(body, step)                                                                \
    while (!end(&own_tx, body(&own_tx, step)))                                         \
    continue

#include "bench/transactions/programs.inc"

static bool prepare(enum program program, uint64_t elements, const char *services)
{
    pthread_t server;
    return services && prepare_cells(program, elements) &&
           pthread_create(&server, NULL, serve, NULL) == 0;
}

static void work(struct load *load)
{
    struct step step = {.load = load};
    uint32_t number = fetch_add_relaxed(&client_count, 1);
    if (number >= CLIENTS) {
        load->wrong++;
        return;
    }
    own_tx.client = &clients[number];
    own_tx.random = number + 1;
    run_load(&step);
}

static struct subject subject = {"tm2c", prepare, work, check_cells, NULL};

static __attribute__((constructor)) void add(void)
{
    subject_add(&subject);
}
