/* SPDX-License-Identifier: MIT */
/* The programs with GCC's transactional memory (-fgnu-tm, libitm). */
#include <stdint.h>
#include <stdlib.h>

#define WORD uint64_t
#define GET(word) (*(word))
#define SET(word, value) (*(word) = (value))
#define BODY static __attribute__((transaction_safe)) void
#define CONTEXT const void *
#define LOAD(word, variable) ((void)tx, (variable) = *(word))
#define STORE(word, value) (*(word) = (value))
#define TAKE(node) (node) = NEW_NODE()
#define GIVE(node) free(node)
#define DONE ((void)0)
#define NEW_NODE() malloc(sizeof(struct node))
#define RUN(body, step)                                                                \
    do {                                                                               \
        __transaction_atomic                                                           \
        {                                                                              \
            body(NULL, step);                                                          \
        }                                                                              \
    } while (0)

#include "bench/transactions/programs.inc"

static bool prepare(enum program program, uint64_t elements, const char *lock)
{
    return !lock && prepare_cells(program, elements);
}

static void work(struct load *load)
{
    struct step step = {.load = load};
    run_load(&step);
}

static struct subject subject = {"libitm", prepare, work, check_cells, NULL};

static __attribute__((constructor)) void add(void)
{
    subject_add(&subject);
}
