/* SPDX-License-Identifier: MIT */
/* The places in memory that threads share, and what was learnt of them. */
#include "explorer/model.h"

#include <string.h>

struct known known;

enum { NO_INDEX = UINT16_MAX };

/* Open addressing by address; entries are indices of known.place plus one. */
static uint16_t *index_entry(const void *address, unsigned size, bool is_cell)
{
    unsigned at = (unsigned)(uintptr_t)address * 2654435761u >> 16;
    for (;; at++) {
        uint16_t *entry = &known.index[at % INDEX];
        if (!*entry)
            return entry;
        const struct place *place = &known.place[*entry - 1];
        if (place->address == address && place->is_cell == is_cell &&
            (is_cell || place->size == size))
            return entry;
    }
}

struct place *place_of(const void *address, unsigned size, bool is_cell)
{
    uint16_t *entry = index_entry(address, size, is_cell);
    if (*entry)
        return &known.place[*entry - 1];
    if (known.places == PLACES) {
        fail("limit", "more than %d places", PLACES);
        return &known.place[0];
    }
    struct place *place = &known.place[known.places++];
    *place = (struct place){.address = (char *)(uintptr_t)address,
                            .size = size,
                            .is_cell = is_cell,
                            .cell = NO_INDEX,
                            .plain = NO_INDEX};
    memcpy(&place->initial, address, size);
    *entry = (uint16_t)known.places;
    return place;
}

struct place *place_of_cell(const void *address, unsigned size)
{
    struct place *place = place_of(address, size, true);
    if (place->size != size)
        fail("mixed sizes", "%s is accessed with %u and with %u bytes",
             cell_name(address), place->size, size);
    return place;
}

bool is_quiet(const struct place *place)
{
    return place->cell == NO_INDEX;
}

bool is_tracked(const struct place *place)
{
    return place->plain != NO_INDEX;
}

void place_is_written(struct place *place)
{
    if (!place->written)
        place->written = known.changed = true;
}

void place_is_contended(struct place *place)
{
    if (!place->contended)
        place->contended = place->written = known.changed = true;
}

unsigned places_learnt(void)
{
    unsigned learnt = (unsigned)known.fences + known.heavy;
    for (unsigned i = 0; i < known.places; i++)
        learnt += 1u + known.place[i].written + known.place[i].contended;
    return learnt;
}

void places_begin(void)
{
    known.cells = known.plains = 0;
    for (unsigned i = 0; i < known.places; i++) {
        struct place *place = &known.place[i];
        bool is_cell = place->is_cell && (place->contended || known.heavy);
        place->cell = place->plain = NO_INDEX;
        if (!place->written)
            continue;
        if (known.cells == CELLS || known.plains == PLAINS) {
            fail("limit", "more than %d cells", CELLS);
            return;
        }
        if (is_cell) {
            place->cell = (uint16_t)known.cells;
            known.cell[known.cells++] = (uint16_t)i;
        } else {
            place->plain = (uint16_t)known.plains;
            known.plain[known.plains++] = (uint16_t)i;
        }
    }
}

void places_reset(void)
{
    for (unsigned i = 0; i < known.places; i++)
        if (known.place[i].written)
            memcpy(known.place[i].address, &known.place[i].initial,
                   known.place[i].size);
}

struct place *place_of_index(uint16_t cell)
{
    return &known.place[known.cell[cell]];
}
