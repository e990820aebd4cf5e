/* SPDX-License-Identifier: MIT */
/*
 * Runs litmus tests from the literature under the explorer, which must find every
 * allowed outcome of each test, and no other.
 *
 *   litmus          runs all tests; exit status 1 if one fails
 *   litmus NAME...  runs the named tests
 */
#include "litmus/litmus.h"

#include "explorer/search/search.h"

#include <stdio.h>
#include <string.h>

enum { OUTCOMES = VALUES * VALUES * VALUES * VALUES };

struct atomic_u32 x, y, z;
uint32_t r[REGISTERS];
static bool seen[OUTCOMES];

static unsigned code(const uint32_t *values)
{
    unsigned result = 0;
    for (int i = 0; i < REGISTERS; i++)
        result = result * VALUES + values[i];
    return result;
}

/* This code is not instrumented, because the set of outcomes is not part of the run. */
void note_outcome(void);

void finish_seen(void)
{
    note_outcome();
}

void finish_x(void)
{
    r[3] = load_relaxed(&x);
    note_outcome();
}

void finish_xy(void)
{
    r[2] = load_relaxed(&y);
    finish_x();
}

void finish_y(void)
{
    r[3] = load_relaxed(&y);
    note_outcome();
}

__attribute__((no_sanitize("thread"))) void note_outcome(void)
{
    seen[code(r)] = true;
}

bool nothing(const uint32_t *v)
{
    return !v[0] && !v[1] && !v[2] && !v[3];
}

static bool outcomes_are_right(const char *name, bool (*allowed)(const uint32_t *))
{
    bool right = true;
    for (unsigned i = 0; i < OUTCOMES; i++) {
        const uint32_t v[REGISTERS] = {i / 64, i / 16 % 4, i / 4 % 4, i % 4};
        if (allowed(v) == seen[i])
            continue;
        right = false;
        printf("%s: %u %u %u %u is %s, but was %s\n", name, v[0], v[1], v[2], v[3],
               allowed(v) ? "allowed" : "forbidden", seen[i] ? "seen" : "not seen");
    }
    return right;
}

static bool is_right(const struct litmus *test)
{
    const struct client client = {.name = test->name,
                                  .threads = test->threads,
                                  .body = test->body,
                                  .finish = test->finish};
    const struct limits limits = {
        .preemptions = UNBOUNDED, .seconds = 60, .states = 1000000};
    memset(seen, 0, sizeof seen);
    struct outcome outcome = search(&client, &limits);
    if (strcmp(outcome.verdict, test->verdict) != 0) {
        printf("%s: %s (%s) instead of %s\n", test->name, outcome.verdict,
               outcome.detail, test->verdict);
        return false;
    }
    if (!test->allowed)
        return true;
    if (!outcome.complete) {
        printf("%s: incomplete\n", test->name);
        return false;
    }
    return outcomes_are_right(test->name, test->allowed);
}

static bool is_chosen(const char *name, int count, char **words)
{
    for (int i = 1; i < count; i++)
        if (strcmp(name, words[i]) == 0)
            return true;
    return count == 1;
}

int main(int count, char **words)
{
    static const struct litmus *const lists[] = {asymmetric_tests, ordering_tests,
                                                 cells_tests, plain_data_tests,
                                                 sleeping_tests};
    unsigned wrong = 0, run = 0;
    for (unsigned i = 0; i < sizeof lists / sizeof lists[0]; i++)
        for (const struct litmus *test = lists[i]; test->name; test++)
            if (is_chosen(test->name, count, words)) {
                run++;
                wrong += !is_right(test);
            }
    printf("%u of %u litmus tests passed\n", run - wrong, run);
    return wrong || !run;
}
