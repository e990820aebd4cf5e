/* SPDX-License-Identifier: MIT */
/*
 * Hardware transactions on a simulated machine: simulated-transactions MACHINE CASE.
 * Transactions may read 400 lines, write 50, and nest 7 levels deep; there is an
 * interrupt every 100,000 cycles (test_transactions.py).
 */
#include "platform/htm.h"

#include "platform/platform.h"
#include "platform/workers.h"
#include "unit/check.h"

#include <string.h>

enum {
    READ_LINES = 400,
    WRITE_LINES = 50,
    NESTING = 7,
    INTERRUPT = 100000,
    LINES = 512,
    ROUNDS = 500,
    WORKERS = 6,
};

struct cell_line {
    struct atomic_u64 cell __attribute__((aligned(CACHE_LINE)));
};

static struct cell_line *lines;
static struct atomic_u32 *fallback; /* no transaction may commit while it is held */
static uint64_t commits, aborts, conflicts;
static struct meeting meeting;

/* Runs a transaction that reads and writes that many lines, and returns its status. */
static uint32_t touch(unsigned reads, unsigned writes)
{
    uint32_t status = htm_begin();
    if (status != HTM_STARTED)
        return status;
    uint64_t sum = 0;
    for (unsigned i = 0; i < reads; i++)
        sum += load_relaxed(&lines[i].cell);
    for (unsigned i = 0; i < writes; i++)
        store_relaxed(&lines[i].cell, sum + i);
    htm_commit();
    return status;
}

/* Retries the transaction, because an interrupt may abort the first attempts. */
static uint32_t touch_patiently(unsigned reads, unsigned writes)
{
    uint32_t status = 0;
    for (int i = 0; i < 3 && !status; i++)
        status = touch(reads, writes);
    return status;
}

static void capacity(unsigned index, void *argument)
{
    (void)index, (void)argument;
    touch_patiently(READ_LINES / 2, 0); /* warms the caches */
    CHECK_EQUAL(touch_patiently(0, WRITE_LINES), HTM_STARTED);
    CHECK_EQUAL(touch_patiently(0, WRITE_LINES + 1), HTM_CAPACITY);
    CHECK_EQUAL(touch_patiently(READ_LINES, 0), HTM_STARTED);
    CHECK_EQUAL(touch_patiently(READ_LINES + 1, 0), HTM_CAPACITY);
    /* Checks that aborted transactions have written nothing. */
    CHECK_EQUAL(load_relaxed(&lines[WRITE_LINES - 1].cell), WRITE_LINES - 1);
    CHECK_EQUAL(load_relaxed(&lines[WRITE_LINES].cell), 0);
}

static uint32_t nest(unsigned levels)
{
    uint32_t status = htm_begin();
    if (status != HTM_STARTED)
        return status;
    for (unsigned i = 1; i < levels; i++)
        CHECK_EQUAL(htm_begin(), HTM_STARTED);
    CHECK_EQUAL(htm_depth(), levels);
    store_relaxed(&lines[0].cell, levels);
    for (unsigned i = 0; i < levels; i++)
        htm_commit();
    return status;
}

static void nesting(unsigned index, void *argument)
{
    (void)index, (void)argument;
    CHECK_EQUAL(nest(NESTING), HTM_STARTED);
    CHECK_EQUAL(load_relaxed(&lines[0].cell), NESTING);
    uint32_t status = nest(NESTING + 1);
    CHECK(status & HTM_NESTED);
    CHECK(!(status & HTM_RETRY));
    CHECK_EQUAL(htm_depth(), 0);
    CHECK_EQUAL(load_relaxed(&lines[0].cell), NESTING);
}

/* Aborts from within nested calls. */
static __attribute__((noinline)) void write_and_abort(volatile int *on_stack)
{
    volatile char filler[200];
    memset((char *)filler, 1, sizeof filler);
    *on_stack = 2;
    store_relaxed(&lines[0].cell, 2);
    CHECK_EQUAL(load_relaxed(&lines[0].cell), 2); /* its own */
    htm_abort(0xab);
    CHECK(!"an aborted transaction continues");
}

static void going_back(unsigned index, void *argument)
{
    (void)index, (void)argument;
    volatile int on_stack = 1;
    store_relaxed(&lines[0].cell, 1);
    uint32_t status = htm_begin();
    if (status == HTM_STARTED)
        write_and_abort(&on_stack);
    CHECK(status & HTM_EXPLICIT);
    CHECK_EQUAL(htm_code(status), 0xab);
    CHECK_EQUAL(on_stack, 1);
    CHECK_EQUAL(load_relaxed(&lines[0].cell), 1);
    CHECK_EQUAL(htm_depth(), 0);
}

static void interrupts(unsigned index, void *argument)
{
    (void)index, (void)argument;
    for (int i = 0; i < 5; i++) {
        uint32_t status = htm_begin();
        if (status == HTM_STARTED) {
            pause_cycles(INTERRUPT);
            htm_commit();
        }
        CHECK_EQUAL(status, 0);
    }
    uint32_t status = htm_begin();
    if (status == HTM_STARTED) {
        yield();
        CHECK(!"a transaction survives a system call");
    }
    CHECK_EQUAL(status, 0);
}

