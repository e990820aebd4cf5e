/* SPDX-License-Identifier: MIT */
/*
 * Simulated memory: an arena at a fixed address, so that code that depends on addresses
 * (some locks hash theirs) behaves the same in each run, and the program's static
 * variables. Maps addresses to cache lines, and lines to their homes.
 */
#ifndef HASP_SIMULATOR_MEMORY_H
#define HASP_SIMULATOR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct line;

enum { LINE_SHIFT = 6, PAGE_SHIFT = 12, RECORD_SHIFT = 6 };

struct memory {
    struct line *lines; /* records of all lines */
    uint64_t *sets;     /* `set_words` for each line; see holders.h */
    size_t set_words;
    const char *statics; /* static variables; their lines follow the arena's */
    size_t static_bytes;
};
extern struct memory memory;

#define ARENA_START ((uintptr_t)0x100000000000u)
#define ARENA_BYTES ((uintptr_t)1 << 30)

/* Call once the machine is known, before any other function here. */
void memory_start(size_t set_words);

/* Returns zeroed pages, or NULL if the arena is full. Their lines have their home in
 * `place`, or, for -1, in the place that uses the page first. */
void *memory_pages(size_t bytes, int place);

/* Does the same with guard pages at both ends; never returns NULL. */
void *memory_stack(size_t bytes);

/* Returns a stack with guard pages outside the arena, for the simulator itself. */
void *memory_host_stack(size_t bytes);

/* Returns zeroed memory outside of the arena, for a table of the simulator. */
void *memory_host_table(size_t bytes);

/* Asks the host to use huge pages for the first `bytes` of a table. */
void memory_use_huge_pages(void *table, size_t bytes);

/* Ends the program with the message that a cell is not in simulated memory. */
__attribute__((noreturn, cold)) void refuse_cell(void);

/* Returns the line's number, which events carry. */
static inline uint32_t line_index(const void *address)
{
    uintptr_t offset = (uintptr_t)address - ARENA_START;
    if (__builtin_expect(offset < ARENA_BYTES, 1))
        return (uint32_t)(offset >> LINE_SHIFT);
    offset = (uintptr_t)address - (uintptr_t)memory.statics;
    if (offset >= memory.static_bytes)
        refuse_cell();
    return (uint32_t)((ARENA_BYTES + offset) >> LINE_SHIFT);
}

static inline struct line *line_at(uint32_t index)
{
    return (struct line *)((char *)memory.lines + ((size_t)index << RECORD_SHIFT));
}

static inline uint32_t line_number(const struct line *line)
{
    const size_t offset = (size_t)((const char *)line - (const char *)memory.lines);
    return (uint32_t)(offset >> RECORD_SHIFT);
}

/* The number of the cell at an address in that line, and back. */
static inline uint32_t cell_number(const struct line *line, const void *address)
{
    const uintptr_t in_line = (uintptr_t)address & ((1 << LINE_SHIFT) - 1);
    return line_number(line) << LINE_SHIFT | (uint32_t)in_line;
}

static inline const void *cell_at(uint32_t cell)
{
    return cell < ARENA_BYTES ? (const char *)(ARENA_START + cell)
                              : memory.statics + (cell - ARENA_BYTES);
}

static inline struct line *line_of_cell(uint32_t cell)
{
    return line_at(cell >> LINE_SHIFT);
}

static inline struct line *line_of(const void *address)
{
    return line_at(line_index(address));
}

/* Returns the home of a line that is first used from `place`. Called once per line. */
unsigned home_on_first_use(uint32_t line, unsigned place);

#endif
