/* SPDX-License-Identifier: MIT */
/*
 * Messages of one cache line (mailbox.h), without locks.
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
#include "bench/workloads/mailbox.h"

enum pattern { ONE_WAY, ROUND_TRIP, CLIENT_SERVER };

const char *const message_patterns[] = {"one-way", "round-trip", "client-server", NULL};

static struct mailboxes *boxes_of(const struct run *run, uint64_t sender)
{
    return (struct mailboxes *)run->shared + sender;
}

bool messages_prepare(struct run *run)
{
    bool served = run->knobs[KNOB_PATTERN] == CLIENT_SERVER;
    if (!served && run->threads % 2) {
        explain(run, "pattern=%s takes an even number of threads",
                message_patterns[run->knobs[KNOB_PATTERN]]);
        return false;
    }
    if (served && !run->knobs[KNOB_SERVERS]) {
        explain(run, "pattern=client-server takes a server");
        return false;
    }
    if (served && run->knobs[KNOB_SERVERS] >= run->threads) {
        explain(run, "%u threads leave no client for %llu servers", run->threads,
                (unsigned long long)run->knobs[KNOB_SERVERS]);
        return false;
    }
    run->shared = run_memory(run, run->threads * sizeof(struct mailboxes));
    return run->shared != NULL;
}

static void send_all(struct run *run, struct worker *worker, bool answered)
{
    struct mailboxes *boxes = boxes_of(run, worker->index);
    struct section section = section_of(run);
    for (uint64_t number = 1;; number++) {
        uint64_t start = ticks();
        if (!run_goes_on(run, start))
            break;
        mailbox_send(run, &boxes->there, number);
        if (answered && mailbox_receive(run, &boxes->back) != number)
            worker->balance++;
        run_count(run, worker, start, ticks());
        section_think(&section, worker);
    }
    mailbox_send(run, &boxes->there, END);
}

static void serve(struct run *run, struct worker *worker, struct mailboxes *boxes,
                  uint64_t number, uint64_t expected, bool answered)
{
    if (number != expected)
        worker->balance++;
    if (run->knobs[KNOB_WORK_CYCLES])
        pause_cycles(run->knobs[KNOB_WORK_CYCLES]);
    if (answered)
        mailbox_send(run, &boxes->back, number);
}

static void receive_all(struct run *run, struct worker *worker, bool answered)
{
    worker->aside = true;
    struct mailboxes *boxes = boxes_of(run, worker->index - 1);
    uint64_t expected = 1, number;
    while ((number = mailbox_receive(run, &boxes->there)) != END)
        serve(run, worker, boxes, number, expected++, answered);
}

static void answer(struct run *run, struct worker *server, struct mailboxes *boxes,
                   uint64_t number)
{
    serve(run, server, boxes, number, boxes->served, run->knobs[KNOB_REPLY] != 0);
}

static void serve_clients(struct run *run, struct worker *worker)
{
    worker->aside = true;
    uint64_t servers = run->knobs[KNOB_SERVERS];
    const struct mailbox_clients clients = {
        .first = boxes_of(run, worker->index + servers),
        .stride = servers * sizeof(struct mailboxes),
        .count = (run->threads - worker->index - 1) / servers,
    };
    mailbox_serve(run, worker, &clients, answer);
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
