/* SPDX-License-Identifier: MIT */
/* The programs with Hasp's transactions. */
#include "hasp/transaction.h"

#include <stdio.h>
#include <string.h>

#define WORD struct hasp_word
#define GET(word) hasp_word_get(word)
#define SET(word, value) hasp_word_set(word, value)
#define BODY static int
#define CONTEXT struct hasp_tx *
#define LOAD(word, variable) HASP_TX_TRY(hasp_tx_load(tx, word, &(variable)))
#define STORE(word, value) HASP_TX_TRY(hasp_tx_store(tx, word, value))
#define TAKE(node)                                                                     \
    do {                                                                               \
        void *taken;                                                                   \
        HASP_TX_TRY(hasp_tx_allocate(tx, sizeof *(node), &taken));                     \
        (node) = taken;                                                                \
    } while (0)
#define GIVE(node) HASP_TX_TRY(hasp_tx_free(tx, node))
#define DONE return HASP_TX_OK
#define NEW_NODE() hasp_tm_allocate(tm, sizeof(struct node))
#define RUN(body, step) run_step(body, step)

static struct hasp_tm *tm;
static __thread struct hasp_tx *own_tx;

struct step;
typedef int step_body(struct hasp_tx *tx, struct step *step);
static inline __attribute__((always_inline)) void run_step(step_body *body,
                                                           struct step *step);

#include "bench/transactions/programs.inc"

struct call {
    step_body *body;
    struct step *step;
};

static inline int call(struct hasp_tx *tx, void *argument)
{
    struct call *made = argument;
    return made->body(tx, made->step);
}

static inline __attribute__((always_inline)) void run_step(step_body *body,
                                                           struct step *step)
{
    struct call made = {body, step};
    if (hasp_tx_run(own_tx, call, &made) != HASP_TX_OK)
        step->load->wrong++;
}

static bool prepare(enum program program, uint64_t elements, const char *lock)
{
    static char manager[16];
    struct hasp_tm_options options = {0};
    const char *equals = lock ? strchr(lock, '=') : NULL;
    if (equals) {
        snprintf(manager, sizeof manager, "%.*s", (int)(equals - lock), lock);
        options.manager = manager;
        options.servers = (uint32_t)atoi(equals + 1);
    } else {
        options.lock_name = lock;
    }
    return hasp_tm_create(&tm, &options) == HASP_TX_OK &&
           prepare_cells(program, elements);
}

static void work(struct load *load)
{
    struct step step = {.load = load};
    struct hasp_tx_counts counts;
    if (hasp_tx_open(&own_tx, tm, NULL) != HASP_TX_OK) {
        load->wrong++;
        return;
    }
    run_load(&step);
    hasp_tx_count(own_tx, &counts);
    load->counts_aborts = true;
    load->aborts[LOAD_LOCKED] = counts.load_locked;
    load->aborts[LOAD_CHANGED] = counts.load_changed;
    load->aborts[COMMIT_LOCKED] = counts.commit_locked;
    load->aborts[COMMIT_CHANGED] = counts.commit_changed;
    load->aborts[CLOSED] = counts.closed;
    load->aborts[READ_AFTER_WRITE] = counts.read_after_write;
    load->aborts[WRITE_AFTER_READ] = counts.write_after_read;
    load->aborts[WRITE_AFTER_WRITE] = counts.write_after_write;
    load->alone = counts.committed_alone;
    load->most_retries = counts.most_retries;
    hasp_tx_close(own_tx);
}

static struct subject subject = {"hasp", prepare, work, check_cells, NULL};

static __attribute__((constructor)) void add(void)
{
    subject_add(&subject);
}
