/* SPDX-License-Identifier: MIT */
/*
 * Simulated memory. It lies at a fixed address, so that what depends on addresses
 * (locks hash theirs) is the same in each run. Values are kept there; this says which
 * lines they are on, and where those are at home.
 */
#ifndef HASP_SIMULATOR_MEMORY_H
#define HASP_SIMULATOR_MEMORY_H

#include <stddef.h>
#include <stdint.h>

struct line;

enum { LINE_SHIFT = 6, PAGE_SHIFT = 12 };

struct memory {
    char *lines; /* of all memory, `line_bytes` each */
    size_t line_bytes;
    const char *statics; /* the program's variables, whose lines come last */
    size_t static_bytes;
};
extern struct memory memory;

#define ARENA_START ((uintptr_t)0x100000000000u)
#define ARENA_BYTES ((uintptr_t)1 << 30)

/* Of machine.h's machine: before anything else here. */
void memory_start(size_t line_bytes);

/* Zeroed pages, whose lines are at home in that place, or, for -1, where they are first
 * used. NULL when the arena is full. */
void *memory_pages(size_t bytes, int place);

/* The same, between pages that fault. */
void *memory_stack(size_t bytes);

/* The line's number, for events. */
uint32_t line_index(const void *address);

static inline struct line *line_at(uint32_t index)
{
    return (struct line *)(memory.lines + index * memory.line_bytes);
}

static inline uint32_t line_number(const struct line *line)
{
    return (uint32_t)((size_t)((const char *)line - memory.lines) / memory.line_bytes);
}

static inline struct line *line_of(const void *address)
{
    return line_at(line_index(address));
}

/* Returns the home of a line that is first used from `place`. Called once per line. */
unsigned home_on_first_use(uint32_t line, unsigned place);

#endif
