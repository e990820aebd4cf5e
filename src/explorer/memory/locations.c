/* SPDX-License-Identifier: MIT */
#include "explorer/memory/locations.h"

#include "explorer/base/names.h"
#include "explorer/base/verdict.h"

struct known known;

enum { NO_INDEX = UINT16_MAX };

/* Open addressing by address; entries are indices of known.location plus one. */
static uint16_t *index_entry(const void *address, unsigned size, bool is_cell)
{
    unsigned at = (unsigned)(uintptr_t)address * 2654435761u >> 16;
    for (;; at++) {
        uint16_t *entry = &known.index[at % LOCATION_INDEX];
        if (!*entry)
            return entry;
        const struct location *location = &known.location[*entry - 1];
        if (location->address == address && location->is_cell == is_cell &&
            (is_cell || location->size == size))
            return entry;
    }
}

struct location *location_of(const void *address, unsigned size, bool is_cell)
{
    uint16_t *entry = index_entry(address, size, is_cell);
    if (*entry)
        return &known.location[*entry - 1];
    if (known.locations == LOCATIONS) {
        fail("limit", "more than %d memory locations", LOCATIONS);
        return &known.location[0];
    }
    struct location *location = &known.location[known.locations++];
    *location = (struct location){.address = (char *)(uintptr_t)address,
                                  .size = size,
                                  .is_cell = is_cell,
                                  .cell = NO_INDEX,
                                  .plain = NO_INDEX};
    memcpy(&location->initial, address, size);
    *entry = (uint16_t)known.locations;
    return location;
}

const struct location *location_known_cell(const void *address)
{
    const uint16_t *entry = index_entry(address, 0, true);
    return *entry ? &known.location[*entry - 1] : NULL;
}

struct location *location_of_cell(const void *address, unsigned size)
{
    struct location *location = location_of(address, size, true);
    if (location->size != size)
        fail("mixed sizes", "%s is accessed with %u and with %u bytes",
             cell_name(address), location->size, size);
    return location;
}

bool is_ordered_cell(const struct location *location)
{
    return location->cell == NO_INDEX;
}

bool is_tracked(const struct location *location)
{
    return location->plain != NO_INDEX;
}

void location_note_write(struct location *location)
{
    if (!location->written)
        location->written = verdict.learnt = true;
}

void location_note_race(struct location *location)
{
    if (!location->contended)
        location->contended = location->written = verdict.learnt = true;
}

unsigned locations_learnt(void)
{
    unsigned learnt = (unsigned)known.fences + known.heavy;
    for (unsigned i = 0; i < known.locations; i++)
        learnt += 1u + known.location[i].written + known.location[i].contended;
    return learnt;
}

void locations_begin(void)
{
    known.cells = known.plains = 0;
    for (unsigned i = 0; i < known.locations; i++) {
        struct location *location = &known.location[i];
        bool is_cell = location->is_cell && (location->contended || known.every_step);
        location->cell = location->plain = NO_INDEX;
        if (!location->written)
            continue;
        if (known.cells == CELLS || known.plains == PLAINS) {
            fail("limit", "more than %d written memory locations", CELLS);
            return;
        }
        if (is_cell) {
            location->cell = (uint16_t)known.cells;
            known.cell[known.cells++] = (uint16_t)i;
        } else {
            location->plain = (uint16_t)known.plains;
            known.plain[known.plains++] = (uint16_t)i;
        }
    }
}

void locations_reset(void)
{
    for (unsigned i = 0; i < known.locations; i++)
        if (known.location[i].written)
            memcpy(known.location[i].address, &known.location[i].initial,
                   known.location[i].size);
}

struct location *location_of_index(uint16_t cell)
{
    return &known.location[known.cell[cell]];
}
