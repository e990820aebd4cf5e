/* SPDX-License-Identifier: MIT */
/*
 * Clients of the map: a reader finds what is present, whole and never after it was
 * freed; writers lose nothing; a table may be replaced meanwhile.
 */
#include "explorer/clients/clients.h"
#include "explorer/clients/map_freeing.h"
#include "explorer/clients/map_resizing.h"
#include "explorer/clients/map_state.h"
#include "explorer/execution/services.h"
#include "explorer/base/variables.h"

#include "structures/map/iterate.h"
#include "structures/map/write.h"

#include <string.h>

/* For clients that use no operation of words.h: both variants would do the same. */
static bool once(const struct lock_descriptor *about)
{
    return strcmp(about->name, "map") == 0;
}

static int put(unsigned thread, uint64_t key, uint64_t value)
{
    return put_into(&words, thread, key, value);
}

static int take_out(unsigned thread, uint64_t key)
{
    return take_out_of(&words, thread, key);
}

static uint64_t find(unsigned thread, uint64_t key)
{
    return find_in(&words, thread, key);
}

/* The slot of a removed entry gets another one, while a reader is in the bucket. */
static void slot_is_used_again(unsigned thread)
{
    if (thread == 0) {
        take_out(0, FIRST);
        put(0, SECOND, FRESH);
        return;
    }
    uint64_t value = find(thread, thread == 1 ? FIRST : SECOND);
    expect(!value || value == (thread == 1 ? OLD : FRESH), "a value of another key");
}

/* The same with another slot than the first: all three are in use at the beginning. */
static void later_slot_is_used_again(unsigned thread, uint64_t key)
{
    if (thread == 0) {
        take_out_of(&full, 0, key);
        put_into(&full, 0, FOURTH, FRESH);
        return;
    }
    uint64_t value = find_in(&full, thread, thread == 1 ? key : FOURTH);
    expect(!value || value == (thread == 1 ? OLD : FRESH), "a value of another key");
}

static void second_slot_is_used_again(unsigned thread)
{
    later_slot_is_used_again(thread, SECOND);
}

static void third_slot_is_used_again(unsigned thread)
{
    later_slot_is_used_again(thread, THIRD);
}

static void insertion_is_seen(unsigned thread)
{
    if (thread == 0) {
        put(0, SECOND, FRESH);
        store_relaxed(&flag, 1);
    } else if (find(1, SECOND)) {
        expect(find(1, SECOND) == FRESH, "an entry vanishes");
        expect(find(1, FIRST) == OLD, "an entry vanishes");
    }
}

/* Whoever finds that a key has been removed sees what was done before. */
static void removal_orders(unsigned thread)
{
    static uint32_t done;
    if (thread == 0) {
        done = 1;
        take_out(0, FIRST);
    } else if (!find(1, FIRST)) {
        expect(done == 1, "a removal is seen before what came before it");
    }
}

static void writers(unsigned thread)
{
    if (thread == 0)
        expect(put(0, SECOND, FRESH) == MAP_CREATED, "another key was taken for it");
    else if (thread == 1)
        expect(put(1, THIRD, OTHER) == MAP_CREATED, "another key was taken for it");
    else
        expect(take_out(2, FIRST) == MAP_OK, "a key is not found");
}

static void finish_writers(void)
{
    expect(find(FINISHER, FIRST) == 0, "a removal is lost");
    expect(find(FINISHER, SECOND) == FRESH, "an insertion is lost");
    expect(find(FINISHER, THIRD) == OTHER, "an insertion is lost");
}

/* Two writers replace a value; the later one sees what the earlier one did before. */
static enum map_change add_one(void *argument, struct map_span value,
                               struct map_span *fresh)
{
    uint64_t *sum = argument;
    *sum = *(const uint64_t *)value.bytes + 1;
    *fresh = word_span(sum);
    return MAP_STORE;
}

static void updates(unsigned thread)
{
    uint64_t key = FIRST, sum = 0;
    begin_operation();
    map_update(&words, &records[thread], word_span(&key), add_one, &sum);
}

static void finish_updates(void)
{
    expect(find(FINISHER, FIRST) == OLD + 2, "an update is lost");
}