static void acquire_fallback(void)
{
    while (exchange_acquire(fallback, 1))
        spin_until(load_relaxed(fallback) == 0);
}

/* Three attempts, then a fallback to the lock, which all transactions read. */
static void add_in_transaction(struct atomic_u64 *cell)
{
    for (int tries = 0; tries < 3; tries++) {
        spin_until(load_relaxed(fallback) == 0);
        uint32_t status = htm_begin();
        if (status == HTM_STARTED) {
            if (load_relaxed(fallback))
                htm_abort(1);
            store_relaxed(cell, load_relaxed(cell) + 1);
            htm_commit();
            commits++;
            return;
        }
        aborts++;
        conflicts += (status & HTM_CONFLICT) != 0;
    }
    acquire_fallback();
    store_relaxed(cell, load_relaxed(cell) + 1);
    store_release(fallback, 0);
}

static void one_counter(unsigned index, void *argument)
{
    (void)index, (void)argument;
    for (int i = 0; i < ROUNDS; i++)
        add_in_transaction(&lines[0].cell);
}

static void own_counters(unsigned index, void *argument)
{
    (void)argument;
    for (int i = 0; i < ROUNDS; i++)
        add_in_transaction(&lines[1 + index].cell);
}

/* Half of the workers change two lines in a transaction, inconsistently in between; the
 * others read the lines inside and outside of transactions. */
static void isolation(unsigned index, void *argument)
{
    (void)argument;
    arrive_together(&meeting, WORKERS);
    for (uint64_t i = 0; i < ROUNDS; i++) {
        uint32_t status = index % 2 ? HTM_STARTED : htm_begin();
        if (status != HTM_STARTED)
            continue;
        if (index % 2) {
            CHECK(load_relaxed(&lines[0].cell) % 2 == 0);
            status = htm_begin();
            if (status == HTM_STARTED) {
                uint64_t first = load_relaxed(&lines[0].cell);
                pause_cycles(50);
                uint64_t second = load_relaxed(&lines[1].cell);
                htm_commit();
                CHECK_EQUAL(first, second);
                commits++;
            }
        } else {
            uint64_t old = load_relaxed(&lines[0].cell);
            store_relaxed(&lines[0].cell, old + 1);
            pause_cycles(50);
            store_relaxed(&lines[1].cell, old + 2);
            store_relaxed(&lines[0].cell, old + 2);
            htm_commit();
            commits++;
        }
    }
}

/* A read by another thread aborts a transaction that has written the line. */
static void responder_loses(unsigned index, void *argument)
{
    (void)argument;
    arrive_together(&meeting, 2);
    if (index == 1) {
        pause_cycles(INTERRUPT / 50);
        CHECK_EQUAL(load_relaxed(&lines[0].cell), 0);
        return;
    }
    uint32_t status = htm_begin();
    if (status == HTM_STARTED) {
        store_relaxed(&lines[0].cell, 1);
        pause_cycles(INTERRUPT / 10);
        htm_commit();
    }
    CHECK_EQUAL(status, HTM_CONFLICT | HTM_RETRY);
}

struct test_case {
    const char *name;
    unsigned workers;
    void (*body)(unsigned index, void *argument);
};

static const struct test_case cases[] = {
    {"capacity", 1, capacity},
    {"nesting", 1, nesting},
    {"going-back", 1, going_back},
    {"interrupts", 1, interrupts},
    {"one-counter", WORKERS, one_counter},
    {"own-counters", WORKERS, own_counters},
    {"isolation", WORKERS, isolation},
    {"responder-loses", 2, responder_loses},
};

static void run(const struct test_case *chosen)
{
    static int cpus[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        cpus[i] = i;
    CHECK(run_workers(chosen->workers, cpus, chosen->body, NULL));
    if (chosen->body == one_counter)
        CHECK_EQUAL(load_relaxed(&lines[0].cell), WORKERS * ROUNDS);
    for (int i = 0; i < WORKERS && chosen->body == own_counters; i++)
        CHECK_EQUAL(load_relaxed(&lines[1 + i].cell), ROUNDS);
    printf("{\"commits\":%llu,\"aborts\":%llu,\"conflicts\":%llu}\n",
           (unsigned long long)commits, (unsigned long long)aborts,
           (unsigned long long)conflicts);
}

int main(int count, char **words)
{
    CHECK_EQUAL(count, 3);
    CHECK(use_machine(words[1]));
    CHECK(htm_offered());
    lines = shared_pages(LINES * sizeof *lines, 0);
    fallback = shared_pages(sizeof *fallback, 0);
    CHECK(lines && fallback);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        if (strcmp(cases[i].name, words[2]) == 0) {
            run(&cases[i]);
            return 0;
        }
    }
    fprintf(stderr, "there is no case \"%s\"\n", words[2]);
    return 2;
}
