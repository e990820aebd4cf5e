/* SPDX-License-Identifier: MIT */
/*
 * Programs of which it is known whether elision can help them: elision_advice PROGRAM
 * [THREADS [SECONDS]]. One mutex each.
 *
 * Sections rarely touch the same data, and make no system call:
 *   table      changes one of four million cells
 *   accounts   moves money between two of four million accounts
 *   tree       searches a sorted array of eight million keys, which nobody changes
 *   histogram  counts four values in a histogram of four million bins
 *   pages      looks a page up in a hash table and marks it as used
 *
 * Elision cannot help:
 *   counter    adds to one counter: all sections conflict
 *   journal    writes to a file and waits for the disk
 *   queue      waits for work on a condition variable
 *   lru        moves one of 64 entries to the front of a list: all sections conflict
 *   long       computes for a millisecond: an interrupt comes first, or a conflict
 *   recursive  table, with a recursive mutex
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CELLS = 1 << 22, KEYS = 1 << 23, ENTRIES = 64, THREADS_MOST = 64 };

static pthread_mutex_t mu;
static pthread_cond_t filled = PTHREAD_COND_INITIALIZER;
static struct {
    uint64_t count, sum;
} *cells;
static uint32_t *keys;
static uint64_t counter, waiting;
static int order[ENTRIES];
static FILE *journal_file;
static atomic_bool stop;
static volatile uint64_t sink;

static uint64_t next(uint64_t *random)
{
    *random ^= *random << 13;
    *random ^= *random >> 7;
    return *random ^= *random << 17;
}

/* Follows a chain of so many cells; the next one depends on what a cell has. */
static uint64_t follow(uint64_t *random, int links)
{
    uint64_t at = next(random) % CELLS;
    for (int i = 0; i < links; i++)
        at = (at * UINT64_C(0x9e3779b97f4a7c15) + cells[at].sum) % CELLS;
    return at;
}

static void table(uint64_t *random)
{
    cells[follow(random, 4)].count++;
}

static void accounts(uint64_t *random)
{
    uint64_t from = follow(random, 2), to = follow(random, 2);
    cells[from].count--;
    cells[to].count++;
}

static void tree(uint64_t *random)
{
    uint32_t wanted = (uint32_t)next(random) % KEYS, low = 0, high = KEYS;
    while (low < high) {
        uint32_t middle = (low + high) / 2;
        if (keys[middle] < wanted)
            low = middle + 1;
        else
            high = middle;
    }
    sink = low;
}

static void histogram(uint64_t *random)
{
    for (int i = 0; i < 4; i++)
        cells[follow(random, 2)].count++;
}

static void pages(uint64_t *random)
{
    cells[follow(random, 6)].count = 1;
}

static void count(uint64_t *random)
{
    (void)random;
    counter++;
}

static void journal(uint64_t *random)
{
    char line[32];
    int length = snprintf(line, sizeof line, "%u\n", (unsigned)next(random));
    if (write(fileno(journal_file), line, (size_t)length) != length)
        abort();
    fsync(fileno(journal_file));
}

/* One in two puts, the others wait until there is something to take. */
static void queue(uint64_t *random)
{
    if (next(random) % 2) {
        waiting++;
        pthread_cond_signal(&filled);
        return;
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec++;
    while (!waiting && !stop)
        if (pthread_cond_timedwait(&filled, &mu, &until))
            return;
    waiting -= waiting > 0;
}

static void lru(uint64_t *random)
{
    int entry = (int)(next(random) % ENTRIES), at = 0;
    while (order[at] != entry)
        at++;
    memmove(order + 1, order, (size_t)at * sizeof order[0]);
    order[0] = entry;
}

static void compute(uint64_t *random)
{
    for (int i = 0; i < 500000; i++)
        counter += next(random);
}

static const struct program {
    const char *name;
    void (*section)(uint64_t *random);
    int outside; /* steps of work between two sections */
} programs[] = {
    {"table", table, 50},         {"accounts", accounts, 50}, {"tree", tree, 50},
    {"histogram", histogram, 50}, {"pages", pages, 50},       {"counter", count, 20},
    {"journal", journal, 100},    {"queue", queue, 50},       {"lru", lru, 50},
    {"long", compute, 100},       {"recursive", table, 50},
};
static const struct program *chosen;

static void *work(void *seed)
{
    uint64_t random = (uintptr_t)seed;
    while (!stop) {
        for (int i = 0; i < chosen->outside; i++)
            sink = next(&random);
        pthread_mutex_lock(&mu);
        chosen->section(&random);
        pthread_mutex_unlock(&mu);
    }
    return NULL;
}

static void prepare(void)
{
    pthread_mutexattr_t attributes;
    pthread_mutexattr_init(&attributes);
    if (strcmp(chosen->name, "recursive") == 0)
        pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&mu, &attributes);
    cells = calloc(CELLS, sizeof *cells);
    keys = calloc(KEYS, sizeof *keys);
    journal_file = tmpfile();
    if (!cells || !keys || !journal_file)
        exit(2);
    memset(cells, 0, CELLS * sizeof *cells);
    for (uint32_t i = 0; i < KEYS; i++)
        keys[i] = i;
    for (int i = 0; i < ENTRIES; i++)
        order[i] = i;
}

int main(int words, char **word)
{
    pthread_t threads[THREADS_MOST];
    long wanted = words > 2 ? atol(word[2]) : 2;
    double seconds = words > 3 ? atof(word[3]) : 1;
    for (size_t i = 0; words > 1 && i < sizeof programs / sizeof programs[0]; i++)
        if (strcmp(programs[i].name, word[1]) == 0)
            chosen = &programs[i];
    if (!chosen || wanted < 1 || wanted > THREADS_MOST)
        return 2;
    prepare();
    for (long i = 0; i < wanted; i++)
        pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)(i + 1));
    usleep((useconds_t)(seconds * 1e6));
    stop = true;
    pthread_cond_broadcast(&filled);
    for (long i = 0; i < wanted; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
