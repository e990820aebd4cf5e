/* SPDX-License-Identifier: MIT */
/*
 * A page cache like those of databases, with one lock for its directory and one for
 * each frame. An operation pins the page in the directory, evicting the least recently
 * used page if necessary; locks the frame, loads the page if it is absent, and updates
 * it; and unpins the page.
 *
 * A page can be in any of WAYS frames. If all of them are pinned, the operation is
 * retried.
 */
#include "bench/workloads/guarded.h"
#include "bench/workloads/list.h"

enum { WAYS = 8 };

/* A directory entry. */
struct entry {
    struct atomic_u64 page; /* + 1; 0 is no page */
    struct atomic_u64 pins;
    struct atomic_u64 used; /* time of the last use, in directory operations */
};

struct frame {
    struct mutex mutex __attribute__((aligned(CACHE_LINE)));
    struct ledger ledger __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 page; /* + 1, of the loaded content */
    struct atomic_u64 updates;
};

struct page_cache {
    struct mutex mutex __attribute__((aligned(CACHE_LINE)));
    struct ledger ledger __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 now;
    struct entry entries[];
};

/* Returns the number of frames, rounded down to whole sets. */
static uint64_t frame_count(const struct run *run)
{
    return run->knobs[KNOB_FRAMES] / WAYS * WAYS;
}

static size_t head_bytes(const struct run *run)
{
    size_t bytes = sizeof(struct page_cache) + frame_count(run) * sizeof(struct entry);
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static struct frame *frame_at(const struct run *run, uint64_t index)
{
    return (struct frame *)((char *)run->shared + head_bytes(run)) + index;
}

bool page_cache_prepare(struct run *run)
{
    uint64_t frames = frame_count(run);
    struct page_cache *cache =
        run_memory(run, head_bytes(run) + frames * sizeof(struct frame));
    run->shared = cache;
    if (!cache)
        return false;
    mutex_create(&cache->mutex);
    for (uint64_t i = 0; i < frames; i++)
        mutex_create(&frame_at(run, i)->mutex);
    return true;
}

static void acquire(struct run *run, struct worker *worker, struct mutex *mutex,
                    struct ledger *ledger)
{
    uint64_t wanted = ticks();
    mutex_lock(run, mutex);
    ledger_acquired(ledger, run, worker, wanted, ticks());
}

static void release(struct run *run, struct mutex *mutex, struct ledger *ledger)
{
    ledger->released = ticks();
    mutex_unlock(run, mutex);
}

/* Returns the way of the set that holds the page, else the way to evict, else WAYS. */
static unsigned way_of(struct entry *set, uint64_t page)
{
    unsigned best = WAYS;
    uint64_t oldest = UINT64_MAX;
    for (unsigned way = 0; way < WAYS; way++) {
        if (load_relaxed(&set[way].page) == page + 1)
            return way;
        uint64_t used = load_relaxed(&set[way].used);
        if (used < oldest && load_relaxed(&set[way].pins) == 0) {
            oldest = used;
            best = way;
        }
    }
    return best;
}

/* Returns false if all frames of the page's set are pinned. */
static bool pin(struct run *run, struct worker *worker, uint64_t page, uint64_t *frame)
{
    struct page_cache *cache = run->shared;
    uint64_t first = page % (frame_count(run) / WAYS) * WAYS;
    acquire(run, worker, &cache->mutex, &cache->ledger);
    unsigned way = way_of(&cache->entries[first], page);
    if (way < WAYS) {
        struct entry *entry = &cache->entries[first + way];
        uint64_t now = load_relaxed(&cache->now) + 1;
        store_relaxed(&cache->now, now);
        store_relaxed(&entry->page, page + 1);
        store_relaxed(&entry->used, now);
        store_relaxed(&entry->pins, load_relaxed(&entry->pins) + 1);
        *frame = first + way;
    }
    release(run, &cache->mutex, &cache->ledger);
    return way < WAYS;
}

static void unpin(struct run *run, struct worker *worker, uint64_t frame)
{
    struct page_cache *cache = run->shared;
    struct atomic_u64 *pins = &cache->entries[frame].pins;
    acquire(run, worker, &cache->mutex, &cache->ledger);
    store_relaxed(pins, load_relaxed(pins) - 1);
    release(run, &cache->mutex, &cache->ledger);
}

static void update(struct run *run, struct worker *worker, struct frame *frame,
                   uint64_t page)
{
    acquire(run, worker, &frame->mutex, &frame->ledger);
    if (load_relaxed(&frame->page) != page + 1) {
        pause_about(worker, run->knobs[KNOB_WORK_CYCLES], run->knobs[KNOB_UNEVEN]);
        store_relaxed(&frame->page, page + 1);
    }
    store_relaxed(&frame->updates, load_relaxed(&frame->updates) + 1);
    release(run, &frame->mutex, &frame->ledger);
}

void page_cache_work(struct run *run, struct worker *worker)
{
    const struct section section = section_of(run);
    const uint64_t pages = run->knobs[KNOB_PAGES];
    for (;;) {
        uint64_t *random = &worker->random;
        uint64_t page = random_below(random, 1 + random_below(random, pages)), frame;
        uint64_t start = ticks();
        if (!run_goes_on(run, start))
            return;
        if (!pin(run, worker, page, &frame))
            continue;
        update(run, worker, frame_at(run, frame), page);
        unpin(run, worker, frame);
        run_count(run, worker, start, ticks());
        section_think(&section, worker);
    }
}

/* Returns true unless an earlier frame of the set holds the same page. */
static bool is_alone(struct page_cache *cache, uint64_t index)
{
    uint64_t page = load_relaxed(&cache->entries[index].page);
    for (uint64_t i = index / WAYS * WAYS; page && i < index; i++)
        if (load_relaxed(&cache->entries[i].page) == page)
            return false;
    return true;
}

bool page_cache_check(struct run *run)
{
    struct page_cache *cache = run->shared;
    uint64_t done = 0, updates = 0;
    for (unsigned i = 0; i < run->threads; i++)
        done += run->workers[i].operations_ever;
    for (uint64_t i = 0; i < frame_count(run); i++) {
        updates += load_relaxed(&frame_at(run, i)->updates);
        if (load_relaxed(&cache->entries[i].pins) || !is_alone(cache, i)) {
            explain(run,
                    "the lock does not exclude: frame %llu is still pinned, or its "
                    "page is in two frames",
                    (unsigned long long)i);
            return false;
        }
    }
    if (updates != done)
        explain(run, "the lock does not exclude: %llu of %llu updates were lost",
                (unsigned long long)(done - updates), (unsigned long long)done);
    return updates == done;
}