/* A bucket is added to the chain and taken out of it. */
static void chain_grows(unsigned thread)
{
    if (thread == 0) {
        put_into(&full, 0, FOURTH, FRESH);
        take_out_of(&full, 0, FIRST);
        take_out_of(&full, 0, FOURTH);
        return;
    }
    uint64_t value = find_in(&full, thread, thread == 1 ? FOURTH : SECOND);
    expect(!value || value == (thread == 1 ? FRESH : OLD), "a value of another key");
    expect(value || thread == 1, "an entry is not found");
}

/* Whoever has found an entry in a further bucket finds it again, in another way. */
static void further_bucket_is_seen(unsigned thread)
{
    if (thread == 0) {
        put_into(&full, 0, FOURTH, FRESH);
        return;
    }
    begin_operation();
    if (find_anyhow_in(&full, 1, FOURTH))
        expect(find_in(&full, 1, FOURTH) == FRESH, "an entry vanishes");
}

/* An entry gets a slot of a further bucket that already has another one. The memory of
 * the slot is cleared, so it looks like the key 0 until the entry is seen. */
static void further_bucket_fills(unsigned thread)
{
    if (thread == 0) {
        put_into(&full, 0, FOURTH, FRESH);
        put_into(&full, 0, FIFTH, FRESH);
        return;
    }
    expect(!find_in(&full, 1, 0), "a key is found that nobody has inserted");
}

static void finish_further(void)
{
    expect(find_in(&full, FINISHER, FOURTH) == FRESH, "an insertion is lost");
    expect(find_in(&full, FINISHER, FIFTH) == FRESH, "an insertion is lost");
}

static bool visit_pair(void *argument, struct map_span key, struct map_span value)
{
    uint64_t number = *(const uint64_t *)key.bytes;
    uint64_t expected = number == FIRST ? OLD : FRESH;
    expect(*(const uint64_t *)value.bytes == expected, "a value of another key");
    expect(!(*(uint64_t *)argument >> number & 1), "a key is visited twice");
    *(uint64_t *)argument |= (uint64_t)1 << number;
    return true;
}

static void iteration(unsigned thread)
{
    uint64_t visited = 0;
    if (thread == 0) {
        take_out(0, FIRST);
        put(0, SECOND, FRESH);
        return;
    }
    begin_operation();
    map_iterate(&words, &records[1], visit_pair, &visited);
}

/* Two threads insert the same key, and a third removes it. */
static void insertions(unsigned thread)
{
    if (thread == 2)
        take_out(2, SECOND);
    else if (insert_into(&words, thread, SECOND, thread ? OTHER : FRESH) == MAP_CREATED)
        store_relaxed(thread ? &served : &arrived, 1);
}

/* A slot gets another key. Whoever has been told that the key is present finds it. */
static void insertion_is_relied_on(unsigned thread)
{
    if (thread == 0)
        take_out(0, FIRST);
    else if (thread == 1)
        put(1, SECOND, FRESH);
    else if (insert_into(&words, 2, SECOND, OTHER) == MAP_OK)
        expect(find(2, SECOND) == FRESH, "a key is present before it is inserted");
}

static void finish_insertions(void)
{
    uint64_t value = find(FINISHER, SECOND);
    uint32_t first = load_relaxed(&arrived), second = load_relaxed(&served);
    expect(first || second, "nobody has inserted the key");
    expect(value != FRESH || first, "an insertion has replaced a value");
    expect(value != OTHER || second, "an insertion has replaced a value");
}

static void finish_nothing(void)
{
}

