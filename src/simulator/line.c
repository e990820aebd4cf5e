/* SPDX-License-Identifier: MIT */
#include "simulator/line.h"
#include "simulator/holders.h"

void lines_start(void)
{
    unsigned cores = (unsigned)(machine.cpus / machine.threads_per_core);
    set_sizes.core_words = (cores + SET_BITS - 1) / SET_BITS;
    set_sizes.place_words = (unsigned)(machine.places + SET_BITS - 1) / SET_BITS;
    memory_start(2 * set_sizes.core_words + set_sizes.place_words);
}

void line_touch(struct line *line, unsigned place)
{
    line->touched = true;
    line->home = (uint16_t)home_on_first_use(line_number(line), place);
    line->state = MACHINE_INVALID;
    line->owner = line->writer = line->last_writer = NOBODY;
}
