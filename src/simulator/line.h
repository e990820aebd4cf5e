/* SPDX-License-Identifier: MIT */
/* The state of a cache line. */
#ifndef HASP_SIMULATOR_LINE_H
#define HASP_SIMULATOR_LINE_H

#include "simulator/memory.h"
#include "simulator/thread.h"

enum { NOBODY = UINT16_MAX };

struct line {
    uint64_t free_at;    /* when all queued requests have been served */
    uint64_t written_at; /* when the last queued write is served and its epoch begins */
    uint64_t ended_until; /* until then, holders in the previous epoch still hit */
    uint32_t epoch;
    uint16_t owner;            /* core, or NOBODY */
    uint16_t writer;           /* CPU that wrote last, else read first, or NOBODY */
    uint16_t last_writer;      /* thread, for deadlock reports, or NOBODY */
    uint16_t would_be_writers; /* watchers that also write */
    uint32_t watchers;         /* the first in a list; see watching.h */
    uint16_t home;
    uint16_t sharers; /* cores that hold it */
    uint8_t state;    /* enum machine_state */
    bool touched;
    uint16_t marks; /* transactions that have read or written it */
    bool kept;      /* the owner already held it, and may read before written_at */
    /* The set of holding cores, that of the previous epoch, and the set of places with
     * holders. line_sets has their sizes. */
    uint64_t sets[];
};

struct line_sets {
    unsigned core_words, place_words;
};
extern struct line_sets line_sets;

static inline uint64_t *holders_of(struct line *line)
{
    return line->sets;
}

static inline uint64_t *former_holders_of(struct line *line)
{
    return line->sets + line_sets.core_words;
}

static inline uint64_t *holding_places_of(struct line *line)
{
    return line->sets + 2 * line_sets.core_words;
}

static inline bool has(const uint64_t *set, unsigned member)
{
    return set[member / 64] >> member % 64 & 1;
}

static inline void add_to(uint64_t *set, unsigned member)
{
    set[member / 64] |= UINT64_C(1) << member % 64;
}

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
