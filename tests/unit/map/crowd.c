/* SPDX-License-Identifier: MIT */
/*
 * Many threads on one map, on the perturbed platform. Each owns some keys, whose values
 * it knows; others read them meanwhile. A third of the time everybody removes, so the
 * map shrinks again. Keys that stay have to be seen by every reader and in every
 * iteration.
 *
 *   unit-map-crowd [WAY [SECONDS]]    options.h
 */
#include "../check.h"
#include "options.h"

#include "platform/platform.h"
#include "platform/xorshift.h"

#include <string.h>

enum { THREADS = 8, OWNED = 400, LASTING = 50, VALUE_WORDS = 6 };

struct worker {
    pthread_t thread;
    uint64_t number;
    uint32_t random;
    uint64_t values[OWNED]; /* 0: absent */
};

static struct hasp_map *words, *texts;
static struct atomic_u32 stop;

static uint32_t any(struct worker *worker, uint32_t below)
{
    worker->random = xorshift32(worker->random);
    return (worker->random >> 8) % below;
}

/* A value that shows whether it is whole. */
struct text {
    uint64_t words[VALUE_WORDS];
};

static struct text text_of(uint64_t number)
{
    struct text text;
    for (unsigned i = 0; i < VALUE_WORDS; i++)
        text.words[i] = number * (i + 1);
    return text;
}

static void check_text(void *argument, const void *value, size_t length)
{
    struct text found, whole;
    CHECK_EQUAL(length, sizeof found);
    memcpy(&found, value, length);
    whole = text_of(found.words[0]);
    CHECK(memcmp(&found, &whole, sizeof whole) == 0);
    *(uint64_t *)argument = found.words[0];
}

static uint64_t key_of(uint64_t owner, uint64_t index)
{
    return owner * OWNED + index;
}

/* Returns the value, or 0 if the key is absent. */
static uint64_t look_up(uint64_t key)
{
    uint64_t value = 0, seen = 0;
    size_t length = sizeof value;
    int result = hasp_map_get(words, &key, sizeof key, &value, &length);
    int other = hasp_map_read(texts, &key, sizeof key, check_text, &seen);
    CHECK(result >= 0 && other >= 0);
    return result == HASP_MAP_OK ? value : 0;
}

static void change(struct worker *worker, uint64_t index, bool removes)
{
    uint64_t key = key_of(worker->number, index), *value = &worker->values[index];
    int expected = *value ? HASP_MAP_OK : removes ? HASP_MAP_ABSENT : HASP_MAP_CREATED;
    if (removes) {
        CHECK_EQUAL(hasp_map_remove(words, &key, sizeof key), expected);
        CHECK_EQUAL(hasp_map_remove(texts, &key, sizeof key), expected);
        *value = 0;
        return;
    }
    uint64_t fresh = 1 + any(worker, 1u << 20);
    struct text text = text_of(fresh);
    CHECK_EQUAL(hasp_map_put(words, &key, sizeof key, &fresh, sizeof fresh), expected);
    CHECK_EQUAL(hasp_map_put(texts, &key, sizeof key, &text, sizeof text), expected);
    *value = fresh;
}

static bool note_lasting(void *argument, const void *key, size_t key_bytes,
                         const void *value, size_t value_bytes)
{
    uint8_t *visits = argument;
    uint64_t number;
    (void)key_bytes, (void)value, (void)value_bytes;
    memcpy(&number, key, sizeof number);
    visits[number]++;
    return true;
}

/* Keys that are never removed are visited once, the others at most once. */
static void check_iteration(struct hasp_map *map)
{
    uint8_t visits[THREADS * OWNED] = {0};
    CHECK(hasp_map_iterate(map, note_lasting, visits));
    for (uint64_t key = 0; key < THREADS * OWNED; key++)
        CHECK(key % OWNED < LASTING ? visits[key] == 1 : visits[key] <= 1);
}

static void *work(void *argument)
{
    struct worker *worker = argument;
    for (uint32_t turn = 0; !load_relaxed(&stop); turn++) {
        uint32_t phase = turn / (4 * OWNED) % 3;
        uint64_t index = any(worker, OWNED);
        change(worker, index, phase == 2 && index >= LASTING);
        index = any(worker, OWNED);
        CHECK_EQUAL(look_up(key_of(worker->number, index)), worker->values[index]);
        CHECK(look_up(key_of(any(worker, THREADS), any(worker, LASTING))) != 0);
        if (turn % OWNED == 0)
            check_iteration(turn % (2 * OWNED) ? words : texts);
        if (turn % (8 * OWNED) == 1 && worker->number == 0)
            hasp_map_settle(words);
    }
    return NULL;
}

static struct hasp_map *create(uint32_t key_bytes, uint32_t value_bytes,
                               const char *lock)
{
    struct hasp_map *map = NULL;
    struct hasp_map_options options = {.key_bytes = key_bytes,
                                       .value_bytes = value_bytes,
                                       .least_buckets = 4};
    set_way(&options, lock);
    CHECK_EQUAL(hasp_map_create(&map, &options), HASP_MAP_OK);
    return map;
}

int main(int count, char **arguments)
{
    static struct worker workers[THREADS];
    const char *lock = count > 1 && arguments[1][0] ? arguments[1] : NULL;
    double seconds = count > 2 ? atof(arguments[2]) : 0.3;
    words = create(8, 8, lock);
    texts = create(0, 0, lock);
    for (uint64_t i = 0; i < THREADS; i++) {
        workers[i].number = i;
        workers[i].random = 88675123u + (uint32_t)i * 7919;
        for (uint64_t index = 0; index < LASTING; index++)
            change(&workers[i], index, false);
    }
    for (int i = 0; i < THREADS; i++)
        CHECK_EQUAL(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
    while (now_ns() < end)
        pause_for(1000);
    store_relaxed(&stop, 1);
    for (int i = 0; i < THREADS; i++)
        pthread_join(workers[i].thread, NULL);
    for (int i = 0; i < THREADS; i++)
        for (uint64_t index = 0; index < OWNED; index++)
            CHECK_EQUAL(look_up(key_of((uint64_t)i, index)), workers[i].values[index]);
    hasp_map_destroy(words);
    hasp_map_destroy(texts);
    return 0;
}
