/* SPDX-License-Identifier: MIT */
/* A way to make a program's steps atomic, and what its threads do with it. */
#ifndef HASP_BENCH_TRANSACTIONS_SUBJECT_H
#define HASP_BENCH_TRANSACTIONS_SUBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum program { BANK, LIST, TABLE, MAPREDUCE, PROGRAMS };

enum { DICE = 1024, CHECK_EVERY = 16, LINE_BYTES = 128, ACCOUNT = 1000 };

/* Why transactions were aborted, as far as the subject tells. */
enum cause {
    LOAD_LOCKED,
    LOAD_CHANGED,
    COMMIT_LOCKED,
    COMMIT_CHANGED,
    CLOSED,
    READ_AFTER_WRITE, /* over messages */
    WRITE_AFTER_READ,
    WRITE_AFTER_WRITE,
    CAUSES
};

/* What a worker does, and what it has done. */
struct load {
    const bool *stop;
    enum program program;
    uint64_t elements;
    uint32_t percent; /* DICE: of read-alls of the bank, or of updates */
    uint64_t random;  /* state */
    uint64_t transactions, wrong;
    int64_t inserted;
    bool counts_aborts;
    uint64_t aborts[CAUSES], alone, most_retries;
    char apart[LINE_BYTES];
};

struct subject {
    const char *name;
    /* Prepares the program's data, with so many accounts or keys. `lock`: of the list,
     * MANAGER=SERVERS for transactions over messages, or NULL. Returns false if that is
     * not possible. */
    bool (*prepare)(enum program program, uint64_t elements, const char *lock);
    void (*work)(struct load *load);
    /* Returns whether the data are as they must be after so many insertions. */
    bool (*check)(enum program program, int64_t inserted);
    struct subject *next;
};

void subject_add(struct subject *subject);

static inline uint64_t load_random(uint64_t *state)
{
    uint64_t mixed = *state += 0x9e3779b97f4a7c15u;
    mixed = (mixed ^ mixed >> 30) * 0xbf58476d1ce4e5b9u;
    return mixed ^ mixed >> 27;
}

#endif
