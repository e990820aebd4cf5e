/* SPDX-License-Identifier: MIT */
/*
 * Checks src/locks/memory/pool.c itself under the explorer, which replaces it by a
 * small pool when it checks locks. Several threads that share a shard take slots and
 * give them back. The same clients then run with one seeded bug at a time, which has to
 * be found.
 */
#include "explorer/clients/clients.h"
#include "explorer/execution/services.h"
#include "explorer/base/variables.h"
#include "explorer/search/search.h"

#include "locks/memory/pool.h"

#include <stdio.h>
#include <string.h>

#undef current_thread
#define current_thread() 1u /* only its shard matters */
#undef yield
#define yield() relax()
#undef map_pages
#define map_pages(bytes) pages(bytes)
static void *pages(size_t bytes);

#define NAMED(name) NAMED_AGAIN(name, VARIANT)
#define NAMED_AGAIN(name, variant) NAMED_LAST(name, variant)
#define NAMED_LAST(name, variant) name##_##variant
#define chunk_present NAMED(chunk_present)
#define chunk_make NAMED(chunk_make)
#define chunks_ensure NAMED(chunks_ensure)
#define carve_for NAMED(carve_for)
#define pool_take_ahead NAMED(take_ahead)
#define pool_carve NAMED(carve)
#define pop NAMED(pop)
#define wait_for_slot NAMED(wait_for_slot)
#define pool_take NAMED(take)
#define pool_give NAMED(give)
#define pool_give_here NAMED(give_here)
#define pool_keep NAMED(keep)
#define pool_find NAMED(find)
#define pool_size NAMED(size)

#define VARIANT right
#include "locks/memory/pool.c"
#undef VARIANT

#undef compare_exchange_release
#define compare_exchange_release(c, e, d) checked_cas(c, e, d, CHECKED_RELAXED)
#define VARIANT give_relaxed
#include "locks/memory/pool.c"
#undef VARIANT
#undef compare_exchange_release
#define compare_exchange_release(c, e, d) checked_cas(c, e, d, CHECKED_RELEASE)

/* Weakens both acquires of pop(): its first load and its successful exchange. */
#undef compare_exchange_acquire
#undef load_acquire
#define compare_exchange_acquire(c, e, d) checked_cas(c, e, d, CHECKED_RELAXED)
#define load_acquire(c) checked_read(c, CHECKED_RELAXED)
#define VARIANT take_relaxed
#include "locks/memory/pool.c"
#undef VARIANT
#undef load_acquire
#define load_acquire(c) checked_read(c, CHECKED_ACQUIRE)

/* The tag always stays 0. */
#define WITHOUT_TAG(c, d) (sizeof(c)->raw == 8 ? (uint32_t)(d) : (d))
#undef compare_exchange_acquire
#undef compare_exchange_release
#define compare_exchange_acquire(c, e, d)                                              \
    checked_cas(c, e, WITHOUT_TAG(c, d), CHECKED_ACQUIRE)
#define compare_exchange_release(c, e, d)                                              \
    checked_cas(c, e, WITHOUT_TAG(c, d), CHECKED_RELEASE)
#define VARIANT untagged
#include "locks/memory/pool.c"
#undef VARIANT

#undef compare_exchange_release
#define compare_exchange_release(c, e, d) checked_cas(c, e, d, CHECKED_RELEASE)

/* Any number of threads may map a chunk at the same time. */
#undef compare_exchange_acquire
#define compare_exchange_acquire(c, e, d)                                              \
    (sizeof(c)->raw == 8 ? checked_cas(c, e, d, CHECKED_ACQUIRE)                       \
                         : (*(e) = load_relaxed(c), true))
#define VARIANT unguarded
#include "locks/memory/pool.c"
#undef VARIANT
#undef compare_exchange_acquire
#define compare_exchange_acquire(c, e, d) checked_cas(c, e, d, CHECKED_ACQUIRE)

#define __atomic_store_n(pointer, value, order)                                        \
    __atomic_store_n(pointer, value, __ATOMIC_RELAXED)
#define VARIANT published_relaxed
#include "locks/memory/pool.c"
#undef VARIANT

enum { CHUNKS = 3 };

static struct pool pool;
static struct pool_slot chunks[CHUNKS][POOL_CHUNK];
static uint32_t mapped; /* number of mapped chunks; guarded by the pool */
static struct atomic_u32 filled;
struct variant {
    const char *name;
    struct pool_slot *(*take)(struct pool *);
    void (*give)(struct pool *, struct pool_slot *);
    const struct client *client;
    const char *verdict; /* "": any finding */
};

