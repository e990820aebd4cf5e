/* SPDX-License-Identifier: MIT */
/*
 * What will happen, earliest first; of what happens at the same time, what was decided
 * first. Nothing else may order events: no address, no hash.
 */
#ifndef HASP_SIMULATOR_EVENTS_H
#define HASP_SIMULATOR_EVENTS_H

#include <stdint.h>

enum event_kind {
    EVENT_RESUME,  /* thread: goes on */
    EVENT_COMMIT,  /* thread: the oldest store of its buffer reaches its line */
    EVENT_LOST,    /* line: who watches it has lost its copy */
    EVENT_POLL,    /* watch: its thread looks at a line that it has lost */
    EVENT_ARRIVED, /* watch: a watched line is back */
    EVENT_TIMEOUT, /* thread: has waited or slept long enough */
    EVENT_SLICE,   /* CPU: its thread's time is over, if others want it */
    EVENT_KINDS
};

/* `order`: number in the order of decisions, kind, subject. */
struct event {
    uint64_t time, order;
};
enum { SUBJECT_BITS = 25, KIND_BITS = 3 };

struct events {
    struct event *heap; /* each event's four children are no earlier than it */
    uint32_t count, space;
    uint64_t decided;
};
extern struct events events;

/* UINT64_MAX when there is none. */
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

/* event_push, then event_take. */
struct event event_exchange(uint64_t time, enum event_kind kind, uint32_t subject);

#endif
