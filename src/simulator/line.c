/* SPDX-License-Identifier: MIT */
#include "simulator/line.h"

struct line_sets line_sets;

void lines_start(void)
{
    unsigned cores = (unsigned)(machine.cpus / machine.threads_per_core);
    line_sets.core_words = (cores + 63) / 64;
    line_sets.place_words = (unsigned)(machine.places + 63) / 64;
    unsigned words = 2 * line_sets.core_words + line_sets.place_words;
    memory_start(sizeof(struct line) + words * sizeof(uint64_t));
}

void line_touch(struct line *line, unsigned place)
{
    line->touched = true;
    line->home = (uint16_t)home_on_first_use(line_number(line), place);
    line->state = MACHINE_INVALID;
    line->owner = line->writer = line->last_writer = NOBODY;
}
