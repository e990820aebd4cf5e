/* SPDX-License-Identifier: MIT */
/* The functions of hasp/map.h: each finds the thread's record and calls the map's own.
 * */
#include "hasp/map.h"

#include "structures/map/create.h"
#include "structures/map/iterate.h"
#include "structures/map/memory.h"
#include "structures/map/read.h"
#include "structures/map/resize.h"
#include "structures/map/servers.h"
#include "structures/map/threads.h"
#include "structures/map/words_anyhow.h"
#include "structures/map/write.h"

#include <stdlib.h>
#include <sys/random.h>

struct hasp_map {
    struct map map;              /* the first member: map_within() */
    struct map_servers *servers; /* NULL: threads carry out their own operations */
};

_Static_assert((int)HASP_MAP_UNKNOWN_LOCK == (int)MAP_UNKNOWN_LOCK &&
                   (int)HASP_MAP_CREATED == (int)MAP_CREATED,
               "the results are the same");
_Static_assert((int)HASP_MAP_KEY_MOST == (int)MAP_KEY_MOST &&
                   (int)HASP_MAP_BUCKETS_MOST == (int)MAP_BUCKETS_MOST &&
                   (int)HASP_MAP_SERVERS_MOST == (int)SERVERS_MOST,
               "the limits are the same");

static uint64_t random_seed(void)
{
    uint64_t seed = 0;
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != sizeof seed)
        seed = now_ns() ^ (uint64_t)(uintptr_t)&seed;
    return seed ? seed : 1;
}

static void copy_options(struct map_options *own, struct map_memory *memory,
                         const struct hasp_map_options *options)
{
    memset(own, 0, sizeof *own);
    *memory = threads_memory;
    if (options) {
        own->key_bytes = options->key_bytes;
        own->value_bytes = options->value_bytes;
        own->lock = options->lock_name;
        own->stripes = options->stripes;
        own->least_buckets = options->least_buckets;
        own->most_buckets = options->most_buckets;
        own->budget = options->budget;
        own->seed = options->seed;
        if (options->memory) {
            memory->allocate = options->memory->allocate;
            memory->release = options->memory->release;
            memory->context = options->memory->context;
        }
    }
    if (!own->seed)
        own->seed = random_seed();
}

/* Starts the servers that the options ask for. Returns an enum map_result. */
static int start_servers(struct hasp_map *map, const struct hasp_map_options *options)
{
    const uint32_t count = options ? options->servers : 0;
    if (!count)
        return options && options->serve_reads ? MAP_BAD_OPTIONS : MAP_OK;
    if (count > HASP_MAP_SERVERS_MOST || options->lock_name)
        return MAP_BAD_OPTIONS;
    map->servers = servers_start(count);
    if (!map->servers)
        return MAP_NO_MEMORY;
    map->servers->serve_reads = options->serve_reads;
    return MAP_OK;
}

static bool serves_reads(const struct hasp_map *map)
{
    return map->servers && map->servers->serve_reads;
}

static bool has_words(const struct map *map)
{
    return map->key_bytes == sizeof(uint64_t) && map->value_bytes == sizeof(uint64_t);
}

int hasp_map_create(struct hasp_map **map, const struct hasp_map_options *options)
{
    struct map_options own;
    struct map_memory memory;
    copy_options(&own, &memory, options);
    void *made = NULL;
    if (!threads_prepare() || posix_memalign(&made, CACHE_LINE, sizeof **map) != 0)
        return HASP_MAP_NO_MEMORY;
    memset(made, 0, sizeof **map);
    struct hasp_map *fresh = (struct hasp_map *)made;
    int result = start_servers(fresh, options);
    if (result == MAP_OK)
        result = map_prepare(&fresh->map, &own, &memory, &threads_epochs);
    if (result == MAP_OK) {
        const bool inlined =
            has_words(&fresh->map) && !load_relaxed(&threads_epochs.fenced);
        const bool own_writes = !fresh->servers && !fresh->map.lock;
        fresh->map.reads_from = inlined && !serves_reads(fresh) ? 0 : MAP_NEVER;
        fresh->map.writes_from = inlined && own_writes ? 0 : MAP_NEVER;
        *map = fresh;
        return MAP_OK;
    }
    servers_stop(fresh->servers);
    free(made);
    return result;
}

void hasp_map_destroy(struct hasp_map *map)
{
    if (!map)
        return;
    servers_stop(map->servers);
    map_finish(&map->map);
    free(map);
}

static struct map_span span(const void *bytes, size_t length)
{
    struct map_span span = {bytes, length};
    return span;
}

