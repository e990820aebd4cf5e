/* SPDX-License-Identifier: MIT */
/* One thread: results, limits, counts, and memory. */
#include "../check.h"

#include "hasp/transaction.h"

#include "platform/platform.h"

#include <stdlib.h>
#include <string.h>

enum { MANY = 3000, MINE = 42, ATTEMPTS = 3 };

static struct hasp_tm *tm;
static struct hasp_tx *tx;
static struct hasp_word words[MANY];
static long allocated, allowed = -1; /* blocks; -1: any number */

static void *allocate(void *context, size_t bytes)
{
    CHECK(context == &allocated);
    if (allowed == 0)
        return NULL;
    allowed -= allowed > 0;
    allocated++;
    return calloc(1, bytes);
}

static void release(void *context, void *memory, size_t bytes)
{
    (void)context;
    memset(memory, 0xa5, bytes);
    allocated--;
    free(memory);
}

static const struct hasp_tm_memory memory = {allocate, release, &allocated};

static void check_options(void)
{
    struct hasp_tm *other = NULL;
    struct hasp_tx *wrong = NULL;
    struct hasp_tm_options bad[] = {{.stripes = 3},
                                    {.stripes = (uint64_t)1 << 40},
                                    {.stripe_bytes = 4},
                                    {.stripe_bytes = 24},
                                    {.stripe_bytes = 8192}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_EQUAL(hasp_tm_create(&other, &bad[i]), HASP_TX_BAD_OPTIONS);
    struct hasp_tm_options unknown = {.lock_name = "no-such-lock"};
    CHECK_EQUAL(hasp_tm_create(&other, &unknown), HASP_TX_UNKNOWN_LOCK);
    unknown.lock_name = "glibc";
    CHECK_EQUAL(hasp_tm_create(&other, &unknown), HASP_TX_UNKNOWN_LOCK);
    struct hasp_tx_options huge = {.loads = UINT32_MAX};
    CHECK_EQUAL(hasp_tx_open(&wrong, tm, &huge), HASP_TX_BAD_OPTIONS);
    CHECK(!other && !wrong);
    hasp_tm_destroy(NULL);
    hasp_tx_close(NULL);
}

static int add_one(struct hasp_tx *tx, void *word)
{
    uint64_t value;
    HASP_TX_TRY(hasp_tx_load(tx, word, &value));
    return hasp_tx_store(tx, word, value + 1);
}

static void check_messages(void)
{
    enum { OPEN = 64 };
    struct hasp_tm *over = NULL;
    struct hasp_tx *all[OPEN + 1] = {NULL};
    static struct hasp_word word;
    const struct hasp_tm_options bad[] = {{.servers = 9},
                                          {.servers = 1, .manager = "no-such"},
                                          {.manager = "fair"},
                                          {.eager = true}};
    struct hasp_tm_options good = {.servers = 2, .manager = "greedy"};
    for (unsigned i = 0; i < sizeof bad / sizeof bad[0]; i++)
        CHECK_EQUAL(hasp_tm_create(&over, &bad[i]), HASP_TX_BAD_OPTIONS);
    CHECK_EQUAL(hasp_tm_create(&over, &good), HASP_TX_OK);
    for (unsigned i = 0; i < OPEN; i++)
        CHECK_EQUAL(hasp_tx_open(&all[i], over, NULL), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_open(&all[OPEN], over, NULL), HASP_TX_TOO_MANY);
    hasp_tx_close(all[7]);
    CHECK_EQUAL(hasp_tx_open(&all[7], over, NULL), HASP_TX_OK);
    for (unsigned i = 0; i < OPEN; i += 7)
        CHECK_EQUAL(hasp_tx_run(all[i], add_one, &word), HASP_TX_OK);
    CHECK_EQUAL(hasp_tm_load(over, &word), 10);
    hasp_tm_store(over, &word, 5);
    CHECK_EQUAL(hasp_tm_load(over, &word), 5);
    CHECK_EQUAL(hasp_tx_begin(all[0]), HASP_TX_OK);
    uint64_t value = 0;
    CHECK_EQUAL(hasp_tx_load(all[0], &word, &value), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_forget(all[0], &word), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_run(all[1], add_one, &word), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_commit(all[0]), HASP_TX_OK);
    for (unsigned i = 0; i < OPEN; i++)
        hasp_tx_close(all[i]);
    hasp_tm_destroy(over);
}

static void check_misuse(void)
{
    uint64_t value = 1;
    void *block = NULL;
    CHECK_EQUAL(hasp_tx_load(tx, &words[0], &value), HASP_TX_OUTSIDE);
    CHECK_EQUAL(hasp_tx_store(tx, &words[0], 5), HASP_TX_OUTSIDE);
    CHECK_EQUAL(hasp_tx_allocate(tx, 8, &block), HASP_TX_OUTSIDE);
    CHECK_EQUAL(hasp_tx_free(tx, words), HASP_TX_OUTSIDE);
    CHECK_EQUAL(hasp_tx_forget(tx, &words[0]), HASP_TX_OUTSIDE);
    CHECK_EQUAL(hasp_tx_commit(tx), HASP_TX_OUTSIDE);
    CHECK_EQUAL(hasp_tx_abort(tx), HASP_TX_OUTSIDE);
    CHECK(value == 1 && !block);
    CHECK_EQUAL(hasp_tx_begin(tx), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_store(tx, &words[0], 5), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_begin(tx), HASP_TX_NESTED);
    CHECK(!hasp_tm_await(tm));
    CHECK_EQUAL(hasp_tm_load(tm, &words[0]), 0);
    CHECK_EQUAL(hasp_tx_commit(tx), HASP_TX_OK);
    CHECK_EQUAL(hasp_tm_load(tm, &words[0]), 5);
    hasp_tm_store(tm, &words[0], 0);
}

/* All words, stored twice, and loaded before and after. */
static void check_many(void)
{
    for (uint64_t round = 1; round < 4; round++) {
        CHECK_EQUAL(hasp_tx_begin(tx), HASP_TX_OK);
        for (uint64_t i = 0; i < MANY; i++) {
            uint64_t value = 0;
            CHECK_EQUAL(hasp_tx_load(tx, &words[i], &value), HASP_TX_OK);
            CHECK_EQUAL(value, (round - 1) * i);
            CHECK_EQUAL(hasp_tx_store(tx, &words[i], 0), HASP_TX_OK);
            CHECK_EQUAL(hasp_tx_store(tx, &words[i], round * i), HASP_TX_OK);
        }
        for (uint64_t i = 0; i < MANY; i++) {
            uint64_t value = 0;
            CHECK_EQUAL(hasp_tx_load(tx, &words[i], &value), HASP_TX_OK);
            CHECK_EQUAL(value, round * i);
            CHECK_EQUAL(hasp_word_get(&words[i]), (round - 1) * i);
        }
        CHECK_EQUAL(hasp_tx_commit(tx), HASP_TX_OK);
    }
    CHECK_EQUAL(hasp_tx_begin(tx), HASP_TX_OK);
    for (uint64_t i = 0; i < MANY; i++)
        CHECK_EQUAL(hasp_tx_store(tx, &words[i], 0), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_abort(tx), HASP_TX_OK);
    CHECK_EQUAL(hasp_word_get(&words[MANY - 1]), 3 * (MANY - 1));
}

static void check_limits(void)
{
    struct hasp_tx_options few = {.loads = 4, .stores = 3};
    struct hasp_tx *small;
    struct hasp_tx_counts counts;
    uint64_t value = 0;
    CHECK_EQUAL(hasp_tx_open(&small, tm, &few), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_begin(small), HASP_TX_OK);
    for (unsigned i = 0; i < few.loads; i++)
        CHECK_EQUAL(hasp_tx_load(small, &words[i], &value), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_load(small, &words[0], &value), HASP_TX_TOO_LARGE);
    CHECK_EQUAL(hasp_tx_store(small, &words[0], 1), HASP_TX_TOO_LARGE);
    CHECK_EQUAL(hasp_tx_commit(small), HASP_TX_TOO_LARGE);

    CHECK_EQUAL(hasp_tx_begin(small), HASP_TX_OK);
    for (unsigned i = 0; i < few.stores; i++)
        CHECK_EQUAL(hasp_tx_store(small, &words[i], 99), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_store(small, &words[2], 98), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_store(small, &words[3], 99), HASP_TX_TOO_LARGE);
    CHECK_EQUAL(hasp_tx_abort(small), HASP_TX_OK);
    CHECK_EQUAL(hasp_word_get(&words[2]), 6);

    CHECK_EQUAL(hasp_tx_begin(small), HASP_TX_OK);
    for (unsigned i = 0; i < few.stores; i++)
        CHECK_EQUAL(hasp_tx_free(small, &words[i]), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_free(small, NULL), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_free(small, &words[3]), HASP_TX_TOO_LARGE);
    hasp_tx_count(small, &counts);
    CHECK_EQUAL(counts.too_large, 3);
    CHECK_EQUAL(counts.committed, 0);
    hasp_tx_close(small); /* while it is running */
}

/* Conflicts with itself, by direct stores, until it runs alone. */
static int conflict(struct hasp_tx *own, void *argument)
{
    uint64_t value;
    ++*(int *)argument;
    HASP_TX_TRY(hasp_tx_load(own, &words[0], &value));
    if (!hasp_tx_is_alone(own))
        hasp_tm_store(tm, &words[0], value);
    return hasp_tx_store(own, &words[1], 8);
}

static int abort_it(struct hasp_tx *own, void *argument)
{
    (void)argument;
    HASP_TX_TRY(hasp_tx_store(own, &words[2], 1000));
    return MINE;
}

/* Runs again because the program wants it. */
static int third_time(struct hasp_tx *own, void *argument)
{
    HASP_TX_TRY(hasp_tx_store(own, &words[2], 6));
    return ++*(int *)argument < 3 ? HASP_TX_AGAIN : HASP_TX_OK;
}

static void check_runs(void)
{
    int runs = 0;
    struct hasp_tx_counts before, after;
    hasp_tx_count(tx, &before);
    CHECK_EQUAL(hasp_tx_run(tx, conflict, &runs), HASP_TX_OK);
    CHECK_EQUAL(runs, ATTEMPTS + 1);
    CHECK_EQUAL(hasp_word_get(&words[1]), 8);
    hasp_tx_count(tx, &after);
    CHECK_EQUAL(after.commit_changed - before.commit_changed, ATTEMPTS);
    CHECK_EQUAL(after.committed_alone - before.committed_alone, 1);
    CHECK_EQUAL(after.most_retries, ATTEMPTS);
    hasp_tm_store(tm, &words[1], 3); /* the clock is open */

    CHECK_EQUAL(hasp_tx_run(tx, abort_it, NULL), MINE);
    CHECK_EQUAL(hasp_word_get(&words[2]), 6);
    runs = 0;
    CHECK_EQUAL(hasp_tx_run(tx, third_time, &runs), HASP_TX_OK);
    CHECK_EQUAL(runs, 3);
    CHECK_EQUAL(hasp_tx_begin(tx), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_run(tx, abort_it, NULL), HASP_TX_NESTED);
    CHECK_EQUAL(hasp_tx_abort(tx), HASP_TX_OK);
    hasp_tx_count(tx, &after);
    CHECK_EQUAL(after.by_program - before.by_program, 4);
}

static void check_conflicts(void)
{
    uint64_t value, changed = hasp_word_get(&words[0]);
    CHECK_EQUAL(hasp_tx_begin(tx), HASP_TX_OK); /* moves on in time */
    CHECK_EQUAL(hasp_tx_load(tx, &words[0], &value), HASP_TX_OK);
    hasp_tm_store(tm, &words[100], 7);
    CHECK_EQUAL(hasp_tx_load(tx, &words[100], &value), HASP_TX_OK);
    CHECK_EQUAL(value, 7);
    hasp_tm_store(tm, &words[0], changed);
    hasp_tm_store(tm, &words[200], 7);
    value = 1;
    CHECK_EQUAL(hasp_tx_load(tx, &words[200], &value), HASP_TX_AGAIN);
    CHECK_EQUAL(value, 1);
    CHECK_EQUAL(hasp_tx_load(tx, &words[300], &value), HASP_TX_AGAIN);
    CHECK_EQUAL(hasp_tx_commit(tx), HASP_TX_AGAIN);

    CHECK_EQUAL(hasp_tx_begin(tx), HASP_TX_OK); /* a load is forgotten */
    CHECK_EQUAL(hasp_tx_load(tx, &words[0], &value), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_load(tx, &words[0], &value), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_forget(tx, &words[0]), HASP_TX_OK);
    hasp_tm_store(tm, &words[0], changed);
    CHECK_EQUAL(hasp_tx_store(tx, &words[400], 1), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_commit(tx), HASP_TX_OK);
}

static void check_memory(void)
{
    void *block = NULL, *other = NULL;
    long before = allocated;
    CHECK_EQUAL(hasp_tx_begin(tx), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_allocate(tx, 24, &block), HASP_TX_OK);
    CHECK((uintptr_t)block % 16 == 0 && allocated == before + 1);
    CHECK_EQUAL(hasp_tx_abort(tx), HASP_TX_OK);
    CHECK_EQUAL(allocated, before);

    CHECK_EQUAL(hasp_tx_begin(tx), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_allocate(tx, 24, &block), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_allocate(tx, 24, &other), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_free(tx, other), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_commit(tx), HASP_TX_OK);
    CHECK(hasp_tm_await(tm));
    CHECK_EQUAL(allocated, before + 1);

    CHECK_EQUAL(hasp_tx_begin(tx), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_free(tx, block), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_abort(tx), HASP_TX_OK);
    CHECK(hasp_tm_await(tm));
    CHECK_EQUAL(allocated, before + 1);
    hasp_tm_free(tm, block);
    hasp_tm_free(tm, NULL);

    allowed = 0;
    CHECK_EQUAL(hasp_tx_begin(tx), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_allocate(tx, 24, &block), HASP_TX_NO_MEMORY);
    CHECK_EQUAL(hasp_tx_store(tx, &words[0], 1), HASP_TX_NO_MEMORY);
    CHECK_EQUAL(hasp_tx_commit(tx), HASP_TX_NO_MEMORY);
    CHECK(!hasp_tm_allocate(tm, 24) && !hasp_tm_allocate(tm, SIZE_MAX));
    for (allowed = 0; allowed < 4; allowed++) {
        struct hasp_tx *none = NULL;
        long limit = allowed;
        CHECK_EQUAL(hasp_tx_open(&none, tm, NULL), HASP_TX_NO_MEMORY);
        allowed = limit;
        CHECK(!none && allocated == before);
    }
    allowed = -1;
}

static void check_words(void)
{
    CHECK(strcmp(hasp_tx_explain(HASP_TX_OK), "done") == 0);
    CHECK(strstr(hasp_tx_explain(HASP_TX_UNKNOWN_LOCK), "no lock"));
    CHECK(strstr(hasp_tx_explain(HASP_TX_AGAIN), "run again"));
    CHECK(strstr(hasp_tx_explain(MINE), "aborted"));
    CHECK(strstr(hasp_tx_explain(-100), "no such"));
}

int main(void)
{
    struct hasp_tm_options options = {
        .lock_name = "mcs-park", .attempts = ATTEMPTS, .memory = &memory};
    CHECK_EQUAL(hasp_tm_create(&tm, &options), HASP_TX_OK);
    CHECK_EQUAL(hasp_tx_open(&tx, tm, NULL), HASP_TX_OK);
    check_options();
    check_misuse();
    check_messages();
    check_many();
    check_limits();
    check_runs();
    check_conflicts();
    check_memory();
    check_words();
    hasp_tx_close(tx);
    hasp_tm_destroy(tm);
    CHECK_EQUAL(allocated, 0);
    return 0;
}
