/* SPDX-License-Identifier: MIT */
/* The shared memory locations, and the facts that the search has learnt about them.
 * This is not part of the state: it holds for all runs of a search. */
#ifndef HASP_EXPLORER_MEMORY_LOCATIONS_H
#define HASP_EXPLORER_MEMORY_LOCATIONS_H

#include "explorer/base/limits.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct location {
    char *address;
    unsigned size;
    uint64_t initial;
    bool is_cell;
    bool written;         /* by some run; other locations are not tracked */
    bool contended;       /* a cell that is not ordered; see model.h */
    uint16_t cell, plain; /* its index in this search, if it has one */
};

enum { LOCATION_INDEX = 4 * LOCATIONS }; /* a power of two */

struct known {
    unsigned locations, cells, plains;
    uint16_t index[LOCATION_INDEX]; /* by address: number in `location`, plus one */
    struct location location[LOCATIONS];
    uint16_t cell[CELLS], plain[PLAINS]; /* their locations */
    bool fences;     /* full fences are used: views of relaxed reads are kept */
    bool heavy;      /* heavy barriers are used: light ones have an effect */
    bool every_step; /* every operation is a scheduling point, and no cell is ordered */
};

extern struct known known;

struct location *location_of(const void *address, unsigned size, bool is_cell);
/* Returns the cell at this address, or NULL if none is known. */
const struct location *location_known_cell(const void *address);

struct location *location_of_cell(const void *address, unsigned size);
struct location *location_of_index(uint16_t cell);
bool is_ordered_cell(const struct location *location);
bool is_tracked(const struct location *location); /* as plain memory */

/* Both restart the search if the fact is new. */
void location_note_write(struct location *location);
void location_note_race(struct location *location);

unsigned locations_learnt(void); /* a measure that grows with every fact learnt */
void locations_begin(void);      /* begins a search, with the facts learnt so far */
void locations_reset(void);      /* restores the initial values of plain memory */

static inline uint64_t value_at(const void *address, unsigned size)
{
    uint64_t value = 0;
    if (size == sizeof(uint32_t)) /* nearly always; avoids a call of memcpy */
        memcpy(&value, address, sizeof(uint32_t));
    else
        memcpy(&value, address, size);
    return value;
}

#endif