static const struct variant *variant; /* under check */

static void *pages(size_t bytes)
{
    expect(bytes == sizeof chunks[0] && mapped < CHUNKS, "a needless chunk was mapped");
    return chunks[mapped++];
}

static struct pool_slot *take_two_right(struct pool *from)
{
    return take_ahead_right(from, 1);
}

/* Only the thread that took a slot may use it. */
static struct pool_slot *take(void)
{
    begin_operation();
    struct pool_slot *slot = variant->take(&pool);
    expect(slot->payload[0] == 0, "a slot was given to two threads");
    slot->payload[0] = 1;
    return slot;
}

static void give(struct pool_slot *slot)
{
    slot->payload[0] = 0;
    begin_operation();
    variant->give(&pool, slot);
}

static void take_and_give(void)
{
    give(take());
}

/* There are two slots. One thread reads the first and its successor, and is about to
 * take it when another takes both and gives the first one back. */
static void meet(unsigned thread)
{
    if (thread == 0) {
        struct pool_slot *first = take(), *second = take();
        give(second);
        give(first);
        store_release(&filled, 1);
        take_and_give();
        return;
    }
    spin_until(load_acquire(&filled));
    if (thread == 2) {
        take_and_give();
        return;
    }
    struct pool_slot *first = take(), *second = take();
    give(first);
    give(second);
}

/* The threads start before the pool has a chunk. */
static void begin_anew(unsigned thread)
{
    (void)thread;
    take_and_give();
}

static void finish(void)
{
    struct pool_slot *first = take(), *second = take();
    expect(first != second, "a slot is in the pool twice");
    give(first);
    give(second);
}

static const struct client meeting = {
    .name = "meet", .threads = 3, .body = meet, .finish = finish};
static const struct client beginning = {
    .name = "begin", .threads = 2, .body = begin_anew, .finish = finish};

static const struct variant variants[] = {
    {"as it is", take_right, give_right, &meeting, "ok"},
    {"as it is", take_right, give_right, &beginning, "ok"},
    {"creates ahead", take_two_right, give_right, &meeting, "ok"},
    {"creates ahead", take_two_right, give_right, &beginning, "ok"},
    {"gives relaxed", take_give_relaxed, give_give_relaxed, &meeting, "data race"},
    {"takes relaxed", take_take_relaxed, give_take_relaxed, &meeting, "data race"},
    {"without the tag", take_untagged, give_untagged, &meeting, ""},
    {"maps at will", take_unguarded, give_unguarded, &beginning, "data race"},
    {"published relaxed", take_published_relaxed, give_published_relaxed, &beginning,
     "data race"},
};

static bool is_right(const struct variant *checked)
{
    const struct limits limits = {.preemptions = 3, .seconds = 5, .states = 2000000};
    const bool has_chunk = checked->client == &meeting;
    variant = checked;
    memset(&pool, 0, sizeof pool);
    memset(chunks, 0, sizeof chunks);
    pool.chunks[0] = has_chunk ? chunks[0] : NULL;
    for (uint32_t i = 0; has_chunk && i < POOL_CHUNK; i++)
        chunks[0][i].link.id = i;
    struct outcome outcome = search(checked->client, &limits);
    bool found = strcmp(outcome.verdict, "ok") != 0;
    bool right =
        checked->verdict[0] ? strcmp(outcome.verdict, checked->verdict) == 0 : found;
    if (!found && !outcome.complete && outcome.preemptions != limits.preemptions)
        right = false; /* too few states explored */
    printf("%s  %-18s %-6s %s %s (%.1f s, %s, %d preemptions)\n",
           right ? "right" : "WRONG", checked->name, checked->client->name,
           outcome.verdict, outcome.detail, outcome.seconds,
           outcome.complete ? "complete" : "in part",
           outcome.preemptions == UNBOUNDED ? -1 : (int)outcome.preemptions);
    return right;
}

int main(void)
{
    unsigned wrong = 0, count = sizeof variants / sizeof variants[0];
    for (unsigned i = 0; i < count; i++)
        wrong += !is_right(&variants[i]);
    printf("%u of %u verdicts are wrong\n", wrong, count);
    return wrong != 0;
}
