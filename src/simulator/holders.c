/* SPDX-License-Identifier: MIT */
#include "simulator/holders.h"

#include <string.h>

struct set_sizes set_sizes;

unsigned place_of(unsigned core)
{
    return machine.place_of_cpu[core * machine.threads_per_core];
}

static uint64_t *set_of_places(const struct line *line)
{
    return set_of_holders(line) + 2 * set_sizes.core_words;
}

static void add_to_sets(struct line *line, unsigned core)
{
    add_to(set_of_holders(line), core);
    add_to(set_of_places(line), place_of(core));
}

static void move_to_sets(struct line *line)
{
    memset(set_of_holders(line), 0, set_sizes.core_words * sizeof(uint64_t));
    memset(set_of_places(line), 0, set_sizes.place_words * sizeof(uint64_t));
    for (unsigned i = 0; i < line->sharers; i++)
        add_to_sets(line, line->few[i]);
}

void line_hold(struct line *line, unsigned core)
{
    if (line_is_held(line, core))
        return;
    if (line->sharers < FEW) {
        line->few[line->sharers++] = (uint16_t)core;
        return;
    }
    if (line->sharers == FEW)
        move_to_sets(line);
    add_to_sets(line, core);
    line->sharers++;
}

void line_note_formers(struct line *line)
{
    if (!line->sharers)
        return;
    line->formers = line->sharers;
    if (line->sharers <= FEW)
        memcpy(line->former, line->few, sizeof line->former);
    else
        memcpy(set_of_formers(line), set_of_holders(line),
               set_sizes.core_words * sizeof(uint64_t));
}

const uint64_t *holding_places(const struct line *line, uint64_t space[PLACE_WORDS_MAX])
{
    if (line->sharers > FEW)
        return set_of_places(line);
    memset(space, 0, PLACE_WORDS_MAX * sizeof(uint64_t)); /* few, in any case */
    for (unsigned i = 0; i < line->sharers; i++)
        add_to(space, place_of(line->few[i]));
    return space;
}
