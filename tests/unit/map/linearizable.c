/* SPDX-License-Identifier: MIT */
/*
 * Records histories of a few keys and has each judged (history.h), on the perturbed
 * platform, while the map grows and shrinks all the time.
 *
 *   unit-map-linearizable [KIND [WAY]]    words (the default), with the functions for
 *                                         words; values, with those for all; bytes
 *                                         (in nodes); WAY: options.h
 *   unit-map-linearizable wrong N         the N-th seeded fault; exits with status 1
 */
#include "../check.h"
#include "history.h"
#include "options.h"

#include "platform/platform.h"
#include "platform/xorshift.h"

#include <string.h>

enum {
    THREADS = 4,
    KEYS = 3,  /* judged */
    STEPS = 8, /* of a thread in a round: HISTORY_MOST over THREADS */
    ROUNDS = 400,
    OTHERS = 60, /* keys that come and go, so that the map is resized */
};

enum fault { NO_FAULT, STALE_GET, LOST_REMOVE, BLIND_INSERT };

struct worker {
    pthread_t thread;
    unsigned number;
    uint32_t random;
};

static struct hasp_map *map;
static enum fault fault;
static unsigned rounds = ROUNDS;
static bool as_bytes; /* keys and values are in nodes */
static bool as_words; /* the functions for words are used */
static struct atomic_u64 now_at;
static struct history histories[KEYS];
static struct atomic_u32 used[KEYS];
static pthread_barrier_t meeting;

static uint32_t any(struct worker *worker, uint32_t below)
{
    worker->random = xorshift32(worker->random);
    return (worker->random >> 8) % below;
}

static uint64_t moment(void)
{
    return fetch_add_acq_rel(&now_at, 1);
}

/* A key or value of 8 bytes, or of 24. */
struct text {
    uint64_t words[3];
    size_t length;
};

static struct text text_of(uint64_t number)
{
    struct text text = {{number, ~number, number * 3}, as_bytes ? 24 : 8};
    return text;
}

static enum hasp_map_change add(void *argument, const void *value, size_t length,
                                struct hasp_map_value *fresh)
{
    static __thread struct text sum;
    struct operation *operation = argument;
    operation->was_present = value != NULL;
    operation->found = NOTHING;
    if (value)
        memcpy(&operation->found, value, sizeof operation->found);
    CHECK(!value || length == text_of(0).length);
    sum = text_of(operation->found + operation->given);
    fresh->bytes = sum.words;
    fresh->length = sum.length;
    return HASP_MAP_STORE;
}

static void get(const struct text *key, struct operation *operation)
{
    struct text value = {.length = sizeof value.words};
    int result = as_words ? hasp_map_get_word(map, key->words[0], &value.words[0])
                          : hasp_map_get(map, key->words, key->length, value.words,
                                         &value.length);
    CHECK(result == HASP_MAP_OK || result == HASP_MAP_ABSENT);
    operation->was_present = result == HASP_MAP_OK;
    operation->found = value.words[0];
    if (operation->was_present) {
        struct text whole = text_of(value.words[0]);
        CHECK(memcmp(value.words, whole.words, whole.length) == 0);
    }
}

static int put(const struct text *key, const struct text *value)
{
    return as_words ? hasp_map_put_word(map, key->words[0], value->words[0])
                    : hasp_map_put(map, key->words, key->length, value->words,
                                   value->length);
}

static int insert(const struct text *key, const struct text *value)
{
    return as_words ? hasp_map_insert_word(map, key->words[0], value->words[0])
                    : hasp_map_insert(map, key->words, key->length, value->words,
                                      value->length);
}

static int take_out(const struct text *key)
{
    return as_words ? hasp_map_remove_word(map, key->words[0])
                    : hasp_map_remove(map, key->words, key->length);
}

