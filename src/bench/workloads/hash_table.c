/* SPDX-License-Identifier: MIT */
/*
 * A hash table with one lock for each bucket: David, Guerraoui and Trigonakis,
 * "Everything you always wanted to know about synchronization but were afraid to ask",
 * SOSP 2013, section 6.3. The keys of a bucket are contiguous, so a search fetches few
 * lines; each key has a payload in a line of its own. With stripes, each lock guards
 * several buckets; with one stripe, the table has a global lock. With servers, the
 * first workers own the buckets, each its share, without locks; the others send them
 * requests and wait for the answers, as on SSYNC's message passing.
 *
 * There are twice as many keys as elements and each belongs to one bucket, so a bucket
 * never overflows, and insertions and removals succeed equally often.
 */
#include "bench/workloads/guarded.h"
#include "bench/workloads/list.h"
#include "bench/workloads/mailbox.h"

struct payload {
    struct atomic_u64 value __attribute__((aligned(CACHE_LINE)));
};

struct bucket {
    struct mutex mutex __attribute__((aligned(CACHE_LINE)));
    struct ledger ledger __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 used; /* number of keys, which are contiguous */
    struct atomic_u64 keys[];
};

struct table {
    char *buckets;
    struct mailboxes *boxes; /* those of a client are together, a pair per server */
};

enum action { GET, PUT, REMOVE, ACTIONS };

static uint64_t capacity(const struct run *run)
{
    return 2 * run->knobs[KNOB_ELEMENTS];
}

