/* SPDX-License-Identifier: MIT */
/* Random sections whose effect is known, for transactions that roll back: if one that
 * aborted left anything behind, a sum is wrong. */
#include "check.h"

enum { THREADS = 2, ROUNDS = 60, CELLS = 4096, LOCKS = 4 };

struct node {
    struct node *next;
    long value;
};

static pthread_mutex_t locks[LOCKS];
static long cells[CELLS]; /* on several pages */
static struct node *list;
static long listed, total;

static unsigned next_random(unsigned *state)
{
    *state = *state * 1103515245 + 12345;
    return *state >> 8;
}

static void change(unsigned *random, long *here)
{
    const unsigned at = next_random(random) % CELLS;
    const long value = next_random(random) % 100;
    long copy[8];
    for (int i = 0; i < 8; i++)
        copy[i] = cells[(at + (unsigned)i) % CELLS];
    cells[at] += value;
    total += value;
    *here += value;
    struct node *node = malloc(sizeof *node);
    *node = (struct node){list, value};
    list = node;
    listed++;
    for (int i = 1; i < 8; i++)
        if ((at + (unsigned)i) % CELLS != at)
            CHECK_EQUAL(cells[(at + (unsigned)i) % CELLS], copy[i]);
}

static void *sections(void *result)
{
    unsigned random = (unsigned)(*(long *)result + 1);
    long here = 0;
    for (int i = 0; i < ROUNDS; i++) {
        const unsigned depth = next_random(&random) % LOCKS;
        for (unsigned k = 0; k <= depth; k++)
            CHECK_OK(pthread_mutex_lock(&locks[k]));
        change(&random, &here);
        for (unsigned k = depth + 1; k-- > 0;)
            CHECK_OK(pthread_mutex_unlock(&locks[k]));
    }
    *(long *)result = here;
    return NULL;
}

static void random_sections(void)
{
    pthread_t threads[THREADS];
    long results[THREADS], sum = 0, by_cells = 0, by_list = 0, length = 0;
    for (int i = 0; i < THREADS; i++) {
        results[i] = i;
        threads[i] = check_start(sections, &results[i]);
    }
    for (int i = 0; i < THREADS; i++) {
        check_join(threads[i]);
        sum += results[i];
    }
    for (int i = 0; i < CELLS; i++)
        by_cells += cells[i];
    for (const struct node *node = list; node; node = node->next, length++)
        by_list += node->value;
    CHECK_EQUAL(sum, total);
    CHECK_EQUAL(sum, by_cells);
    CHECK_EQUAL(sum, by_list);
    CHECK_EQUAL(length, listed);
    CHECK_EQUAL(listed, THREADS * ROUNDS);
}

/* A system call cannot be rolled back, so the section takes its lock before it. */
static void *calls(void *count)
{
    for (int i = 0; i < 5; i++) {
        CHECK_OK(pthread_mutex_lock(&locks[0]));
        ++*(int *)count;
        CHECK(getppid() > 0);
        CHECK_OK(pthread_mutex_unlock(&locks[0]));
    }
    return NULL;
}

static void system_calls(void)
{
    int count = 0;
    check_join(check_start(calls, &count));
    CHECK_EQUAL(count, 5);
}

/* Nested sections, of which the innermost one cannot be a transaction. */
static void *nest(void *unused)
{
    static pthread_mutex_t levels[7];
    for (int i = 0; i < 7; i++)
        CHECK_OK(pthread_mutex_lock(&levels[i]));
    CHECK(getppid() > 0);
    for (int i = 7; i-- > 0;)
        CHECK_OK(pthread_mutex_unlock(&levels[i]));
    return unused;
}

static void cascade(void)
{
    check_join(check_start(nest, NULL));
}

CHECK_MAIN(CASE(random_sections), CASE(system_calls), CASE(cascade))
