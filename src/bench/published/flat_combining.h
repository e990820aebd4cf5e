/* SPDX-License-Identifier: MIT */
/*
 * Flat combining in the form that RCL's authors compared with theirs. D. Hendler et
 * al., "Flat combining and the synchronization-parallelism tradeoff", SPAA 2010.
 *
 *   latch, passes, head   of an object, in one line: 1 while a thread combines; how
 *                         often threads have combined; the list of records
 *   next, active, section, argument, age   a thread's record: whether it is in the
 *                         list; its request, until `section` is reset; the pass in
 *                         which its last one was executed
 *
 * A combiner goes through the list once and frees the latch, for which the waiting
 * threads then compete. Each CLEANING passes it removes the records that have not been
 * in use for RECENT passes.
 */
#ifndef HASP_BENCH_PUBLISHED_FLAT_COMBINING_H
#define HASP_BENCH_PUBLISHED_FLAT_COMBINING_H

#include "bench/published/body.h"

enum { PUBLISHED_CLEANING = 100, PUBLISHED_RECENT = 10, PUBLISHED_PAGE = 4096 };

/* In a page of its own, which its thread touches first. */
struct published_record {
    struct atomic_u64 next;
    struct atomic_u32 active, age;
    struct atomic_u64 section, argument;
} __attribute__((aligned(PUBLISHED_PAGE)));

struct published_combining {
    struct atomic_u32 latch, passes;
    struct atomic_u64 head;
    struct published_record *records PUBLISHED_ALONE;
} PUBLISHED_ALONE;

static inline void published_combining_init(struct published_combining *object)
{
    object->records = (struct published_record *)map_pages(
        published_threads() * sizeof(struct published_record));
    if (!object->records)
        die("no memory for records");
}

static inline struct published_record *
published_record_at(const struct atomic_u64 *cell)
{
    return (struct published_record *)(uintptr_t)load_acquire(cell);
}

static inline void published_combining_enter(struct published_combining *object,
                                             struct published_record *own)
{
    if (load_relaxed(&own->active))
        return;
    store_relaxed(&own->active, 1);
    uint64_t first = load_relaxed(&object->head);
    do
        store_relaxed(&own->next, first);
    while (!compare_exchange_acq_rel(&object->head, &first, (uint64_t)(uintptr_t)own));
}

/* Removes the records that are no longer in use; never the first one. */
static inline void published_combining_clean(struct published_combining *object,
                                             uint32_t pass)
{
    struct published_record *before = published_record_at(&object->head), *record;
    while ((record = published_record_at(&before->next)) != NULL) {
        if (load_relaxed(&record->age) + PUBLISHED_RECENT < pass) {
            store_relaxed(&before->next, load_relaxed(&record->next));
            store_release(&record->active, 0);
        } else {
            before = record;
        }
    }
}

/* The caller has the latch. */
static inline void published_combining_pass(struct published_combining *object)
{
    const uint32_t pass = load_relaxed(&object->passes) + 1;
    store_relaxed(&object->passes, pass);
    for (struct published_record *record = published_record_at(&object->head); record;
         record = published_record_at(&record->next)) {
        const uint64_t section = load_acquire(&record->section);
        if (!section)
            continue;
        const void *result = ((void *(*)(void *))(uintptr_t)section)(
            (void *)(uintptr_t)load_relaxed(&record->argument));
        store_relaxed(&record->argument, (uint64_t)(uintptr_t)result);
        store_release(&record->section, 0);
        store_relaxed(&record->age, pass);
    }
    if (pass % PUBLISHED_CLEANING == 0)
        published_combining_clean(object, pass);
    store_release(&object->latch, 0);
}

static inline void *published_combining_run(struct published_combining *object,
                                            void *(*section)(void *), void *argument)
{
    struct published_record *own = &object->records[published_thread()];
    store_relaxed(&own->argument, (uint64_t)(uintptr_t)argument);
    store_release(&own->section, (uint64_t)(uintptr_t)section);
    for (;;) {
        published_combining_enter(object, own);
        spin_until(!load_relaxed(&object->latch) || !load_acquire(&own->section) ||
                   !load_relaxed(&own->active));
        if (!load_acquire(&own->section))
            break;
        if (!acquire_if(&object->latch, 0, 1))
            continue;
        published_combining_enter(object, own);
        published_combining_pass(object);
    }
    return (void *)(uintptr_t)load_relaxed(&own->argument);
}

#endif
