/* SPDX-License-Identifier: MIT */
/* The records are in chunks that are never unmapped. Threads for which there is no
 * record share the last one, and may then lose counts. Released records form a stack:
 * the upper half of its head is a number that each change increments, the lower half
 * the index of the first record, plus one. */
#include "elision/counts.h"

#include "platform/platform.h"

enum { CHUNK = 128, CHUNKS = 256 };

struct record {
    struct elision_counts counts __attribute__((aligned(CACHE_LINE)));
    struct elision_counts kept; /* by elision_counts_keep() */
    struct atomic_u32 next; /* in the stack: index plus one, 0 at its end */
    uint32_t index;
};

static struct record first[CHUNK];
static struct atomic_u64 chunks[CHUNKS]; /* addresses; chunk 0 is `first` */
static struct atomic_u32 claimed;
static struct atomic_u64 released;

static struct record *chunk_at(uint32_t index)
{
    if (index == 0)
        return first;
    uint64_t address = load_acquire(&chunks[index]), none = 0;
    if (address)
        return (struct record *)(uintptr_t)address;
    void *fresh = map_pages(CHUNK * sizeof(struct record));
    if (!fresh)
        return NULL;
    /* A lost race leaves pages that are never touched. */
    if (compare_exchange_acq_rel(&chunks[index], &none, (uint64_t)(uintptr_t)fresh))
        return fresh;
    return (struct record *)(uintptr_t)none;
}

static struct record *record_at(uint32_t index)
{
    struct record *chunk = chunk_at(index / CHUNK);
    return chunk ? &chunk[index % CHUNK] : NULL;
}

static struct record *pop(void)
{
    uint64_t head = load_acquire(&released), rest;
    struct record *record;
    do {
        if (!(uint32_t)head)
            return NULL;
        record = record_at((uint32_t)head - 1); /* stays mapped */
        rest = ((head >> 32) + 1) << 32 | load_relaxed(&record->next);
    } while (!compare_exchange_acq_rel(&released, &head, rest));
    return record;
}

void elision_counts_release(struct elision_counts *counts)
{
    struct record *record = (struct record *)counts;
    uint64_t head = load_relaxed(&released), top;
    if (record->index == CHUNK * CHUNKS - 1)
        return; /* shared */
    do {
        store_relaxed(&record->next, (uint32_t)head);
        top = ((head >> 32) + 1) << 32 | (record->index + 1);
    } while (!compare_exchange_release(&released, &head, top)); /* to pop() */
}

struct elision_counts *elision_counts_claim(void)
{
    struct record *record = pop();
    if (record)
        return &record->counts;
    uint32_t number = fetch_add_relaxed(&claimed, 1);
    if (number >= CHUNK * CHUNKS)
        store_relaxed(&claimed, number = CHUNK * CHUNKS - 1);
    record = record_at(number);
    if (!record) /* no memory */
        return &first[CHUNK - 1].counts;
    record->index = number;
    return &record->counts;
}

/* Sums of 64-bit words, as which all counts may be accessed. */
typedef uint64_t __attribute__((may_alias)) word;

static void add(struct elision_counts *to, const struct elision_counts *from)
{
    word *sums = (word *)to;
    const word *more = (const word *)from;
    for (unsigned i = 0; i < ELISION_COUNTS; i++)
        sums[i] += more[i];
}

void elision_counts_keep(struct elision_counts *counts)
{
    struct record *record = (struct record *)counts;
    add(&record->kept, counts);
    *counts = (struct elision_counts){.begins = 0};
}

struct elision_counts elision_counts_sum(void)
{
    struct elision_counts sum = {.begins = 0};
    for (uint32_t i = 0; i < CHUNKS; i++) {
        struct record *chunk =
            i ? (struct record *)(uintptr_t)load_acquire(&chunks[i]) : first;
        for (uint32_t j = 0; chunk && j < CHUNK; j++) {
            add(&sum, &chunk[j].counts);
            add(&sum, &chunk[j].kept);
        }
    }
    return sum;
}
