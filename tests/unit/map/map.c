/* SPDX-License-Identifier: MIT */
/* The operations of hasp/map.h, one after the other and with threads that come and go.
 * */
#include "../check.h"
#include "../crew.h"
#include "forbid.h"
#include "options.h"

#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MANY = 20000, READERS = 2, WORD = 8 };

static bool as_words; /* use the functions for words */

static struct hasp_map *words_map(const char *lock, uint64_t budget)
{
    struct hasp_map *map = NULL;
    struct hasp_map_options options = {
        .key_bytes = WORD, .value_bytes = WORD, .budget = budget};
    set_way(&options, lock);
    CHECK_EQUAL(hasp_map_create(&map, &options), HASP_MAP_OK);
    return map;
}

static int put(struct hasp_map *map, uint64_t key, uint64_t value)
{
    return as_words ? hasp_map_put_word(map, key, value)
                    : hasp_map_put(map, &key, sizeof key, &value, sizeof value);
}

static int take(struct hasp_map *map, uint64_t key)
{
    return as_words ? hasp_map_remove_word(map, key)
                    : hasp_map_remove(map, &key, sizeof key);
}

/* Returns the value, or UINT64_MAX if the key is absent. */
static uint64_t value_of(struct hasp_map *map, uint64_t key)
{
    uint64_t value = 0;
    size_t length = sizeof value;
    int result = as_words ? hasp_map_get_word(map, key, &value)
                          : hasp_map_get(map, &key, sizeof key, &value, &length);
    CHECK(result == HASP_MAP_OK || result == HASP_MAP_ABSENT);
    return result == HASP_MAP_OK ? value : UINT64_MAX;
}

static int insert(struct hasp_map *map, uint64_t key, uint64_t value)
{
    return as_words ? hasp_map_insert_word(map, key, value)
                    : hasp_map_insert(map, &key, sizeof key, &value, sizeof value);
}

static void test_words(const char *lock)
{
    struct hasp_map *map = words_map(lock, 0);
    hasp_map_prefetch_word(map, 0); /* only a hint, for any map */
    CHECK_EQUAL(take(map, 0), HASP_MAP_ABSENT);
    CHECK_EQUAL(put(map, 0, 0), HASP_MAP_CREATED);
    CHECK_EQUAL(value_of(map, 0), 0);
    CHECK_EQUAL(put(map, 0, 7), HASP_MAP_OK);
    CHECK_EQUAL(insert(map, 0, 1), HASP_MAP_OK);
    CHECK_EQUAL(value_of(map, 0), 7);
    CHECK_EQUAL(insert(map, UINT64_MAX, 1), HASP_MAP_CREATED);
    CHECK_EQUAL(value_of(map, UINT64_MAX), 1);
    CHECK_EQUAL(hasp_map_count(map), 2);
    CHECK_EQUAL(take(map, 0), HASP_MAP_OK);
    CHECK_EQUAL(value_of(map, 0), UINT64_MAX);
    CHECK_EQUAL(hasp_map_count(map), 1);
    hasp_map_destroy(map);
}

static void test_any_bytes(void)
{
    struct hasp_map *map = NULL;
    char value[300], long_value[300], key[4] = {0};
    size_t length = sizeof value;
    memset(long_value, 'x', sizeof long_value);
    CHECK_EQUAL(hasp_map_create(&map, NULL), HASP_MAP_OK);
    /* Keys that differ in their length alone, the empty one included. */
    for (size_t bytes = 0; bytes <= sizeof key; bytes++)
        CHECK_EQUAL(hasp_map_put(map, key, bytes, &bytes, bytes), HASP_MAP_CREATED);
    CHECK_EQUAL(hasp_map_count(map), 5);
    CHECK_EQUAL(hasp_map_get(map, key, 0, value, &length), HASP_MAP_OK);
    CHECK_EQUAL(length, 0);
    CHECK_EQUAL(hasp_map_put(map, key, 3, long_value, sizeof long_value), HASP_MAP_OK);
    length = 10;
    CHECK_EQUAL(hasp_map_get(map, key, 3, value, &length), HASP_MAP_SMALL_BUFFER);
    CHECK_EQUAL(length, sizeof long_value);
    CHECK_EQUAL(hasp_map_get(map, key, 3, value, &length), HASP_MAP_OK);
    CHECK(memcmp(value, long_value, sizeof value) == 0);
    CHECK_EQUAL(hasp_map_remove(map, key, 3), HASP_MAP_OK);
    CHECK_EQUAL(hasp_map_get(map, key, 3, value, &length), HASP_MAP_ABSENT);
    hasp_map_destroy(map);
}