const struct client map_clients[] = {
    {.name = "reuse",
     .summary = "an entry is removed and another inserted; two threads search",
     .threads = 3,
     .body = slot_is_used_again,
     .finish = finish_nothing},
    {.name = "reuse-second",
     .summary = "the same in the second slot of a bucket that was full",
     .threads = 3,
     .body = second_slot_is_used_again,
     .finish = finish_nothing},
    {.name = "reuse-third",
     .summary = "the same in the third slot",
     .threads = 3,
     .body = third_slot_is_used_again,
     .finish = finish_nothing},
    {.name = "insert",
     .summary = "an entry is inserted, and found twice",
     .threads = 2,
     .body = insertion_is_seen,
     .finish = finish_nothing},
    {.name = "removal",
     .summary = "an entry is removed after a plain store; the other thread searches",
     .threads = 2,
     .body = removal_orders,
     .finish = finish_nothing},
    {.name = "writers",
     .summary = "two threads insert and one removes",
     .threads = 3,
     .body = writers,
     .finish = finish_writers},
    {.name = "insertions",
     .summary = "two threads insert the same key and one removes it",
     .threads = 3,
     .body = insertions,
     .finish = finish_insertions},
    {.name = "insert-reuse",
     .summary = "a slot gets another key, which a third thread inserts, too",
     .threads = 3,
     .body = insertion_is_relied_on,
     .finish = finish_nothing},
    {.name = "updates",
     .summary = "two threads increment the same value",
     .threads = 2,
     .suits = once,
     .body = updates,
     .finish = finish_updates},
    {.name = "grow",
     .summary = "the table is replaced while one thread searches and one inserts",
     .threads = 3,
     .body = table_is_replaced,
     .finish = finish_replaced},
    {.name = "helpers",
     .summary = "two threads replace the table while one replaces a value",
     .threads = 3,
     .body = helpers,
     .finish = finish_helpers},
    {.name = "growers",
     .summary = "three threads replace the table, which is replaced once",
     .threads = 3,
     .suits = once,
     .body = growers,
     .finish = finish_growers},
    {.name = "movers",
     .summary = "two threads move a bucket each, and then search both",
     .threads = 2,
     .suits = once,
     .body = movers,
     .finish = finish_nothing},
    {.name = "free-node",
     .summary = "an entry is replaced and freed while a thread reads it",
     .threads = 2,
     .suits = once,
     .body = node_is_freed,
     .finish = finish_nothing},
    {.name = "free-fenced",
     .summary = "the same on a platform without heavy barriers",
     .threads = 2,
     .suits = once,
     .body = node_is_freed_with_fences,
     .finish = finish_nothing},
    {.name = "late-reader",
     .summary = "the same with a reader whose record is new",
     .threads = 2,
     .suits = once,
     .body = late_reader,
     .finish = finish_nothing},
    {.name = "records",
     .summary = "two threads use records that they take and give back",
     .threads = 2,
     .suits = once,
     .body = record_is_used_again,
     .finish = finish_nothing},
    {.name = "collect",
     .summary = "a thread frees what another one retires",
     .threads = 2,
     .suits = once,
     .body = another_collects,
     .finish = finish_nothing},
    {.name = "collect-unaided",
     .summary = "the same where heavy barriers fail: nothing is freed",
     .threads = 2,
     .suits = once,
     .body = another_collects,
     .finish = finish_nothing,
     .without_barrier = true},
    {.name = "free-by-two",
     .summary = "an entry is replaced and freed while a third thread ends epochs",
     .threads = 3,
     .suits = once,
     .body = node_is_freed_by_two,
     .finish = finish_nothing},
    {.name = "free-late",
     .summary = "a thread frees what another one reads, while a third ends epochs",
     .threads = 3,
     .suits = once,
     .body = node_is_freed_late,
     .finish = finish_nothing},
    {.name = "chain",
     .summary = "a bucket is added to a chain and removed; two threads search",
     .threads = 3,
     .body = chain_grows,
     .finish = finish_nothing},
    {.name = "chain-second",
     .summary = "a second entry gets into a further bucket; a thread searches key 0",
     .threads = 2,
     .body = further_bucket_fills,
     .finish = finish_further},
    {.name = "chain-found",
     .summary = "an entry in a further bucket is found, and then found again",
     .threads = 2,
     .body = further_bucket_is_seen,
     .finish = finish_nothing},
    {.name = "iterate",
     .summary = "a thread iterates while an entry is removed and another inserted",
     .threads = 2,
     .body = iteration,
     .finish = finish_nothing},
    {.name = "free-table",
     .summary = "a table is replaced and freed while a thread searches it",
     .threads = 2,
     .body = table_is_freed,
     .finish = finish_nothing},
};
const unsigned map_client_count = sizeof map_clients / sizeof map_clients[0];
