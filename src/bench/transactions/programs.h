/* SPDX-License-Identifier: MIT */
/*
 * The programs, written once. The file that includes this one defines:
 *
 *   WORD                     the type of a variable of transactions, zero if zeroed
 *   GET(word), SET(word, v)  outside of transactions
 *   BODY                     specifiers and result type of a transaction's function
 *   CONTEXT                  the type of its first parameter
 *   LOAD(word, variable), STORE(word, value), TAKE(node), GIVE(node), DONE
 *                            statements inside of it
 *   NEW_NODE(), RUN(body, step)
 *
 * The bank: accounts, transfers, and transactions that add all accounts up. The list: a
 * sorted list of keys. The table: buckets that are such lists.
 */
#include "bench/transactions/subject.h"

#include <stdlib.h>

struct node {
    WORD key, next;
};

/* What one transaction does, and its result. */
struct step {
    uint64_t from, to, sum; /* accounts */
    uint64_t key;
    WORD *head;
    int64_t inserted;
    struct load *load;
};

static WORD *cells; /* accounts, or heads of lists */
static uint64_t cell_count, element_count;

BODY transfer(CONTEXT tx, struct step *step)
{
    uint64_t from, to;
    LOAD(&cells[step->from], from);
    LOAD(&cells[step->to], to);
    STORE(&cells[step->from], from - 1);
    STORE(&cells[step->to], to + 1);
    DONE;
}

BODY read_all(CONTEXT tx, struct step *step)
{
    uint64_t sum = 0, one;
    for (uint64_t i = 0; i < cell_count; i++) {
        LOAD(&cells[i], one);
        sum += one;
    }
    step->sum = sum;
    DONE;
}

/* `link` leads to the first node whose key is not less. */
#define SEARCH(step)                                                                   \
    WORD *link = (step)->head;                                                         \
    uint64_t key = 0, at;                                                              \
    LOAD(link, at);                                                                    \
    while (at) {                                                                       \
        LOAD(&((struct node *)(uintptr_t)at)->key, key);                               \
        if (key >= (step)->key)                                                        \
            break;                                                                     \
        link = &((struct node *)(uintptr_t)at)->next;                                  \
        LOAD(link, at);                                                                \
    }                                                                                  \
    bool present = at && key == (step)->key

BODY look_up(CONTEXT tx, struct step *step)
{
    SEARCH(step);
    step->inserted = present;
    DONE;
}

BODY insert(CONTEXT tx, struct step *step)
{
    SEARCH(step);
    step->inserted = !present;
    if (!present) {
        struct node *fresh;
        TAKE(fresh);
        SET(&fresh->key, step->key);
        SET(&fresh->next, at);
        STORE(link, (uint64_t)(uintptr_t)fresh);
    }
    DONE;
}

BODY take_out(CONTEXT tx, struct step *step)
{
    SEARCH(step);
    step->inserted = -(int64_t)present;
    if (present) {
        uint64_t next;
        struct node *node = (struct node *)(uintptr_t)at;
        LOAD(&node->next, next);
        STORE(link, next);
        GIVE(node);
    }
    DONE;
}

static void step_bank(struct step *step, uint64_t random, uint32_t dice)
{
    if (dice < step->load->percent) {
        RUN(read_all, step);
        step->load->wrong += step->sum != cell_count * ACCOUNT;
        return;
    }
    step->from = random % cell_count;
    step->to = (step->from + 1 + (random >> 20) % (cell_count - 1)) % cell_count;
    RUN(transfer, step);
}

static void step_set(struct step *step, uint64_t random, uint32_t dice)
{
    step->key = 1 + random % (2 * element_count);
    step->head = &cells[step->key % cell_count];
    if (dice >= step->load->percent) {
        RUN(look_up, step);
        return;
    }
    if (dice % 2)
        RUN(insert, step);
    else
        RUN(take_out, step);
    step->load->inserted += step->inserted;
}

static void run_load(struct step *step)
{
    struct load *load = step->load;
    uint64_t done = 0;
    while (!__atomic_load_n(load->stop, __ATOMIC_RELAXED)) {
        for (int i = 0; i < CHECK_EVERY; i++) {
            uint64_t random = load_random(&load->random);
            uint32_t dice = (uint32_t)(random >> 40) % DICE;
            if (load->program == BANK)
                step_bank(step, random, dice);
            else
                step_set(step, random, dice);
        }
        done += CHECK_EVERY;
    }
    load->transactions = done;
}

/* Every second key is present at the beginning. */
static bool prepare_cells(enum program program, uint64_t elements)
{
    element_count = elements;
    cell_count = program == LIST ? 1 : program == TABLE ? elements / 2 : elements;
    cells = calloc(cell_count, sizeof *cells);
    if (!cells)
        return false;
    if (program == BANK) {
        for (uint64_t i = 0; i < cell_count; i++)
            SET(&cells[i], ACCOUNT);
        return true;
    }
    for (uint64_t i = elements; i; i--) {
        struct node *node = NEW_NODE();
        if (!node)
            return false;
        WORD *head = &cells[2 * i % cell_count];
        SET(&node->key, 2 * i);
        SET(&node->next, GET(head));
        SET(head, (uint64_t)(uintptr_t)node);
    }
    return true;
}

static bool check_cells(enum program program, int64_t inserted)
{
    uint64_t sum = 0, nodes = 0;
    for (uint64_t i = 0; i < cell_count; i++) {
        uint64_t last = 0, at = GET(&cells[i]);
        sum += at;
        while (program != BANK && at) {
            struct node *node = (struct node *)(uintptr_t)at;
            if (GET(&node->key) <= last)
                return false;
            last = GET(&node->key);
            at = GET(&node->next);
            nodes++;
        }
    }
    return program == BANK ? sum == cell_count * ACCOUNT
                           : nodes == element_count + (uint64_t)inserted;
}
