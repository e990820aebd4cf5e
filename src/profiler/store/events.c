/* SPDX-License-Identifier: MIT */
#include "profiler/store/events.h"

enum { EVENTS_MOST = 1024 };

static struct atomic_u32 adding;

SERIES(event_records, TRACE_EVENTS, struct trace_event, EVENTS_MOST);

void events_forget(void)
{
    store_relaxed(&adding, 0);
    series_forget(&event_records);
}

static struct trace_event *find(const struct trace_event *wanted)
{
    uint32_t known = load_relaxed(&event_records.count);
    for (uint32_t number = 1; number <= known; number++) {
        struct trace_event *event = series_at(&event_records, number);
        if (event->kind == wanted->kind && event->lock == wanted->lock &&
            event->stack == wanted->stack)
            return event;
    }
    return NULL;
}

void event_add(uint32_t thread, enum trace_event_kind kind, uint32_t lock,
               uint32_t other, uint32_t stack)
{
    const struct trace_event record = {
        .ticks = ticks(),
        .kind = kind,
        .thread = thread,
        .lock = lock,
        .other = other,
        .stack = stack,
        .count = 1,
    };
    uint32_t number;
    if (!brief_lock(&adding)) {
        add_shared(&trace->lost_others, 1);
        return;
    }
    struct trace_event *known = find(&record);
    if (known)
        known->count++;
    else if (!series_append(&event_records, &record, &number))
        add_shared(&trace->lost_others, 1);
    brief_unlock(&adding);
}
