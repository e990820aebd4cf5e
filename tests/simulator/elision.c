/* SPDX-License-Identifier: MIT */
/*
 * Elided locks on a simulated machine: simulated-elision MACHINE EXPERIMENT LOCK
 * [SETTING=NUMBER]... Prints the cycles that the workers took, and the counts
 * (test_elision.py). The experiments are after Moore's thesis:
 *
 *   light     many short sections, each in one of many cells, like fluidanimate
 *   calls     sections that make a system call, like dedup
 *   lemming   short sections of one lock; one in `every` sections of the first worker
 *             makes a system call
 *   cascade   `nest` nested sections; the innermost one makes a system call
 *   nest      `nest` nested sections of the worker's own locks, and one of its cells
 *
 * `global=1` gives all sections of `light` and `calls` one lock. `wait`, `guard` and
 * `sites` are those of elision/policy.h.
 */
#include "elision/elide.h"
#include "elision/list.h"
#include "platform/platform.h"
#include "platform/workers.h"
#include "platform/xorshift.h"
#include "unit/check.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { WORKERS = 8, CELLS = 4096, VALUES = 3, LOCKS_MOST = 32 };

static struct {
    uint64_t threads, rounds, global, every, nest, inside, outside;
} knobs = {.threads = WORKERS, .rounds = 400, .every = 100, .nest = 7};

/* A cell and its lock, on lines of their own. */
struct cell {
    struct lock lock __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 value[VALUES] __attribute__((aligned(CACHE_LINE)));
};

static struct cell *cells;
static const struct lock_operations *operations;
static struct meeting meeting;
static uint64_t began[WORKERS], ended[WORKERS];

static struct lock *lock_of(uint64_t cell)
{
    return &cells[knobs.global ? 0 : cell].lock;
}

static void add(struct cell *cell)
{
    for (int i = 0; i < VALUES; i++)
        store_relaxed(&cell->value[i], load_relaxed(&cell->value[i]) + 1);
}

static void in_cell(uint64_t cell, bool calls_system)
{
    operations->lock(lock_of(cell));
    add(&cells[cell]);
    pause_cycles(knobs.inside);
    if (calls_system)
        yield();
    operations->unlock(lock_of(cell));
}

static void light(unsigned index, uint64_t round, uint32_t random)
{
    (void)index, (void)round;
    in_cell(random % CELLS, false);
}

static void calls(unsigned index, uint64_t round, uint32_t random)
{
    (void)index, (void)round;
    in_cell(random % CELLS, true);
}

static void lemming(unsigned index, uint64_t round, uint32_t random)
{
    (void)random;
    struct lock *lock = &cells[0].lock;
    const bool calls_system = index == 0 && round % knobs.every == 0;
    operations->lock(lock);
    add(&cells[1 + index]);
    pause_cycles(calls_system ? 10 * knobs.inside : knobs.inside);
    if (calls_system)
        yield();
    operations->unlock(lock);
}

/* Each section does `inside` cycles of work before the next one begins. */
static void cascade(unsigned index, uint64_t round, uint32_t random)
{
    (void)index, (void)round, (void)random;
    for (uint64_t i = 0; i < knobs.nest; i++) {
        operations->lock(&cells[i].lock);
        pause_cycles(knobs.inside);
    }
    yield();
    for (uint64_t i = knobs.nest; i-- > 0;)
        operations->unlock(&cells[i].lock);
}

static void nest(unsigned index, uint64_t round, uint32_t random)
{
    (void)round, (void)random;
    struct cell *own = &cells[index * LOCKS_MOST];
    for (uint64_t i = 0; i < knobs.nest; i++)
        operations->lock(&own[i].lock);
    add(own);
    for (uint64_t i = knobs.nest; i-- > 0;)
        operations->unlock(&own[i].lock);
}

static void (*section)(unsigned index, uint64_t round, uint32_t random);