/* Lets the server of the key perform an operation. */
static int ask(struct hasp_map *map, enum served_call call, struct map_span key,
               struct map_span value)
{
    struct request request = {.call = call, .key = key, .value = value};
    return servers_ask(map->servers, &map->map, &request);
}

/* Returns the word that these bytes are; 0 if they are none, and then *are is false. */
static inline uint64_t as_word(const void *bytes, size_t length, bool *are)
{
    uint64_t word = 0;
    if (unlikely(length != sizeof word))
        *are = false;
    else
        memcpy(&word, bytes, sizeof word);
    return word;
}

/* How an entry is stored: whatever there is, or only if the key is absent. */
enum storing { PUT, INSERT };

#define PUBLIC_INLINE static inline __attribute__((always_inline))

PUBLIC_INLINE int store_anyhow(struct hasp_map *map, enum storing how,
                               struct map_span key, struct map_span value)
{
    if (unlikely(map->servers != NULL))
        return ask(map, how == PUT ? SERVED_PUT : SERVED_INSERT, key, value);
    struct epochs_record *record = threads_record();
    if (unlikely(!record))
        return MAP_NO_MEMORY;
    return how == PUT ? map_put(&map->map, record, key, value)
                      : map_insert(&map->map, record, key, value);
}

/* Entries that are words have functions of their own, which are faster; they leave what
 * is unusual, and all other maps. */
PUBLIC_INLINE int store_bytes(struct hasp_map *map, enum storing how,
                              struct map_span key, struct map_span value)
{
    bool are_words = true;
    uint64_t key_word = as_word(key.bytes, key.length, &are_words);
    uint64_t word = as_word(value.bytes, value.length, &are_words);
    int result = WORDS_ELSEWHERE;
    if (are_words && how == PUT)
        result = words_put(&map->map, &threads_epochs, threads_own, key_word, word);
    else if (are_words)
        result = words_insert(&map->map, &threads_epochs, threads_own, key_word, word);
    if (unlikely(result == WORDS_ELSEWHERE))
        result = store_anyhow(map, how, key, value);
    return result;
}

PUBLIC_INLINE int store_word(struct hasp_map *map, enum storing how, uint64_t key,
                             uint64_t value)
{
    return has_words(&map->map) ? store_anyhow(map, how, span(&key, sizeof key),
                                               span(&value, sizeof value))
                                : MAP_BAD_KEY;
}

int hasp_map_put(struct hasp_map *map, const void *key, size_t key_bytes,
                 const void *value, size_t value_bytes)
{
    return store_bytes(map, PUT, span(key, key_bytes), span(value, value_bytes));
}

int hasp_map_insert(struct hasp_map *map, const void *key, size_t key_bytes,
                    const void *value, size_t value_bytes)
{
    return store_bytes(map, INSERT, span(key, key_bytes), span(value, value_bytes));
}

int words_put_anyhow(struct hasp_map *map, uint64_t key, uint64_t value)
{
    return store_word(map, PUT, key, value);
}

int words_insert_anyhow(struct hasp_map *map, uint64_t key, uint64_t value)
{
    return store_word(map, INSERT, key, value);
}

static int remove_anyhow(struct hasp_map *map, struct map_span key)
{
    if (unlikely(map->servers != NULL))
        return ask(map, SERVED_REMOVE, key, span(NULL, 0));
    struct epochs_record *record = threads_record();
    return unlikely(!record) ? MAP_NO_MEMORY : map_remove(&map->map, record, key);
}

int hasp_map_remove(struct hasp_map *map, const void *key, size_t key_bytes)
{
    bool is_word = true;
    uint64_t word = as_word(key, key_bytes, &is_word);
    int result = WORDS_ELSEWHERE;
    if (is_word)
        result = words_remove(&map->map, &threads_epochs, threads_own, word);
    if (unlikely(result == WORDS_ELSEWHERE))
        result = remove_anyhow(map, span(key, key_bytes));
    return result;
}

static int ask_get(struct hasp_map *map, struct map_span key, void *value,
                   size_t *value_bytes)
{
    struct request request = {
        .call = SERVED_GET, .key = key, .buffer = value, .length = value_bytes};
    return servers_ask(map->servers, &map->map, &request);
}

static int get_anyhow(struct hasp_map *map, struct map_span key, void *value,
                      size_t *value_bytes)
{
    if (unlikely(serves_reads(map)))
        return ask_get(map, key, value, value_bytes);
    struct epochs_record *record = threads_record();
    return unlikely(!record) ? MAP_NO_MEMORY
                             : read_copy(&map->map, record, key, value, value_bytes);
}

