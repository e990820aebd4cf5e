/* SPDX-License-Identifier: MIT */
/*
 * Messages between two pinned threads, by several implementations. Each implementation
 * is a struct transport of constant functions, and runs through the same always-inline
 * patterns, so its functions are inlined into them.
 */
#ifndef HASP_BENCH_MESSAGES_MESSAGES_H
#define HASP_BENCH_MESSAGES_MESSAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/platform.h"

#define force_inline inline __attribute__((always_inline))

enum { PAYLOAD_WORDS = 7, BATCH = 32, SLOTS = 64 };
enum { LARGE_WORDS = 512, LARGE_BYTES = 8 * LARGE_WORDS, LARGE_SLOTS = 16 };

struct payload {
    uint64_t word[PAYLOAD_WORDS];
};

struct large {
    uint64_t word[LARGE_WORDS];
};

/* A direction between two threads; its memory holds both ends. Transports have the
 * functions for small messages, for large ones, or for both. */
struct transport {
    size_t bytes; /* of the memory */
    void (*prepare)(void *memory);
    void (*open)(void *memory, bool sends); /* by each thread; may be NULL */
    bool (*try_send)(void *memory, const struct payload *payload);
    bool (*try_receive)(void *memory, struct payload *payload);
    /* NULL: one at a time */
    unsigned (*try_send_batch)(void *memory, const struct payload *payload,
                               unsigned count);
    unsigned (*try_receive_batch)(void *memory, struct payload *payload,
                                  unsigned count);
    /* NULL: try, and relax() */
    void (*send)(void *memory, const struct payload *payload);
    void (*receive)(void *memory, struct payload *payload);
    /* A large message is written and read at the addresses that these return, NULL if
     * there is no room or no message; then it is sent, or discarded. */
    struct large *(*large_room)(void *memory);
    bool (*large_send)(void *memory);
    const struct large *(*large_next)(void *memory);
    void (*large_done)(void *memory);
};

enum pattern { ROUND_TRIP, ONE_WAY, BATCHES, LARGE, PATTERNS };

struct pair {
    const struct transport *transport;
    void *memory[2]; /* there and back */
    uint64_t messages;
    uint64_t wrong; /* messages with wrong contents */
};

/* Runs one side of the pattern. */
struct implementation {
    const char *name;
    const struct transport *transport;
    void (*run)(struct pair *pair, enum pattern pattern, bool answers);
};

extern const struct implementation implementations[];
extern const unsigned implementation_count;

static force_inline void send_one(const struct transport *t, void *memory,
                                  const struct payload *payload)
{
    if (t->send)
        t->send(memory, payload);
    else
        while (!t->try_send(memory, payload))
            relax();
}

static force_inline void receive_one(const struct transport *t, void *memory,
                                     struct payload *payload)
{
    if (t->receive)
        t->receive(memory, payload);
    else
        while (!t->try_receive(memory, payload))
            relax();
}

static force_inline void ask(const struct transport *t, struct pair *pair)
{
    struct payload payload = {{0}};
    for (uint64_t i = 1; i <= pair->messages; i++) {
        payload.word[0] = i;
        send_one(t, pair->memory[0], &payload);
        receive_one(t, pair->memory[1], &payload);
        pair->wrong += payload.word[0] != i;
    }
}

static force_inline void answer(const struct transport *t, struct pair *pair)
{
    struct payload payload;
    for (uint64_t i = 1; i <= pair->messages; i++) {
        receive_one(t, pair->memory[0], &payload);
        send_one(t, pair->memory[1], &payload);
    }
}

static force_inline void stream_out(const struct transport *t, struct pair *pair)
{
    struct payload payload = {{0}};
    for (uint64_t i = 1; i <= pair->messages; i++) {
        payload.word[0] = i;
        send_one(t, pair->memory[0], &payload);
    }
}

static force_inline void stream_in(const struct transport *t, struct pair *pair)
{
    struct payload payload;
    for (uint64_t i = 1; i <= pair->messages; i++) {
        receive_one(t, pair->memory[0], &payload);
        pair->wrong += payload.word[0] != i;
    }
}

static force_inline void batches_out(const struct transport *t, struct pair *pair)
{
    struct payload payload[BATCH] = {{{0}}};
    for (uint64_t next = 1; next <= pair->messages; next += BATCH) {
        for (unsigned i = 0; i < BATCH; i++)
            payload[i].word[0] = next + i;
        for (unsigned sent = 0; sent < BATCH;) {
            unsigned now =
                t->try_send_batch
                    ? t->try_send_batch(pair->memory[0], payload + sent, BATCH - sent)
                    : t->try_send(pair->memory[0], payload + sent);
            sent += now;
            if (!now)
                relax();
        }
    }
}

static force_inline void batches_in(const struct transport *t, struct pair *pair)
{
    struct payload payload[BATCH];
    for (uint64_t next = 1; next <= pair->messages;) {
        unsigned now = t->try_receive_batch
                           ? t->try_receive_batch(pair->memory[0], payload, BATCH)
                           : t->try_receive(pair->memory[0], payload);
        for (unsigned i = 0; i < now; i++)
            pair->wrong += payload[i].word[0] != next + i;
        next += now;
        if (!now)
            relax();
    }
}

/* Writes every word of each message. */
static force_inline void large_out(const struct transport *t, struct pair *pair)
{
    for (uint64_t i = 1; i <= pair->messages; i++) {
        struct large *large;
        while (!(large = t->large_room(pair->memory[0])))
            relax();
        for (unsigned word = 0; word < LARGE_WORDS; word++)
            large->word[word] = i + word;
        while (!t->large_send(pair->memory[0]))
            relax();
    }
}

/* Reads every word of each message. */
static force_inline void large_in(const struct transport *t, struct pair *pair)
{
    for (uint64_t i = 1; i <= pair->messages; i++) {
        const struct large *large;
        uint64_t sum = 0;
        while (!(large = t->large_next(pair->memory[0])))
            relax();
        for (unsigned word = 0; word < LARGE_WORDS; word++)
            sum += large->word[word];
        t->large_done(pair->memory[0]);
        pair->wrong += sum != LARGE_WORDS * (i + i + LARGE_WORDS - 1) / 2;
    }
}

static inline bool can_run(const struct transport *t, enum pattern pattern)
{
    return pattern == LARGE ? t->large_room != NULL : t->try_send != NULL;
}

static force_inline void run_pattern(const struct transport *t, struct pair *pair,
                                     enum pattern pattern, bool answers)
{
    if (!can_run(t, pattern))
        return;
    if (pattern == LARGE)
        answers ? large_in(t, pair) : large_out(t, pair);
    else if (pattern == ROUND_TRIP)
        answers ? answer(t, pair) : ask(t, pair);
    else if (pattern == ONE_WAY)
        answers ? stream_in(t, pair) : stream_out(t, pair);
    else
        answers ? batches_in(t, pair) : batches_out(t, pair);
}

/* Defines the function `run` of an implementation. */
#define RUNS(name, transport)                                                          \
    static __attribute__((noinline)) void name(struct pair *pair,                      \
                                               enum pattern pattern, bool answers)     \
    {                                                                                  \
        run_pattern(&(transport), pair, pattern, answers);                             \
    }

#endif
