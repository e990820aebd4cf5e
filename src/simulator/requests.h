/* SPDX-License-Identifier: MIT */
/*
 * Cache lines: who holds one, and how a request for it is served.
 *
 * A line serves one request after the other, in the order in which they come, each for
 * as long as its transfer keeps the line busy. So what a request costs, and who holds
 * the line afterwards, is known as soon as it comes: a line's record describes it as it
 * will be behind its queue. Who held it before keeps hitting for a while (grace), until
 * the probe arrives.
 *
 * An epoch of a line ends with each request that writes. Holders of the epoch may read;
 * its owner, alone and neither owned nor shared, may also write.
 */
#ifndef HASP_SIMULATOR_REQUESTS_H
#define HASP_SIMULATOR_REQUESTS_H

#include "simulator/events.h"
#include "simulator/line.h"

/* When the thread can read from its own cache: `now`; later, if the line is on its way
 * there; UINT64_MAX: not without a request. */
uint64_t readable_at(struct line *line, const struct thread *thread, uint64_t now);
/* The same for writing. */
uint64_t writable_at(struct line *line, const struct thread *thread, uint64_t now);

/* It owns the line, or will when its turn comes: nobody else has a copy. */
bool line_exclusive(const struct line *line, const struct thread *thread);

/* Since the program started. */
struct transfers {
    uint64_t local, remote; /* within a place, between places */
};
extern struct transfers transfers;

/* Queues a request; when it is done. */
uint64_t request(struct line *line, const struct thread *thread,
                 enum machine_operation operation, uint64_t now);

/* The thread wrote to a line without a request: others of its core, or those who have
 * already queued for the line that it is about to lose, may have read what was there
 * before. */
void watchers_miss(struct line *line, const struct thread *thread, uint64_t time);

/* Back to memory, out of all caches. */
void line_evict(struct line *line, uint64_t now);

#endif