int hasp_map_get(struct hasp_map *map, const void *key, size_t key_bytes, void *value,
                 size_t *value_bytes)
{
    bool is_word = *value_bytes >= sizeof(uint64_t);
    uint64_t word = as_word(key, key_bytes, &is_word);
    struct words_found found = {0, WORDS_ELSEWHERE};
    if (likely(is_word))
        found = words_get(&map->map, &threads_epochs, threads_own, word);
    if (unlikely(found.result == WORDS_ELSEWHERE))
        return get_anyhow(map, span(key, key_bytes), value, value_bytes);
    /* If the key is absent, stores what was there: no branch could be predicted. */
    uint64_t old, absent = (uint64_t)0 - (uint64_t)found.result;
    memcpy(&old, value, sizeof old);
    found.value |= old & absent;
    memcpy(value, &found.value, sizeof found.value);
    *value_bytes = (*value_bytes & absent) | (sizeof found.value & ~absent);
    return (int)found.result;
}

struct words_found words_get_anyhow(struct hasp_map *map, uint64_t key)
{
    struct words_found found = {0, MAP_BAD_KEY};
    size_t length = sizeof found.value;
    if (has_words(&map->map))
        found.result = get_anyhow(map, span(&key, sizeof key), &found.value, &length);
    return found;
}

int words_remove_anyhow(struct hasp_map *map, uint64_t key)
{
    return has_words(&map->map) ? remove_anyhow(map, span(&key, sizeof key))
                                : MAP_BAD_KEY;
}

int hasp_map_read(struct hasp_map *map, const void *key, size_t key_bytes,
                  hasp_map_reader *reader, void *argument)
{
    struct map_key sought;
    uint64_t word;
    struct epochs_record *record = threads_record();
    if (unlikely(!record))
        return MAP_NO_MEMORY;
    if (unlikely(!map_key(&map->map, &sought, key, key_bytes)))
        return MAP_BAD_KEY;
    bool outermost = epochs_enter(&threads_epochs, record);
    bool found = map_find(&map->map, &sought, &word);
    if (found) {
        struct map_span value = map_value(&map->map, &word);
        reader(argument, value.bytes, value.length);
    }
    epochs_leave(record, outermost);
    return found ? MAP_OK : MAP_ABSENT;
}

/* A caller's function and its argument. */
struct deciding {
    hasp_map_decide *decide;
    void *argument;
};

static enum map_change decide(void *argument, struct map_span value,
                              struct map_span *fresh)
{
    struct deciding *deciding = (struct deciding *)argument;
    struct hasp_map_value stored = {NULL, 0};
    int change =
        (int)deciding->decide(deciding->argument, value.bytes, value.length, &stored);
    *fresh = span(stored.bytes, stored.length);
    return (enum map_change)change;
}

static int ask_update(struct hasp_map *map, struct map_span key,
                      struct deciding *deciding)
{
    struct request request = {
        .call = SERVED_UPDATE, .key = key, .decide = decide, .argument = deciding};
    return servers_ask(map->servers, &map->map, &request);
}

int hasp_map_update(struct hasp_map *map, const void *key, size_t key_bytes,
                    hasp_map_decide *decides, void *argument)
{
    struct deciding deciding = {decides, argument};
    if (unlikely(map->servers != NULL))
        return ask_update(map, span(key, key_bytes), &deciding);
    struct epochs_record *record = threads_record();
    return unlikely(!record)
               ? MAP_NO_MEMORY
               : map_update(&map->map, record, span(key, key_bytes), decide, &deciding);
}

struct visiting {
    hasp_map_visitor *visitor;
    void *argument;
};

static bool visit(void *argument, struct map_span key, struct map_span value)
{
    struct visiting *visiting = (struct visiting *)argument;
    return visiting->visitor(visiting->argument, key.bytes, key.length, value.bytes,
                             value.length);
}

bool hasp_map_iterate(struct hasp_map *map, hasp_map_visitor *visitor, void *argument)
{
    struct epochs_record *record = threads_record();
    struct visiting visiting = {visitor, argument};
    return record && map_iterate(&map->map, record, visit, &visiting);
}

uint64_t hasp_map_count(struct hasp_map *map)
{
    struct epochs_record *record = threads_record();
    return record ? map_count(&map->map, record) : 0;
}

uint64_t hasp_map_buckets(struct hasp_map *map)
{
    struct epochs_record *record = threads_record();
    if (!record)
        return 0;
    bool outermost = epochs_enter(&threads_epochs, record);
    uint64_t count = map_table(&map->map)->count;
    epochs_leave(record, outermost);
    return count;
}

bool hasp_map_settle(struct hasp_map *map)
{
    struct epochs_record *record = threads_record();
    memory_reclaim_all(&map->map); /* resizing may need it */
    bool settled = record && resize_settle(&map->map, record);
    return memory_reclaim_all(&map->map) && settled;
}
