/* SPDX-License-Identifier: MIT */
#include "simulator/futex_bucket.h"
#include "simulator/memory.h"
#include "simulator/scheduler.h"

/* Linux has 256 for each CPU, rounded up to a power of two: as many with 64 CPUs. */
enum { BUCKETS_LOG = 14, ALONE = 64 };

struct futex_bucket {
    uint32_t waiters;
    uint32_t next;    /* ticket: the next one to draw; queue: 1 + the last waiter */
    uint32_t serving; /* ticket: that of the holder; queue: 1 if it is held */
} __attribute__((aligned(ALONE)));

struct queued {
    uint32_t next; /* 1 + the thread behind */
    uint32_t waits;
} __attribute__((aligned(ALONE)));

static struct futex_bucket buckets[1 << BUCKETS_LOG];
static struct queued queue[THREADS_MAX]; /* by thread */

static uint32_t read_cell(const uint32_t *cell)
{
    return (uint32_t)simulated_load(cell, sizeof *cell);
}

static void write_cell(uint32_t *cell, uint32_t value)
{
    simulated_store(cell, sizeof *cell, value);
}

static uint32_t change_cell(uint32_t *cell, enum simulated_change change,
                            uint32_t value)
{
    return (uint32_t)simulated_change(cell, sizeof *cell, change, value);
}

static void wait_while(const uint32_t *cell, uint32_t value)
{
    while (read_cell(cell) == value)
        (void)simulated_relax(UINT32_MAX);
}

/* A multiplicative hash, where the kernel has another one. The program's static
 * variables have another address in each run. */
struct futex_bucket *futex_bucket_of(const void *futex)
{
    uintptr_t at = (uintptr_t)futex - ARENA_START;
    if (machine.scheduler.kernel_lock == KERNEL_LOCK_NONE)
        return NULL;
    if (at >= ARENA_BYTES)
        at = ARENA_BYTES + ((uintptr_t)futex - (uintptr_t)memory.statics);
    return &buckets[(at >> 2) * 0x9e3779b97f4a7c15u >> (64 - BUCKETS_LOG)];
}

bool futex_bucket_has_waiters(struct futex_bucket *bucket)
{
    return !bucket || read_cell(&bucket->waiters);
}

void futex_bucket_count(struct futex_bucket *bucket, int change)
{
    if (bucket)
        change_cell(&bucket->waiters, SIMULATED_ADD, (uint32_t)change);
}

static void lock_by_ticket(struct futex_bucket *bucket)
{
    const uint32_t mine = change_cell(&bucket->next, SIMULATED_ADD, 1);
    while (read_cell(&bucket->serving) != mine)
        (void)simulated_relax(UINT32_MAX);
}

/* The first in the queue waits for the holder, and then lets the next one do so. */
static void lock_by_queue(struct futex_bucket *bucket)
{
    const uint32_t self = running->index + 1u;
    struct queued *mine = &queue[self - 1];
    write_cell(&mine->next, 0);
    write_cell(&mine->waits, 1);
    const uint32_t before = change_cell(&bucket->next, SIMULATED_EXCHANGE, self);
    if (before) {
        write_cell(&queue[before - 1].next, self);
        wait_while(&mine->waits, 1);
    }
    wait_while(&bucket->serving, 1);
    write_cell(&bucket->serving, 1);
    uint64_t last = self;
    if (simulated_compare_exchange(&bucket->next, sizeof bucket->next, &last, 0))
        return;
    wait_while(&mine->next, 0);
    write_cell(&queue[read_cell(&mine->next) - 1].waits, 0);
}

void futex_bucket_lock(struct futex_bucket *bucket)
{
    if (!bucket)
        return;
    schedules[running->index].in_kernel = true;
    if (machine.scheduler.kernel_lock == KERNEL_LOCK_TICKET)
        lock_by_ticket(bucket);
    else
        lock_by_queue(bucket);
}

void futex_bucket_unlock(struct futex_bucket *bucket)
{
    if (!bucket)
        return;
    if (machine.scheduler.kernel_lock == KERNEL_LOCK_TICKET)
        write_cell(&bucket->serving, read_cell(&bucket->serving) + 1);
    else
        write_cell(&bucket->serving, 0);
    simulated_fence();
    schedules[running->index].in_kernel = false;
}
