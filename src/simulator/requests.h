/* SPDX-License-Identifier: MIT */
/*
 * Requests for cache lines.
 *
 * A line serves requests in FIFO order, each for as long as its transfer keeps the line
 * busy. The cost of a request and the next holder are therefore known as soon as the
 * request is queued, and a line's record describes its state once the queue is empty.
 * Previous holders keep hitting until the probe arrives (the grace period).
 *
 * Each request that writes ends an epoch of the line. Holders in the present epoch may
 * read; an owner may also write while the line is modified or exclusive.
 */
#ifndef HASP_SIMULATOR_REQUESTS_H
#define HASP_SIMULATOR_REQUESTS_H

#include "simulator/events.h"
#include "simulator/line.h"

/* Returns when the thread can read the line in its own cache: `now`, later if the line
 * is on its way, or UINT64_MAX if it takes a request. */
uint64_t readable_at(struct line *line, const struct thread *thread, uint64_t now);
/* Does the same for writing. */
uint64_t writable_at(struct line *line, const struct thread *thread, uint64_t now);

/* Returns true if the thread's core has the only copy, or will once it is served. */
bool line_exclusive(const struct line *line, const struct thread *thread);

/* Since the program started. */
struct transfers {
    uint64_t local, remote; /* within a place, between places */
};
extern struct transfers transfers;

/* Queues a request, and returns when it is done. */
uint64_t request(struct line *line, const struct thread *thread,
                 enum machine_operation operation, uint64_t now);

/* Notes that the thread wrote to a line without a request, and notifies watchers.
 * Threads of the same core, and those already queued for the line, may have read the
 * old value. */
void watchers_miss(struct line *line, const struct thread *thread, uint64_t time);

/* Writes the line back to memory and removes it from all caches. */
void line_evict(struct line *line, uint64_t now);

#endif
