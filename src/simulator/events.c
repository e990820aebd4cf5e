/* SPDX-License-Identifier: MIT */
/* A heap with four children to each event: half as deep as a binary one, and the
 * children are in one cache line. */
#include "simulator/events.h"

#include <stdbool.h>
#include <stdlib.h>

struct events events;

static const struct event never = {UINT64_MAX, UINT64_MAX};

enum { CHILDREN = 4, FIRST_SPACE = 4096 };

void events_start(void)
{
    if (!events.heap) {
        events.space = FIRST_SPACE;
        events.heap = malloc((FIRST_SPACE + CHILDREN) * sizeof never);
        if (!events.heap)
            abort();
    }
    events.count = 0;
    events.heap[0] = never;
}

static inline bool before(struct event a, struct event b)
{
    return a.time < b.time || (a.time == b.time && a.order < b.order);
}

static inline struct event decide(uint64_t time, enum event_kind kind, uint32_t subject)
{
    uint64_t order = events.decided++ << (SUBJECT_BITS + KIND_BITS);
    return (struct event){time, order | (uint64_t)kind << SUBJECT_BITS | subject};
}

static void grow(void)
{
    events.space *= 2;
    struct event *more = realloc(events.heap, (events.space + CHILDREN) * sizeof *more);
    if (!more)
        abort();
    events.heap = more;
}

void event_push(uint64_t time, enum event_kind kind, uint32_t subject)
{
    if (events.count == events.space)
        grow();
    struct event *heap = events.heap;
    const struct event event = decide(time, kind, subject);
    uint32_t at = events.count++;
    while (at) {
        uint32_t parent = (at - 1) / CHILDREN;
        if (!before(event, heap[parent]))
            break;
        heap[at] = heap[parent];
        at = parent;
    }
    heap[at] = event;
}

/* Puts an event where the first one was. */
static void sink(struct event event)
{
    struct event *heap = events.heap;
    const uint32_t count = events.count;
    uint32_t at = 0;
    while (true) {
        uint32_t child = at * CHILDREN + 1, end = child + CHILDREN;
        if (child >= count)
            break;
        if (end > count)
            end = count;
        uint32_t first = child;
        for (uint32_t other = child + 1; other < end; other++)
            if (before(heap[other], heap[first]))
                first = other;
        if (!before(heap[first], event))
            break;
        heap[at] = heap[first];
        at = first;
    }
    heap[at] = event;
}

struct event event_take(void)
{
    struct event first = events.heap[0];
    if (!events.count)
        return first;
    struct event last = events.heap[--events.count];
    if (events.count)
        sink(last);
    else
        events.heap[0] = never;
    return first;
}

struct event event_exchange(uint64_t time, enum event_kind kind, uint32_t subject)
{
    struct event event = decide(time, kind, subject), first = events.heap[0];
    if (before(event, first))
        return event;
    sink(event);
    return first;
}
