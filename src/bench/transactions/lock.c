/* SPDX-License-Identifier: MIT */
/* The programs with one lock of the list around each step. */
#include "locks/list/descriptor.h"

#include <stdlib.h>

#define WORD uint64_t
#define GET(word) (*(word))
#define SET(word, value) (*(word) = (value))
#define BODY static void
#define CONTEXT const void *
#define LOAD(word, variable) ((void)tx, (variable) = *(word))
#define STORE(word, value) (*(word) = (value))
#define TAKE(node)                                                                     \
    if (!((node) = NEW_NODE()))                                                        \
    abort()
#define GIVE(node) free(node)
#define DONE ((void)0)
#define NEW_NODE() calloc(1, sizeof(struct node))
#define RUN(body, step)                                                                \
    (operations.lock(&the_lock), body(NULL, step), operations.unlock(&the_lock))

static struct lock the_lock __attribute__((aligned(CACHE_LINE)));
static struct lock_operations operations;

#include "bench/transactions/programs.inc"

static bool prepare(enum program program, uint64_t elements, const char *lock)
{
    int index = lock_find(lock ? lock : "futex");
    if (index <= 0)
        return false;
    operations = lock_at((unsigned)index).operations;
    return prepare_cells(program, elements);
}

static void work(struct load *load)
{
    struct step step = {.load = load};
    run_load(&step);
}

static struct subject subject = {"lock", prepare, work, check_cells, NULL};

static __attribute__((constructor)) void add(void)
{
    subject_add(&subject);
}
