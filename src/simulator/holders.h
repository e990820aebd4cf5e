/* SPDX-License-Identifier: MIT */
/*
 * The cores that hold a line. Up to FEW are listed in the line itself. If there are
 * more, bit sets outside of the line are valid instead: one of the cores, one of the
 * cores that held it in the previous epoch, and one of the places with holders.
 */
#ifndef HASP_SIMULATOR_HOLDERS_H
#define HASP_SIMULATOR_HOLDERS_H

#include "simulator/line.h"

enum { SET_BITS = 64, PLACE_WORDS_MAX = PLACES_MAX / SET_BITS };

struct set_sizes {
    unsigned core_words, place_words;
};
extern struct set_sizes set_sizes;

static inline uint64_t *set_of_holders(const struct line *line)
{
    return memory.sets + line_number(line) * memory.set_words;
}

static inline uint64_t *set_of_formers(const struct line *line)
{
    return set_of_holders(line) + set_sizes.core_words;
}

static inline bool has(const uint64_t *set, unsigned member)
{
    return set[member / SET_BITS] >> member % SET_BITS & 1;
}

static inline void add_to(uint64_t *set, unsigned member)
{
    set[member / SET_BITS] |= UINT64_C(1) << member % SET_BITS;
}

static inline bool is_among(const uint16_t few[FEW], unsigned count, unsigned core)
{
    for (unsigned i = 0; i < count; i++)
        if (few[i] == core)
            return true;
    return false;
}

static inline bool line_is_held(const struct line *line, unsigned core)
{
    return line->sharers <= FEW ? is_among(line->few, line->sharers, core)
                                : has(set_of_holders(line), core);
}

static inline bool line_was_held(const struct line *line, unsigned core)
{
    return line->formers <= FEW ? is_among(line->former, line->formers, core)
                                : has(set_of_formers(line), core);
}

void line_hold(struct line *line, unsigned core);

/* Notes the holders, if there are any, as those of the previous epoch. */
void line_note_formers(struct line *line);

/* The set of the places that hold the line: its own, or a new one in `space`. */
const uint64_t *holding_places(const struct line *line,
                               uint64_t space[PLACE_WORDS_MAX]);

unsigned place_of(unsigned core);

#endif
