/* SPDX-License-Identifier: MIT */
/*
 * The queue of future events, ordered by time and then by the order of insertion.
 * Nothing else may affect their order, least of all an address or a hash.
 */
#ifndef HASP_SIMULATOR_EVENTS_H
#define HASP_SIMULATOR_EVENTS_H

#include <stdint.h>

enum event_kind {
    /* The event's subject, then its effect. */
    EVENT_RESUME,  /* thread: continues */
    EVENT_COMMIT,  /* thread: the oldest store in its buffer reaches its line */
    EVENT_LOST,    /* line: its watchers have lost their copies */
    EVENT_POLL,    /* watch: its thread polls a line that it has lost */
    EVENT_ARRIVED, /* watch: the line is back in the thread's cache */
    EVENT_TIMEOUT, /* thread: its wait or sleep times out */
    EVENT_SLICE,   /* CPU: the time slice ends, if other threads are queued */
    EVENT_KINDS
};

/* `order` packs, from the top, the sequence number, the kind and the subject. */
struct event {
    uint64_t time, order;
};
enum { SUBJECT_BITS = 25, KIND_BITS = 3 };

struct events {
    struct event *heap; /* no event is later than any of its four children */
    uint32_t count, space;
    uint64_t sequence;
    uint64_t time; /* of the latest event taken: nothing happens earlier any more */
};
extern struct events events;

/* UINT64_MAX if the queue is empty. */
static inline uint64_t next_event_time(void)
{
    return events.heap[0].time;
}

static inline enum event_kind event_kind(struct event event)
{
    return (enum event_kind)(event.order >> SUBJECT_BITS & ((1u << KIND_BITS) - 1));
}

static inline uint32_t event_subject(struct event event)
{
    return (uint32_t)event.order & ((1u << SUBJECT_BITS) - 1);
}

void events_start(void);
void event_push(uint64_t time, enum event_kind kind, uint32_t subject);
struct event event_take(void);

/* Equivalent to event_push and then event_take, but faster. */
struct event event_exchange(uint64_t time, enum event_kind kind, uint32_t subject);

#endif
