/* SPDX-License-Identifier: MIT */
/* The state of a cache line. */
#ifndef HASP_SIMULATOR_LINE_H
#define HASP_SIMULATOR_LINE_H

#include "simulator/memory.h"
#include "simulator/thread.h"

enum { NOBODY = UINT16_MAX };

struct line {
    uint64_t free_at;     /* behind the queue */
    uint64_t written_at;  /* when the last write's turn comes: when its epoch begins */
    uint64_t ended_until; /* how long holders of the epoch before still hit */
    uint32_t epoch;
    uint16_t owner;       /* core; NOBODY */
    uint16_t writer;      /* CPU that wrote last, or read first; NOBODY */
    uint16_t last_writer; /* thread, for reports; NOBODY */
    uint16_t takers;      /* watchers that mean to write */
    uint32_t watchers;    /* the first one; see watching.h */
    uint16_t home;
    uint16_t sharers; /* cores that hold it */
    uint8_t state;    /* enum machine_state */
    bool touched;
    uint16_t marks; /* transactions that have read or written it */
    bool kept;      /* the owner held it before, and may read meanwhile */
    /* Sets of cores: holders, and those of the epoch before; of places: where holders
     * are. See line_sets. */
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

/* A line's first use brings it into being: in memory, in no cache. */
void line_touch(struct line *line, unsigned place);

static inline struct line *line_used(struct line *line, const struct thread *thread)
{
    if (__builtin_expect(!line->touched, 0))
        line_touch(line, thread->place);
    return line;
}

#endif