static bool sum_up(void *argument, const void *key, size_t key_bytes, const void *value,
                   size_t value_bytes)
{
    uint64_t *sums = argument, number;
    CHECK(key_bytes == WORD && value_bytes == WORD);
    memcpy(&number, key, WORD);
    sums[0] += number;
    CHECK(memcmp(key, value, WORD) == 0);
    return ++sums[1] != sums[2];
}

static void test_growing_and_shrinking(const char *lock)
{
    struct hasp_map *map = words_map(lock, 0);
    /* On a busy machine, a message costs a time slice. */
    const uint64_t many = lock && strchr(lock, '=') ? MANY / 20 : MANY;
    uint64_t least = hasp_map_buckets(map), sums[3] = {0, 0, 0};
    for (uint64_t i = 0; i < many; i++)
        CHECK_EQUAL(put(map, i, i), HASP_MAP_CREATED);
    for (uint64_t i = 0; i < many; i++)
        CHECK_EQUAL(value_of(map, i), i);
    CHECK(hasp_map_buckets(map) > many / 4);
    CHECK(hasp_map_iterate(map, sum_up, sums));
    CHECK_EQUAL(sums[0], many * (many - 1) / 2);
    CHECK_EQUAL(sums[1], many);
    sums[1] = 0;
    sums[2] = 5;
    CHECK(!hasp_map_iterate(map, sum_up, sums));
    CHECK_EQUAL(sums[1], 5);
    const uint64_t most = hasp_map_buckets(map);
    for (uint64_t i = 0; i < many; i++)
        CHECK_EQUAL(take(map, i), HASP_MAP_OK);
    CHECK_EQUAL(hasp_map_count(map), 0);
    /* Writers shrink it by chance, and move some buckets each. */
    for (uint64_t i = 0; i < many / 4; i++) {
        CHECK_EQUAL(put(map, i, i), HASP_MAP_CREATED);
        CHECK_EQUAL(take(map, i), HASP_MAP_OK);
    }
    CHECK(many < MANY || hasp_map_buckets(map) < most); /* without being asked to */
    CHECK(hasp_map_settle(map));
    CHECK_EQUAL(hasp_map_buckets(map), least);
    hasp_map_destroy(map);
}

/* One chain of buckets, from which entries are removed in another order each time. */
static void test_chain(const char *lock)
{
    enum { KEYS = 10, STEP = 3 };
    struct hasp_map *map = NULL;
    struct hasp_map_options options = {
        .key_bytes = WORD, .value_bytes = WORD, .least_buckets = 1, .most_buckets = 1};
    set_way(&options, lock);
    CHECK_EQUAL(hasp_map_create(&map, &options), HASP_MAP_OK);
    for (uint64_t first = 0; first < KEYS; first++) {
        for (uint64_t i = 0; i < KEYS; i++)
            CHECK_EQUAL(put(map, i, i), HASP_MAP_CREATED);
        for (uint64_t i = 0; i < KEYS; i++) {
            CHECK_EQUAL(take(map, (first + i * STEP) % KEYS), HASP_MAP_OK);
            for (uint64_t j = 0; j < KEYS; j++) {
                uint64_t key = (first + j * STEP) % KEYS;
                CHECK_EQUAL(value_of(map, key), j <= i ? UINT64_MAX : key);
            }
        }
    }
    hasp_map_destroy(map);
}

static enum hasp_map_change count_up(void *argument, const void *value, size_t length,
                                     struct hasp_map_value *fresh)
{
    uint64_t *number = argument;
    uint64_t limit = 3;
    if (value)
        memcpy(number, value, length);
    else
        *number = 0;
    if (*number == limit)
        return HASP_MAP_REMOVE;
    ++*number;
    fresh->bytes = number;
    fresh->length = sizeof *number;
    return HASP_MAP_STORE;
}

static enum hasp_map_change keep(void *argument, const void *value, size_t length,
                                 struct hasp_map_value *fresh)
{
    (void)length, (void)fresh;
    *(bool *)argument = value != NULL;
    return HASP_MAP_KEEP;
}

