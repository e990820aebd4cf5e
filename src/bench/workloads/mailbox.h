/* SPDX-License-Identifier: MIT */
/*
 * Mailboxes of one cache line, each for one sender and one receiver. A flag in the line
 * shows whether it holds a message, so a message costs one transfer of the empty line
 * and one of the full line. After David, Guerraoui and Trigonakis, SOSP 2013, section
 * 6.2.
 *
 * Requests and answers between clients and servers, where the first workers are
 * servers: a client has a box for requests and one for answers at each server. A number
 * is a message; END marks a client's last one.
 */
#ifndef HASP_BENCH_WORKLOADS_MAILBOX_H
#define HASP_BENCH_WORKLOADS_MAILBOX_H

#include "bench/workloads/workloads.h"

/* A window of 128 instructions, as of Nehalem, has room for so many polls. */
enum { END = 0, POLLS_AHEAD = 8 };

struct mailbox {
    struct atomic_u32 full __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 number;
};

/* The boxes of a client at a server. */
struct mailboxes {
    struct mailbox there, back;
    uint64_t served __attribute__((aligned(CACHE_LINE))); /* private to the server */
};

static inline bool mailbox_is_full(struct run *run, struct mailbox *box)
{
    if (run->knobs[KNOB_WRITE_INTENT])
        prefetch_for_write(&box->full);
    return load_acquire(&box->full) != 0;
}

static inline void mailbox_send(struct run *run, struct mailbox *box, uint64_t number)
{
    spin_until(!mailbox_is_full(run, box));
    store_relaxed(&box->number, number);
    store_release(&box->full, 1);
}

/* Takes the message from a full box. */
static inline uint64_t mailbox_take(struct mailbox *box)
{
    uint64_t number = load_relaxed(&box->number);
    store_release(&box->full, 0);
    return number;
}

static inline uint64_t mailbox_receive(struct run *run, struct mailbox *box)
{
    spin_until(mailbox_is_full(run, box));
    return mailbox_take(box);
}

/* Answers a message that is not END, in `boxes->back` if it is to be answered. */
typedef void mailbox_answer(struct run *run, struct worker *server,
                            struct mailboxes *boxes, uint64_t number);

/* The clients of a server, whose boxes are `stride` bytes apart. */
struct mailbox_clients {
    struct mailboxes *first;
    uint64_t stride, count;
};

static inline struct mailboxes *mailboxes_at(const struct mailbox_clients *clients,
                                             uint64_t i)
{
    return (struct mailboxes *)((char *)clients->first + i * clients->stride);
}

/* Begins to poll client `i`, if there is one: no poll depends on the one before it. */
static inline void mailbox_poll_ahead(const struct run *run,
                                      const struct mailbox_clients *clients, uint64_t i)
{
    if (i < clients->count && mailboxes_at(clients, i)->served != UINT64_MAX)
        access_ahead(&mailboxes_at(clients, i)->there.full,
                     run->knobs[KNOB_WRITE_INTENT]);
}

/* Polls the boxes of its clients in turn until each has sent END; relaxes only if all
 * were empty. */
static inline void mailbox_serve(struct run *run, struct worker *server,
                                 const struct mailbox_clients *clients,
                                 mailbox_answer *answer)
{
    for (uint64_t open = clients->count; open;) {
        bool idle = true;
        for (uint64_t ahead = 1; ahead < POLLS_AHEAD; ahead++)
            mailbox_poll_ahead(run, clients, ahead);
        for (uint64_t i = 0; i < clients->count; i++) {
            struct mailboxes *boxes = mailboxes_at(clients, i);
            mailbox_poll_ahead(run, clients, i + POLLS_AHEAD);
            if (boxes->served == UINT64_MAX || !mailbox_is_full(run, &boxes->there))
                continue;
            idle = false;
            uint64_t number = mailbox_take(&boxes->there);
            if (run->knobs[KNOB_READ_AHEAD]) {
                struct mailboxes *next =
                    mailboxes_at(clients, (i + 1) % clients->count);
                prefetch_for_write(&boxes->back.full);
                prefetch_for_write(&next->there.full);
            }
            if (number == END) {
                boxes->served = UINT64_MAX;
                open--;
                continue;
            }
            boxes->served++;
            answer(run, server, boxes, number);
        }
        if (idle)
            relax();
    }
}

#endif