static void perform(uint64_t number, struct operation *operation)
{
    struct text key = text_of(number), value = text_of(operation->given);
    int result = HASP_MAP_OK;
    switch (operation->call) {
    case CALL_GET:
        get(&key, operation);
        return;
    case CALL_PUT:
        result = put(&key, &value);
        break;
    case CALL_INSERT:
        result = fault == BLIND_INSERT ? put(&key, &value) : insert(&key, &value);
        break;
    case CALL_REMOVE:
        if (fault != LOST_REMOVE || operation->given % 8)
            result = take_out(&key);
        break;
    case CALL_ADD:
        result = hasp_map_update(map, key.words, key.length, add, operation);
        break;
    }
    CHECK(result >= 0);
    operation->was_present = result == HASP_MAP_OK;
}

static void step(struct worker *worker)
{
    static __thread struct operation last;
    unsigned key = any(worker, KEYS);
    uint32_t at = fetch_add_relaxed(&used[key], 1);
    if (at >= HISTORY_MOST)
        return;
    struct operation *operation = &histories[key].operations[at];
    operation->call = (enum call)any(worker, CALL_ADD + 1);
    operation->given = 1 + any(worker, 1u << 20);
    operation->began = moment();
    perform(key, operation);
    operation->ended = moment();
    if (fault == STALE_GET && operation->call == CALL_GET && last.ended &&
        !any(worker, 4)) {
        operation->found = last.found;
        operation->was_present = last.was_present;
    }
    if (operation->call == CALL_GET)
        last = *operation;
}

/* Inserts or removes keys that nobody judges. */
static void crowd(struct worker *worker, unsigned round)
{
    for (unsigned i = 0; i < OTHERS / THREADS; i++) {
        struct text key = text_of(1000 + worker->number * OTHERS + i);
        CHECK((round % 2 ? take_out(&key) : put(&key, &key)) >= 0);
        if (i % 3 == 0)
            step(worker);
    }
}

static uint64_t values[KEYS]; /* at the beginning of a round */

static void judge(void)
{
    for (unsigned key = 0; key < KEYS; key++) {
        uint32_t count = load_relaxed(&used[key]);
        histories[key].count = count < HISTORY_MOST ? count : HISTORY_MOST;
        if (!history_is_linearizable(&histories[key], values[key])) {
            fprintf(stderr, "the history of key %u is not linearizable\n", key);
            exit(1);
        }
        struct operation last = {.call = CALL_GET};
        struct text text = text_of(key);
        get(&text, &last);
        values[key] = last.was_present ? last.found : NOTHING;
        store_relaxed(&used[key], 0);
    }
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    for (unsigned round = 0; round < rounds; round++) {
        crowd(worker, round);
        if (pthread_barrier_wait(&meeting) == PTHREAD_BARRIER_SERIAL_THREAD) {
            judge();
            if (round % 4 == 3)
                hasp_map_settle(map);
        }
        pthread_barrier_wait(&meeting);
    }
    return NULL;
}

static void check_histories(const char *lock)
{
    static struct worker workers[THREADS];
    struct hasp_map_options options = {.least_buckets = 2};
    set_way(&options, lock);
    if (options.servers)
        rounds = ROUNDS / 4; /* on a busy machine, a message costs a time slice */
    if (!as_bytes)
        options.key_bytes = options.value_bytes = 8;
    CHECK_EQUAL(hasp_map_create(&map, &options), HASP_MAP_OK);
    pthread_barrier_init(&meeting, NULL, THREADS);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].random = 2463534242u + i * 7919;
        CHECK_EQUAL(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    hasp_map_destroy(map);
}

int main(int count, char **words)
{
    if (count > 2 && strcmp(words[1], "wrong") == 0)
        fault = (enum fault)atoi(words[2]);
    as_bytes = !fault && count > 1 && strcmp(words[1], "bytes") == 0;
    as_words = fault || count < 2 || strcmp(words[1], "words") == 0;
    check_histories(fault || count < 3 ? NULL : words[2]);
    return 0;
}