static void test_update(size_t value_bytes, const char *way)
{
    struct hasp_map *map = NULL;
    struct hasp_map_options options = {.key_bytes = WORD,
                                       .value_bytes = (uint32_t)value_bytes};
    uint64_t key = 0, number;
    bool present;
    set_way(&options, way);
    CHECK_EQUAL(hasp_map_create(&map, &options), HASP_MAP_OK);
    CHECK_EQUAL(hasp_map_update(map, &key, WORD, keep, &present), HASP_MAP_ABSENT);
    CHECK(!present);
    CHECK_EQUAL(hasp_map_update(map, &key, WORD, count_up, &number), HASP_MAP_CREATED);
    CHECK_EQUAL(hasp_map_update(map, &key, WORD, keep, &present), HASP_MAP_OK);
    CHECK(present);
    for (uint64_t i = 2; i <= 3; i++) {
        CHECK_EQUAL(hasp_map_update(map, &key, WORD, count_up, &number), HASP_MAP_OK);
        CHECK_EQUAL(value_of(map, 0), i);
    }
    CHECK_EQUAL(hasp_map_update(map, &key, WORD, count_up, &number), HASP_MAP_OK);
    CHECK_EQUAL(value_of(map, 0), UINT64_MAX);
    hasp_map_destroy(map);
}

static void test_bad_input(void)
{
    static unsigned char long_key[HASP_MAP_KEY_MOST + 1];
    struct hasp_map *map = NULL;
    struct hasp_map_options unknown = {.lock_name = "no-such-lock"},
                            crossed = {.least_buckets = 64, .most_buckets = 32},
                            many = {.servers = HASP_MAP_SERVERS_MOST + 1},
                            both = {.servers = 1, .lock_name = "mcs"},
                            none = {.serve_reads = true};
    size_t length = WORD;
    uint64_t value = 0;
    CHECK_EQUAL(hasp_map_create(&map, &unknown), HASP_MAP_UNKNOWN_LOCK);
    CHECK_EQUAL(hasp_map_create(&map, &crossed), HASP_MAP_BAD_OPTIONS);
    CHECK_EQUAL(hasp_map_create(&map, &many), HASP_MAP_BAD_OPTIONS);
    CHECK_EQUAL(hasp_map_create(&map, &both), HASP_MAP_BAD_OPTIONS);
    CHECK_EQUAL(hasp_map_create(&map, &none), HASP_MAP_BAD_OPTIONS);
    CHECK_EQUAL(hasp_map_create(&map, NULL), HASP_MAP_OK);
    CHECK_EQUAL(hasp_map_put(map, long_key, sizeof long_key, &value, WORD),
                HASP_MAP_BAD_KEY);
    CHECK_EQUAL(hasp_map_put(map, long_key, sizeof long_key - 1, &value, WORD),
                HASP_MAP_CREATED);
    CHECK_EQUAL(hasp_map_get(map, long_key, sizeof long_key - 1, &value, &length),
                HASP_MAP_OK);
    CHECK_EQUAL(hasp_map_remove(map, long_key, sizeof long_key), HASP_MAP_BAD_KEY);
    hasp_map_destroy(map);
    map = words_map(NULL, 0);
    CHECK_EQUAL(hasp_map_get(map, "short", 5, &value, &length), HASP_MAP_BAD_KEY);
    CHECK_EQUAL(hasp_map_put(map, &value, WORD, "short", 5), HASP_MAP_BAD_VALUE);
    hasp_map_destroy(map);
    CHECK_EQUAL(hasp_map_create(&map, NULL), HASP_MAP_OK); /* any bytes, so no words */
    CHECK_EQUAL(hasp_map_put(map, &value, WORD, &value, WORD), HASP_MAP_CREATED);
    CHECK_EQUAL(hasp_map_get_word(map, value, &value), HASP_MAP_BAD_KEY);
    CHECK_EQUAL(hasp_map_put_word(map, value, 1), HASP_MAP_BAD_KEY);
    CHECK_EQUAL(hasp_map_insert_word(map, value, 1), HASP_MAP_BAD_KEY);
    CHECK_EQUAL(hasp_map_remove_word(map, value), HASP_MAP_BAD_KEY);
    value = 0;
    CHECK_EQUAL(hasp_map_remove(map, &value, WORD), HASP_MAP_OK);
    CHECK_EQUAL(hasp_map_count(map), 0);
    CHECK(hasp_map_explain(HASP_MAP_UNKNOWN_LOCK) != hasp_map_explain(HASP_MAP_OK));
    hasp_map_destroy(map);
    hasp_map_destroy(NULL);
}

static uint64_t taken, most_taken, limit; /* bytes */

static void *take_counted(void *context, size_t bytes, size_t alignment)
{
    void *block = NULL;
    (void)context;
    if (limit && taken + bytes > limit)
        return NULL;
    CHECK_EQUAL(posix_memalign(&block, alignment < 16 ? 16 : alignment, bytes), 0);
    taken += bytes;
    most_taken = taken > most_taken ? taken : most_taken;
    return memset(block, 0, bytes);
}

static void give_counted(void *context, void *block, size_t bytes)
{
    (void)context;
    taken -= bytes;
    free(block);
}

static const struct hasp_map_memory counted = {take_counted, give_counted, NULL};

