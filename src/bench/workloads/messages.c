/* SPDX-License-Identifier: MIT */
/*
 * Messages of one cache line, without locks. A flag in the line shows whether it holds
 * a message, so a message costs one transfer of the empty line and one of the full
 * line. After David, Guerraoui and Trigonakis, SOSP 2013, section 6.2.
 *
 *   one-way        worker 2i sends to 2i + 1
 *   round-trip     worker 2i also waits for the answer
 *   client-server  the first workers are servers, which poll the lines of the others
 *
 * An operation is a message, including its answer if there is one. Messages are
 * numbered from 1; 0 marks the end.
 */
#include "bench/workloads/guarded.h"
#include "bench/workloads/list.h"

/* A window of 128 instructions, as of Nehalem, has room for so many polls. */
enum { POLLS_AHEAD = 8 };

enum pattern { ONE_WAY, ROUND_TRIP, CLIENT_SERVER };

const char *const message_patterns[] = {"one-way", "round-trip", "client-server", NULL};

struct channel {
    struct atomic_u32 full __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 number;
};

/* The lines of one sender. */
struct pair {
    struct channel there, back;
    uint64_t served __attribute__((aligned(CACHE_LINE))); /* private to the server */
};

static struct pair *pair_of(const struct run *run, uint64_t sender)
{
    return (struct pair *)run->shared + sender;
}

bool messages_prepare(struct run *run)
{
    bool served = run->knobs[KNOB_PATTERN] == CLIENT_SERVER;
    if (!served && run->threads % 2) {
        explain(run, "pattern=%s takes an even number of threads",
                message_patterns[run->knobs[KNOB_PATTERN]]);
        return false;
    }
    if (served && run->knobs[KNOB_SERVERS] >= run->threads) {
        explain(run, "%u threads leave no client for %llu servers", run->threads,
                (unsigned long long)run->knobs[KNOB_SERVERS]);
        return false;
    }
    run->shared = run_memory(run, run->threads * sizeof(struct pair));
    return run->shared != NULL;
}

static bool is_full(struct run *run, struct channel *channel)
{
    if (run->knobs[KNOB_WRITE_INTENT])
        prefetch_for_write(&channel->full);
    return load_acquire(&channel->full) != 0;
}

static void send(struct run *run, struct channel *channel, uint64_t number)
{
    spin_until(!is_full(run, channel));
    store_relaxed(&channel->number, number);
    store_release(&channel->full, 1);
}

static uint64_t take(struct channel *channel)
{
    uint64_t number = load_relaxed(&channel->number);
    store_release(&channel->full, 0);
    return number;
}

static uint64_t receive(struct run *run, struct channel *channel)
{
    spin_until(is_full(run, channel));
    return take(channel);
}

static void send_all(struct run *run, struct worker *worker, bool answered)
{
    struct pair *pair = pair_of(run, worker->index);
    struct section section = section_of(run);
    for (uint64_t number = 1;; number++) {
        uint64_t start = ticks();
        if (!run_goes_on(run, start))
            break;
        send(run, &pair->there, number);
        if (answered && receive(run, &pair->back) != number)
            worker->balance++;
        run_count(run, worker, start, ticks());
        section_think(&section, worker);
    }
    send(run, &pair->there, 0);
}

/* Handles a message. Returns false if it marks the end. */
static bool serve(struct run *run, struct worker *worker, struct pair *pair,
                  uint64_t number, uint64_t expected, bool answered)
{
    if (number == 0)
        return false;
    if (number != expected)
        worker->balance++;
    if (run->knobs[KNOB_WORK_CYCLES])
        pause_cycles(run->knobs[KNOB_WORK_CYCLES]);
    if (answered)
        send(run, &pair->back, number);
    return true;
}

static void receive_all(struct run *run, struct worker *worker, bool answered)
{
    worker->aside = true;
    struct pair *pair = pair_of(run, worker->index - 1);
    uint64_t expected = 1;
    while (serve(run, worker, pair, receive(run, &pair->there), expected, answered))
        expected++;
}

/* Prefetches the line of the answer and the line of the next client. */
static void fetch_ahead(struct pair *answered, struct pair *next)
{
    prefetch_for_write(&answered->back.full);
    prefetch_for_write(&next->there.full);
}

/* Begins to poll client `i`, if there is one: no poll depends on the one before it. */
static void poll_ahead(const struct run *run, uint64_t i)
{
    if (i < run->threads && pair_of(run, i)->served != UINT64_MAX)
        access_ahead(&pair_of(run, i)->there.full, run->knobs[KNOB_WRITE_INTENT]);
}

/* Polls the lines of its clients in turn; relaxes only if all were empty. */
static void serve_clients(struct run *run, struct worker *worker)
{
    worker->aside = true;
    uint64_t servers = run->knobs[KNOB_SERVERS], open = 0;
    uint64_t first = worker->index + servers;
    for (uint64_t i = first; i < run->threads; i += servers)
        open++;
    while (open) {
        bool idle = true;
        for (uint64_t ahead = 1; ahead < POLLS_AHEAD; ahead++)
            poll_ahead(run, first + ahead * servers);
        for (uint64_t i = first; i < run->threads; i += servers) {
            struct pair *pair = pair_of(run, i);
            poll_ahead(run, i + POLLS_AHEAD * servers);
            uint64_t *seen = &pair->served;
            if (*seen == UINT64_MAX || !is_full(run, &pair->there))
                continue;
            idle = false;
            uint64_t number = take(&pair->there);
            if (run->knobs[KNOB_READ_AHEAD])
                fetch_ahead(pair, pair_of(run, i + servers < run->threads ? i + servers
                                                                          : first));
            if (serve(run, worker, pair, number, *seen + 1,
                      run->knobs[KNOB_REPLY] != 0)) {
                ++*seen;
            } else {
                *seen = UINT64_MAX;
                open--;
            }
        }
        if (idle)
            relax();
    }
}

void messages_work(struct run *run, struct worker *worker)
{
    enum pattern pattern = (enum pattern)run->knobs[KNOB_PATTERN];
    bool answered =
        pattern == CLIENT_SERVER ? run->knobs[KNOB_REPLY] != 0 : pattern == ROUND_TRIP;
    if (pattern == CLIENT_SERVER && worker->index < run->knobs[KNOB_SERVERS])
        serve_clients(run, worker);
    else if (pattern != CLIENT_SERVER && worker->index % 2)
        receive_all(run, worker, answered);
    else
        send_all(run, worker, answered);
}

bool messages_check(struct run *run)
{
    uint64_t wrong = 0;
    for (unsigned i = 0; i < run->threads; i++)
        wrong += run->workers[i].balance;
    if (wrong)
        explain(run, "%llu messages were lost or came out of order",
                (unsigned long long)wrong);
    return wrong == 0;
}
