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

enum { LINE_SHIFT = 6, PAGE_SHIFT = 12 };

struct memory {
    char *lines; /* records of all lines, `line_bytes` each */
    size_t line_bytes;
    const char *statics; /* static variables; their lines follow the arena's */
    size_t static_bytes;
};
extern struct memory memory;

#define ARENA_START ((uintptr_t)0x100000000000u)
#define ARENA_BYTES ((uintptr_t)1 << 30)

/* Call once the machine is known, before any other function here. */
void memory_start(size_t line_bytes);

/* Returns zeroed pages, or NULL if the arena is full. Their lines have their home in
 * `place`, or, for -1, in the place that uses the page first. */
void *memory_pages(size_t bytes, int place);

/* Does the same with guard pages at both ends; never returns NULL. */
void *memory_stack(size_t bytes);

/* Returns the line's number, which events carry. */
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
