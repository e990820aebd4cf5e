/* SPDX-License-Identifier: MIT */
#include "simulator/memory.h"
#include "simulator/simulator.h"

#include <string.h>
#include <sys/mman.h>

struct memory memory;

static uintptr_t used; /* bytes of the arena */
/* For each page of the arena: its home + 1, or 0 before the first use. */
static uint16_t *page_home;
static uint32_t static_lines_used;

extern char __data_start, _end; /* the linker's bounds of static variables */

enum {
    ARENA_LINES = ARENA_BYTES >> LINE_SHIFT,
    ARENA_PAGES = ARENA_BYTES >> PAGE_SHIFT,
    PAGE = 1 << PAGE_SHIFT,
    HUGE_PAGE = 2 << 20,
};

static void *reserve(uintptr_t at, size_t bytes)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    void *found = mmap((void *)at, bytes, PROT_READ | PROT_WRITE,
                       at ? flags | MAP_FIXED_NOREPLACE : flags, -1, 0);
    if (found == MAP_FAILED || (at && (uintptr_t)found != at))
        simulated_die("no address space for simulated memory; raise `ulimit -v`");
    return found;
}

void memory_start(size_t set_words)
{
    uintptr_t start = (uintptr_t)&__data_start & ~(uintptr_t)(PAGE - 1);
    memory.statics = (const char *)start;
    memory.static_bytes = (uintptr_t)&_end - start;
    memory.set_words = set_words;
    size_t lines = ARENA_LINES + (memory.static_bytes >> LINE_SHIFT) + 1;
    memory.lines = reserve(0, lines << RECORD_SHIFT);
    memory.sets = reserve(0, lines * set_words * sizeof *memory.sets);
    page_home = reserve(0, ARENA_PAGES * sizeof *page_home);
    reserve(ARENA_START, ARENA_BYTES);
}

static char *take(size_t bytes)
{
    if (!memory.lines)
        simulated_die("no machine has been loaded: call use_machine() first");
    bytes = (bytes + PAGE - 1) & ~(size_t)(PAGE - 1);
    if (bytes > ARENA_BYTES - used)
        return NULL;
    char *start = (char *)(ARENA_START + used);
    used += bytes;
    return start;
}

void *memory_pages(size_t bytes, int place)
{
    char *start = take(bytes);
    if (start && place >= 0)
        for (size_t i = 0; i < bytes; i += PAGE)
            page_home[(uintptr_t)(start + i - ARENA_START) >> PAGE_SHIFT] =
                (uint16_t)(place + 1);
    return start;
}

static void *between_guards(char *start, size_t bytes)
{
    mprotect(start, PAGE, PROT_NONE);
    mprotect(start + PAGE + bytes, PAGE, PROT_NONE);
    return start + PAGE;
}

void *memory_stack(size_t bytes)
{
    char *start = take(bytes + 2 * PAGE);
    if (!start)
        simulated_die("out of memory for thread stacks; use fewer threads");
    return between_guards(start, bytes);
}

void *memory_host_stack(size_t bytes)
{
    return between_guards(reserve(0, bytes + 2 * PAGE), bytes);
}

void *memory_host_table(size_t bytes)
{
    uintptr_t start = (uintptr_t)reserve(0, bytes + HUGE_PAGE);
    return (void *)((start + HUGE_PAGE - 1) & ~(uintptr_t)(HUGE_PAGE - 1));
}

void memory_use_huge_pages(void *table, size_t bytes)
{
    bytes = (bytes + HUGE_PAGE - 1) & ~(size_t)(HUGE_PAGE - 1);
    (void)madvise(table, bytes, MADV_HUGEPAGE); /* only faster */
}

void refuse_cell(void)
{
    simulated_die("a cell lies outside simulated memory; put it in shared_pages(), "
                  "a static variable or a worker's stack");
}

/* Multiplicative hash: D. Knuth, "The Art of Computer Programming", vol. 3, 6.4. */
static unsigned spread(uint32_t line)
{
    return (unsigned)((line * UINT64_C(2654435761) & UINT32_MAX) >> 8);
}

/* The linker chooses the addresses of static variables, so addresses must not decide
 * the homes of their lines: static lines are numbered in the order of first use, and
 * each has a home of its own rather than that of its page. */
unsigned home_on_first_use(uint32_t line, unsigned place)
{
    const bool is_static = line >= ARENA_LINES;
    if (is_static)
        line = ARENA_LINES + static_lines_used++;
    if (machine.model.hashed_home)
        return spread(line) % (unsigned)machine.places;
    if (is_static)
        return place;
    uint16_t *home = &page_home[line >> (PAGE_SHIFT - LINE_SHIFT)];
    if (!*home)
        *home = (uint16_t)(place + 1);
    return *home - 1u;
}