/* A full map refuses new entries, but goes on with those it has; and everything comes
 * back in the end. */
static void test_memory(uint64_t budget, uint64_t system, int refusal)
{
    struct hasp_map *map = NULL;
    struct hasp_map_options options = {.budget = budget, .memory = &counted};
    static char value[100];
    uint64_t key = 0;
    int result;
    limit = system;
    taken = most_taken = 0;
    CHECK_EQUAL(hasp_map_create(&map, &options), HASP_MAP_OK);
    while ((result = hasp_map_put(map, &key, WORD, value, sizeof value)) ==
           HASP_MAP_CREATED)
        key++;
    CHECK_EQUAL(result, refusal);
    CHECK(key > 100);
    for (uint64_t i = 0; i < key; i++)
        CHECK_EQUAL(hasp_map_remove(map, &i, WORD), HASP_MAP_OK);
    CHECK(hasp_map_settle(map));
    CHECK(taken < 3000); /* the smallest table */
    /* Replacing returns memory without a request to settle. */
    for (uint64_t i = 0; i < MANY; i++)
        CHECK(hasp_map_put(map, "key", 3, value, sizeof value) >= 0);
    hasp_map_destroy(map);
    CHECK_EQUAL(taken, 0);
    CHECK(most_taken <= (budget ? budget : system));
}

static struct hasp_map *shared;
static bool stop;

static void *read_and_exit(void *argument)
{
    (void)argument;
    CHECK_EQUAL(value_of(shared, 1), 1);
    return NULL;
}

static void *read_always(void *argument)
{
    (void)argument;
    while (!__atomic_load_n(&stop, __ATOMIC_RELAXED))
        CHECK_EQUAL(value_of(shared, 1), 1);
    return NULL;
}

static void read_in_handler(int number)
{
    (void)number;
    CHECK_EQUAL(value_of(shared, 1), 1);
}

/* Threads end, signals interrupt readers, and the process forks. */
static void test_lives(const char *lock)
{
    pthread_t readers[READERS], thread;
    stop = false;
    shared = words_map(lock, 0);
    CHECK_EQUAL(put(shared, 1, 1), HASP_MAP_CREATED);
    for (int i = 0; i < 300; i++) {
        CHECK_EQUAL(pthread_create(&thread, NULL, read_and_exit, NULL), 0);
        pthread_join(thread, NULL);
    }
    signal(SIGUSR1, read_in_handler);
    for (int i = 0; i < READERS; i++)
        CHECK_EQUAL(pthread_create(&readers[i], NULL, read_always, NULL), 0);
    for (int i = 0; i < 300; i++) {
        pthread_kill(readers[i % READERS], SIGUSR1);
        CHECK(put(shared, 2, (uint64_t)i) >= 0);
    }
    bool servers = lock != NULL; /* of the child, too */
    bool forks = !servers || child_may_start_threads("servers after fork()");
    pid_t child = forks ? fork() : -1;
    if (child == 0) {
        CHECK_EQUAL(value_of(shared, 1), 1);
        CHECK_EQUAL(put(shared, 1, 2), HASP_MAP_OK);
        CHECK(hasp_map_settle(shared)); /* no vanished reader hinders it */
        _exit(value_of(shared, 1) == 2 ? 0 : 1);
    }
    int status = 0;
    if (forks)
        CHECK_EQUAL(waitpid(child, &status, 0), child);
    CHECK_EQUAL(status, 0);
    __atomic_store_n(&stop, true, __ATOMIC_RELAXED);
    for (int i = 0; i < READERS; i++)
        pthread_join(readers[i], NULL);
    hasp_map_destroy(shared);
}

/* `map fenced`: without membarrier, readers execute fences. */
int main(int count, char **words)
{
    crew_watch_forks();
    if (count > 1 && strcmp(words[1], "fenced") == 0)
        forbid_membarrier();
    for (int way = 0; way < 2; way++) {
        as_words = way;
        test_words(NULL);
        test_words("mcs");
        test_words("servers=1");
        test_words("all-by=8");
        test_chain(NULL);
        test_chain("mcs");
        test_growing_and_shrinking(NULL);
        test_growing_and_shrinking("mcs");
        test_growing_and_shrinking("servers=2");
    }
    as_words = false;
    test_any_bytes();
    test_update(WORD, NULL);
    test_update(0, NULL);
    test_update(0, "servers=1");
    test_bad_input();
    test_memory(100000, 0, HASP_MAP_OVER_BUDGET);
    test_memory(0, 100000, HASP_MAP_NO_MEMORY);
    test_lives(NULL);
    test_lives("servers=1");
    return 0;
}
