/* SPDX-License-Identifier: MIT */
#include "structures/map/threads.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

enum {
    PAGES_FROM = 256 << 10, /* bytes of a block that gets pages of its own */
    HUGE_PAGE = 2 << 20,
    RECORDS = 32, /* mapped at a time */
};

struct epochs threads_epochs;
struct epochs_record threads_none = {.epoch = {1}};
__thread struct epochs_record *threads_own = &threads_none;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t at_exit;
static bool prepared;

static void *take_block(void *context, size_t bytes, size_t alignment)
{
    (void)context;
    void *block = NULL;
    if (bytes >= PAGES_FROM) {
        block = map_pages(bytes);
        if (block && bytes >= HUGE_PAGE)
            madvise(block, bytes, MADV_HUGEPAGE);
        return block;
    }
    if (alignment <= _Alignof(max_align_t))
        return calloc(1, bytes);
    if (posix_memalign(&block, alignment, bytes) != 0)
        return NULL;
    return memset(block, 0, bytes);
}

static void give_block(void *context, void *block, size_t bytes)
{
    (void)context;
    if (bytes >= PAGES_FROM)
        munmap(block, bytes);
    else
        free(block);
}

const struct map_memory threads_memory = {take_block, give_block, NULL};

static void give_record(void *record)
{
    threads_own = &threads_none;
    epochs_give((struct epochs_record *)record);
}

/* The threads of the parent do not exist in the child. What they were doing to a map
 * when the process forked remains undone. */
static void free_records_in_child(void)
{
    struct epochs_record *record = epochs_first(&threads_epochs);
    for (; record; record = record->next)
        if (record != threads_own) {
            store_relaxed(&record->epoch, 0);
            store_release(&record->taken, 0);
        }
}

static void prepare(void)
{
    bool fenced = !heavy_barrier() && !(barrier_register() && heavy_barrier());
    epochs_prepare(&threads_epochs, fenced);
    prepared = pthread_key_create(&at_exit, give_record) == 0 &&
               pthread_atfork(NULL, NULL, free_records_in_child) == 0;
}

bool threads_prepare(void)
{
    pthread_once(&once, prepare);
    return prepared;
}

/* Adds new records to the list, all but the first one free, and returns that. */
static struct epochs_record *map_records(void)
{
    struct epochs_record *records =
        (struct epochs_record *)map_pages(RECORDS * sizeof *records);
    for (int i = RECORDS - 1; records && i >= 0; i--) {
        store_relaxed(&records[i].taken, i == 0);
        epochs_add(&threads_epochs, &records[i]);
    }
    return records;
}

struct epochs_record *threads_add_record(void)
{
    struct epochs_record *record = epochs_take(&threads_epochs);
    if (!record)
        record = map_records();
    if (record) {
        /* A section of a signal handler may have come first; its record stays taken. */
        threads_own = record;
        pthread_setspecific(at_exit, record);
    }
    return record;
}
