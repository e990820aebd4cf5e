/* SPDX-License-Identifier: MIT */
#include "hasp/map.h"

#include "bench/tables/subject.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Returns the number after the prefix, or 0. */
static uint32_t number_after(const char *text, const char *prefix)
{
    const size_t length = strlen(prefix);
    return strncmp(text, prefix, length) == 0 ? (uint32_t)atoi(text + length) : 0;
}

static void *create(uint64_t elements, const char *lock)
{
    struct hasp_map *map = NULL;
    struct hasp_map_options options = {.key_bytes = sizeof(uint64_t),
                                       .value_bytes = sizeof(uint64_t)};
    (void)elements; /* it grows by itself */
    const uint32_t reading = lock ? number_after(lock, "all-by=") : 0;
    options.servers = reading ? reading : lock ? number_after(lock, "servers=") : 0;
    options.serve_reads = reading != 0;
    options.lock_name = options.servers ? NULL : lock;
    return hasp_map_create(&map, &options) == HASP_MAP_OK ? map : NULL;
}

static bool get_word(void *table, uint64_t key, uint64_t *value)
{
    return hasp_map_get_word(table, key, value) == HASP_MAP_OK;
}

static bool put_word(void *table, uint64_t key, uint64_t value)
{
    return hasp_map_put_word(table, key, value) == HASP_MAP_CREATED;
}

/* As a put of CLHT: it does not replace a value. */
static bool insert_word(void *table, uint64_t key, uint64_t value)
{
    return hasp_map_insert_word(table, key, value) == HASP_MAP_CREATED;
}

static bool remove_word(void *table, uint64_t key)
{
    return hasp_map_remove_word(table, key) == HASP_MAP_OK;
}

static void work(struct load *load)
{
    load_run(load, get_word, put_word, remove_word, subject_no_pause);
}

static void work_inserting(struct load *load)
{
    load_run(load, get_word, insert_word, remove_word, subject_no_pause);
}

/* With the functions for keys and values of any length. */
static bool get(void *table, uint64_t key, uint64_t *value)
{
    size_t length = sizeof *value;
    return hasp_map_get(table, &key, sizeof key, value, &length) == HASP_MAP_OK;
}

static bool put(void *table, uint64_t key, uint64_t value)
{
    return hasp_map_put(table, &key, sizeof key, &value, sizeof value) ==
           HASP_MAP_CREATED;
}

static bool take_out(void *table, uint64_t key)
{
    return hasp_map_remove(table, &key, sizeof key) == HASP_MAP_OK;
}

static void work_bytes(struct load *load)
{
    load_run(load, get, put, take_out, subject_no_pause);
}

static struct subject bytes = {"hasp-bytes", create, put, work_bytes, NULL};
static struct subject inserting = {"hasp-insert", create, put_word, work_inserting,
                                   NULL};
static struct subject subject = {"hasp", create, put_word, work, NULL};

static __attribute__((constructor)) void add(void)
{
    subject_add(&bytes);
    subject_add(&inserting);
    subject_add(&subject);
}
