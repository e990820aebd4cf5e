/* SPDX-License-Identifier: MIT */
/*
 * CLHT with a lock for each bucket, in the form that T. David, R. Guerraoui and V.
 * Trigonakis published, "Asynchronized concurrency", ASPLOS 2015: a line has the lock,
 * three entries and the next line. Not the authors' code. A put does not replace a
 * value; key 0 is reserved, so keys are moved by one. The table has the size that the
 * authors' resizing would give it, and stays so.
 */
#include "bench/tables/subject.h"

#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

enum { SLOTS = 3, LINE = 64 };

struct line {
    uint32_t lock;
    uint64_t keys[SLOTS], values[SLOTS];
    struct line *next;
} __attribute__((aligned(LINE)));

struct clht {
    uint64_t mask;
    struct line *lines;
};

static struct line *new_lines(uint64_t count)
{
    void *lines = NULL;
    if (posix_memalign(&lines, LINE, count * sizeof(struct line)) != 0)
        return NULL;
    return memset(lines, 0, count * sizeof(struct line));
}

static void *create(uint64_t elements, const char *lock)
{
    struct clht *clht = malloc(sizeof *clht);
    uint64_t count = 1;
    while (count < elements)
        count *= 2;
    if (lock || !clht || !(clht->lines = new_lines(count)))
        return NULL;
    clht->mask = count - 1;
    return clht;
}

/* As the authors do: the lower bits, without mixing. */
static struct line *line_of(struct clht *clht, uint64_t key)
{
    return &clht->lines[key & clht->mask];
}

static uint64_t find(struct line *line, uint64_t key)
{
    for (; line; line = __atomic_load_n(&line->next, __ATOMIC_ACQUIRE))
        for (int i = 0; i < SLOTS; i++) {
            uint64_t value = __atomic_load_n(&line->values[i], __ATOMIC_ACQUIRE);
            if (__atomic_load_n(&line->keys[i], __ATOMIC_ACQUIRE) == key)
                return __atomic_load_n(&line->values[i], __ATOMIC_ACQUIRE) == value
                           ? value
                           : 0;
        }
    return 0;
}

static bool get(void *table, uint64_t key, uint64_t *value)
{
    *value = find(line_of(table, key + 1), key + 1);
    return *value != 0;
}

static void acquire(struct line *line)
{
    while (__atomic_exchange_n(&line->lock, 1, __ATOMIC_ACQUIRE))
        while (__atomic_load_n(&line->lock, __ATOMIC_RELAXED))
            relax();
}

static void release(struct line *line)
{
    __atomic_store_n(&line->lock, 0, __ATOMIC_RELEASE);
}

static void enter(struct line *line, int slot, uint64_t key, uint64_t value)
{
    __atomic_store_n(&line->values[slot], value, __ATOMIC_RELEASE);
    __atomic_store_n(&line->keys[slot], key, __ATOMIC_RELEASE);
}

static void insert(struct line *line, uint64_t key, uint64_t value)
{
    for (;; line = line->next) {
        for (int i = 0; i < SLOTS; i++)
            if (!line->keys[i]) {
                enter(line, i, key, value);
                return;
            }
        if (!line->next) {
            struct line *fresh = new_lines(1);
            enter(fresh, 0, key, value);
            __atomic_store_n(&line->next, fresh, __ATOMIC_RELEASE);
            return;
        }
    }
}

static bool put(void *table, uint64_t key, uint64_t value)
{
    struct line *line = line_of(table, ++key);
    if (find(line, key))
        return false;
    acquire(line);
    bool absent = !find(line, key);
    if (absent)
        insert(line, key, value | 1);
    release(line);
    return absent;
}

static bool take_out(void *table, uint64_t key)
{
    struct line *first = line_of(table, ++key);
    bool removed = false;
    if (!find(first, key))
        return false;
    acquire(first);
    for (struct line *line = first; line && !removed; line = line->next)
        for (int i = 0; i < SLOTS; i++)
            if (line->keys[i] == key) {
                __atomic_store_n(&line->keys[i], 0, __ATOMIC_RELEASE);
                removed = true;
            }
    release(first);
    return removed;
}

static void work(struct load *load)
{
    load_run(load, get, put, take_out, subject_no_pause);
}

static struct subject subject = {"clht", create, put, work, NULL};

static __attribute__((constructor)) void add(void)
{
    subject_add(&subject);
}
