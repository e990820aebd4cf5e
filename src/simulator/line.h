/* SPDX-License-Identifier: MIT */
/* The state of a cache line. */
#ifndef HASP_SIMULATOR_LINE_H
#define HASP_SIMULATOR_LINE_H

#include "simulator/memory.h"
#include "simulator/thread.h"

#include <assert.h>

enum { NOBODY = UINT16_MAX };

enum { FEW = 3 };

/* One cache line of the host. Most lines have few holders, which are listed here;
 * holders.h has the sets of those with more. */
struct line {
    uint64_t free_at;     /* when all queued requests have been served */
    uint64_t written_at;  /* when the last queued write is served: its epoch begins */
    uint64_t ended_until; /* until then, holders in the previous epoch still hit */
    uint32_t epoch;
    uint32_t watchers;         /* the first in a list; see watching.h */
    uint16_t owner;            /* core, or NOBODY */
    uint16_t writer;           /* CPU that wrote last, else read first, or NOBODY */
    uint16_t last_writer;      /* thread, for reports and checks, or NOBODY */
    uint16_t would_be_writers; /* watchers that also write */
    uint16_t home;
    uint16_t marks;   /* transactions that have read or written it */
    uint16_t sharers; /* cores that hold it */
    uint16_t formers; /* cores that held it in the previous epoch */
    uint16_t few[FEW], former[FEW]; /* these cores, unless they are more */
    uint8_t state;                  /* enum machine_state */
    bool touched;
    bool migrated; /* the owner took it by a load, and has not written since */
    bool kept; /* the owner already held it, and may read before written_at */
};
static_assert(sizeof(struct line) == 1 << RECORD_SHIFT, "a line fits a cache line");

void lines_start(void);

/* Initialises a line on first use: in memory, in no cache. */
void line_touch(struct line *line, unsigned place);

static inline struct line *line_used(struct line *line, const struct thread *thread)
{
    if (__builtin_expect(!line->touched, 0))
        line_touch(line, thread->place);
    return line;
}

#endif