static void body(unsigned index, void *unused)
{
    (void)unused;
    uint32_t random = xorshift32(index + 1);
    arrive_together(&meeting, (uint32_t)knobs.threads);
    began[index] = cycles_ordered();
    for (uint64_t i = 0; i < knobs.rounds; i++) {
        random = xorshift32(random);
        section(index, i, random);
        pause_cycles(knobs.outside);
    }
    ended[index] = cycles_ordered();
}

static void choose(const char *experiment)
{
    static const struct {
        const char *name;
        void (*section)(unsigned index, uint64_t round, uint32_t random);
    } experiments[] = {
        {"light", light},     {"calls", calls}, {"lemming", lemming},
        {"cascade", cascade}, {"nest", nest},
    };
    for (unsigned i = 0; i < sizeof experiments / sizeof experiments[0]; i++)
        if (strcmp(experiments[i].name, experiment) == 0)
            section = experiments[i].section;
    CHECK(section);
}

static void set(const char *word)
{
    const char *value = strchr(word, '=');
    CHECK(value);
    const size_t length = (size_t)(value++ - word);
    const uint64_t number = strtoull(value, NULL, 10);
    const struct {
        const char *name;
        uint64_t *knob;
    } numbers[] = {
        {"threads", &knobs.threads}, {"rounds", &knobs.rounds},
        {"global", &knobs.global},   {"every", &knobs.every},
        {"nest", &knobs.nest},       {"inside", &knobs.inside},
        {"outside", &knobs.outside},
    };
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (strncmp(word, numbers[i].name, length) == 0)
            *numbers[i].knob = number;
    if (strncmp(word, "wait", length) == 0)
        elision_settings.waits_first = number;
    if (strncmp(word, "guard", length) == 0)
        elision_settings.guards_nests = number;
    if (strncmp(word, "sites", length) == 0)
        elision_settings.by_site = number;
    CHECK(knobs.threads <= WORKERS && knobs.nest <= LOCKS_MOST);
}

/* Every section has added to its cell. */
static void check_sum(void)
{
    uint64_t sum[VALUES] = {0};
    for (int i = 0; i < CELLS; i++) {
        for (int j = 0; j < VALUES; j++)
            sum[j] += cells[i].value[j].raw;
        CHECK_EQUAL(cells[i].lock.word.raw, 0);
    }
    for (int j = 0; section != cascade && j < VALUES; j++)
        CHECK_EQUAL(sum[j], knobs.threads * knobs.rounds);
}

static void print(void)
{
    const struct elision_counts counts = elision_counts_sum();
    uint64_t first = began[0], last = 0;
    for (unsigned i = 0; i < knobs.threads; i++) {
        first = began[i] < first ? began[i] : first;
        last = ended[i] > last ? ended[i] : last;
    }
    CHECK_EQUAL(counts.begins, counts.commits + elision_aborts(&counts));
    printf("{\"cycles\":%" PRIu64 ",\"begins\":%" PRIu64 ",\"commits\":%" PRIu64
           ",\"conflicts\":%" PRIu64 ",\"busy\":%" PRIu64 ",\"other\":%" PRIu64
           ",\"nested\":%" PRIu64 ",\"elided\":%" PRIu64 ",\"acquired\":%" PRIu64 "}\n",
           last - first, counts.begins, counts.commits,
           counts.aborts[ELISION_BY_CONFLICT], counts.aborts[ELISION_BY_BUSY],
           counts.aborts[ELISION_BY_OTHER], counts.nested_aborts, counts.elided,
           counts.acquired);
}

int main(int count, char **words)
{
    static int cpus[WORKERS];
    CHECK(count > 3 && use_machine(words[1]));
    choose(words[2]);
    int found = elided_find(words[3]);
    CHECK(found > 0);
    operations = elided_operations_at((unsigned)found);
    for (int i = 4; i < count; i++)
        set(words[i]);
    for (int i = 0; i < WORKERS; i++)
        cpus[i] = i;
    cells = shared_pages(CELLS * sizeof *cells, 0);
    CHECK(cells && run_workers((unsigned)knobs.threads, cpus, body, NULL));
    check_sum();
    print();
    return 0;
}