/* Returns the size of a bucket without its payloads, in whole lines. */
static size_t head_bytes(const struct run *run)
{
    size_t bytes = sizeof(struct bucket) + capacity(run) * sizeof(struct atomic_u64);
    return (bytes + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE;
}

static size_t bucket_bytes(const struct run *run)
{
    return head_bytes(run) + capacity(run) * sizeof(struct payload);
}

static struct bucket *bucket_at(const struct run *run, uint64_t index)
{
    const struct table *table = run->shared;
    return (struct bucket *)(table->buckets + index * bucket_bytes(run));
}

/* Returns the bucket whose lock and ledger guard bucket `index`. */
static struct bucket *guard_of(const struct run *run, uint64_t index)
{
    uint64_t stripes = run->knobs[KNOB_STRIPES];
    return bucket_at(run, stripes ? index % stripes : index);
}

static struct payload *payload_at(const struct run *run, struct bucket *bucket,
                                  uint64_t place)
{
    return (struct payload *)((char *)bucket + head_bytes(run)) + place;
}

/* Returns the boxes of a client at server 0. */
static struct mailboxes *boxes_of(const struct run *run, uint64_t client)
{
    const struct table *table = run->shared;
    return table->boxes + client * run->knobs[KNOB_SERVERS];
}

bool hash_table_prepare(struct run *run)
{
    uint64_t buckets = run->knobs[KNOB_BUCKETS], servers = run->knobs[KNOB_SERVERS];
    if (run->knobs[KNOB_PUT] + run->knobs[KNOB_REMOVE] > 100) {
        explain(run, "put_percent and remove_percent exceed 100 together");
        return false;
    }
    if (run->knobs[KNOB_STRIPES] > buckets) {
        explain(run, "there are more stripes than buckets");
        return false;
    }
    if (servers && servers >= run->threads) {
        explain(run, "%u threads leave no client for %llu servers", run->threads,
                (unsigned long long)servers);
        return false;
    }
    struct table *table = run->shared = run_memory(run, sizeof *table);
    if (!table || !(table->buckets = run_memory(run, buckets * bucket_bytes(run))))
        return false;
    for (uint64_t i = 0; i < buckets; i++)
        if (guard_of(run, i) == bucket_at(run, i))
            mutex_create(&bucket_at(run, i)->mutex);
    if (servers)
        table->boxes = run_memory(run, run->threads * servers * sizeof *table->boxes);
    return !servers || table->boxes;
}

/* Inserts every second key. All workers take part, because natively a page is placed on
 * the node of the worker that touches it first. */
void hash_table_enter(struct run *run, struct worker *worker)
{
    uint64_t buckets = run->knobs[KNOB_BUCKETS];
    for (uint64_t i = worker->index; i < buckets; i += run->threads) {
        struct bucket *bucket = bucket_at(run, i);
        for (uint64_t n = 0; n < run->knobs[KNOB_ELEMENTS]; n++) {
            store_relaxed(&bucket->keys[n], 1 + i + 2 * n * buckets);
            store_relaxed(&payload_at(run, bucket, n)->value, 1);
        }
        store_relaxed(&bucket->used, run->knobs[KNOB_ELEMENTS]);
        worker->balance += run->knobs[KNOB_ELEMENTS];
    }
}

/* Returns the index of the key, or `used` if it is absent. */
static uint64_t find(struct bucket *bucket, uint64_t key, uint64_t used)
{
    uint64_t place = 0;
    while (place < used && load_relaxed(&bucket->keys[place]) != key)
        place++;
    return place;
}

static void put(struct run *run, struct bucket *bucket, uint64_t place, uint64_t used,
                uint64_t key, struct worker *worker)
{
    store_relaxed(&payload_at(run, bucket, place)->value, key);
    if (place < used)
        return; /* the key was present: only its payload changes */
    store_relaxed(&bucket->keys[place], key);
    store_relaxed(&bucket->used, used + 1);
    worker->balance++;
}

static void take_out(struct run *run, struct bucket *bucket, uint64_t place,
                     uint64_t used, struct worker *worker)
{
    if (place == used)
        return;
    uint64_t last = used - 1;
    if (place < last) {
        store_relaxed(&bucket->keys[place], load_relaxed(&bucket->keys[last]));
        store_relaxed(&payload_at(run, bucket, place)->value,
                      load_relaxed(&payload_at(run, bucket, last)->value));
    }
    store_relaxed(&bucket->used, last);
    worker->balance--;
}

static void operate(struct run *run, struct worker *worker, struct bucket *bucket,
                    uint64_t key, enum action action)
{
    uint64_t used = load_relaxed(&bucket->used);
    uint64_t place = find(bucket, key, used);
    if (action == PUT)
        put(run, bucket, place, used, key, worker);
    else if (action == REMOVE)
        take_out(run, bucket, place, used, worker);
    else if (place < used)
        (void)load_relaxed(&payload_at(run, bucket, place)->value);
}

static void acquire(struct run *run, struct mutex *mutex)
{
    if (!run->knobs[KNOB_TRYLOCK])
        mutex_lock(run, mutex);
    else
        spin_until(mutex_trylock(run, mutex));
}

static void operate_locked(struct run *run, struct worker *worker, uint64_t key,
                           enum action action, uint64_t start)
{
    uint64_t index = (key - 1) % run->knobs[KNOB_BUCKETS];
    struct bucket *guard = guard_of(run, index);
    acquire(run, &guard->mutex);
    ledger_acquired(&guard->ledger, run, worker, start, ticks());
    operate(run, worker, bucket_at(run, index), key, action);
    guard->ledger.released = ticks();
    mutex_unlock(run, &guard->mutex);
}

/* A request is its key and its action; the answer is the same number. */
static void ask(struct run *run, struct worker *worker, uint64_t key,
                enum action action)
{
    uint64_t server = (key - 1) % run->knobs[KNOB_BUCKETS] % run->knobs[KNOB_SERVERS];
    struct mailboxes *boxes = boxes_of(run, worker->index) + server;
    mailbox_send(run, &boxes->there, key * ACTIONS + action);
    mailbox_receive(run, &boxes->back);
}

static void answer(struct run *run, struct worker *server, struct mailboxes *boxes,
                   uint64_t number)
{
    uint64_t key = number / ACTIONS;
    struct bucket *bucket = bucket_at(run, (key - 1) % run->knobs[KNOB_BUCKETS]);
    operate(run, server, bucket, key, (enum action)(number % ACTIONS));
    mailbox_send(run, &boxes->back, number);
}

static enum action action_of(const struct run *run, uint64_t dice)
{
    if (dice < run->knobs[KNOB_PUT])
        return PUT;
    return dice < run->knobs[KNOB_PUT] + run->knobs[KNOB_REMOVE] ? REMOVE : GET;
}

void hash_table_work(struct run *run, struct worker *worker)
{
    const struct section section = section_of(run);
    const uint64_t keys = run->knobs[KNOB_BUCKETS] * capacity(run);
    const uint64_t servers = run->knobs[KNOB_SERVERS];
    if (worker->index < servers) {
        worker->aside = true;
        const struct mailbox_clients clients = {
            .first = boxes_of(run, servers) + worker->index,
            .stride = servers * sizeof(struct mailboxes),
            .count = run->threads - servers,
        };
        mailbox_serve(run, worker, &clients, answer);
        return;
    }
    for (;;) {
        uint64_t key = 1 + random_below(&worker->random, keys);
        enum action action = action_of(run, random_below(&worker->random, 100));
        uint64_t start = ticks();
        if (!run_goes_on(run, start))
            break;
        if (servers)
            ask(run, worker, key, action);
        else
            operate_locked(run, worker, key, action, start);
        run_count(run, worker, start, section_ended(&section));
        section_think(&section, worker);
    }
    for (uint64_t server = 0; server < servers; server++)
        mailbox_send(run, &boxes_of(run, worker->index)[server].there, END);
}

bool hash_table_check(struct run *run)
{
    uint64_t buckets = run->knobs[KNOB_BUCKETS], put = 0, there = 0;
    for (unsigned i = 0; i < run->threads; i++)
        put += run->workers[i].balance;
    for (uint64_t i = 0; i < buckets; i++) {
        struct bucket *bucket = bucket_at(run, i);
        uint64_t used = load_relaxed(&bucket->used);
        there += used;
        for (uint64_t n = 0; n < used && n < capacity(run); n++) {
            uint64_t key = load_relaxed(&bucket->keys[n]);
            if ((key - 1) % buckets != i || find(bucket, key, n) != n) {
                explain(run, "bucket %llu holds key %llu wrongly or twice",
                        (unsigned long long)i, (unsigned long long)key);
                return false;
            }
        }
    }
    if (there != put)
        explain(run, "%llu keys were put in and not removed, %llu are there",
                (unsigned long long)put, (unsigned long long)there);
    return there == put;
}
