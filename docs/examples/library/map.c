/* SPDX-License-Identifier: MIT */
/* Threads count letters in one table. Usage: map [LOCK | servers] */
#include <hasp/map.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { THREADS = 2, ROUNDS = 1000 };

static const char text[] = "eat the teacher";
static struct hasp_map *counts; /* a letter -> how often it was seen */

/* Runs while nobody else can change the letter's count. */
static enum hasp_map_change add_one(void *argument, const void *value, size_t length,
                                    struct hasp_map_value *fresh)
{
    uint64_t *count = argument;
    *count = 0;
    if (value)
        memcpy(count, value, length);
    ++*count;
    fresh->bytes = count;
    fresh->length = sizeof *count;
    return HASP_MAP_STORE;
}

static void *work(void *unused)
{
    for (int round = 0; round < ROUNDS; round++)
        for (const char *letter = text; *letter; letter++) {
            uint64_t count;
            if (*letter != ' ')
                hasp_map_update(counts, letter, 1, add_one, &count);
        }
    return unused;
}

static bool add_up(void *argument, const void *key, size_t key_bytes, const void *value,
                   size_t value_bytes)
{
    uint64_t count;
    (void)key, (void)key_bytes;
    memcpy(&count, value, value_bytes);
    *(uint64_t *)argument += count;
    return true;
}

int main(int count, char **arguments)
{
    struct hasp_map_options options = {.key_bytes = 1, .value_bytes = sizeof(uint64_t)};
    if (count > 1 && strcmp(arguments[1], "servers") == 0)
        options.servers = 1; /* a thread that carries out all changes */
    else if (count > 1)
        options.lock_name = arguments[1];
    int result = hasp_map_create(&counts, &options);
    if (result != HASP_MAP_OK) {
        fprintf(stderr, "%s\n", hasp_map_explain(result));
        return 2;
    }
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);

    uint64_t all = 0, most = 0;
    size_t length = sizeof most;
    hasp_map_iterate(counts, add_up, &all);
    hasp_map_get(counts, "e", 1, &most, &length);
    printf("%d letters, %d in all, most often e: %d; ", (int)hasp_map_count(counts),
           (int)all, (int)most);
    hasp_map_remove(counts, "e", 1);
    printf("%d without e\n", (int)hasp_map_count(counts));
    hasp_map_destroy(counts);
    return 0;
}
