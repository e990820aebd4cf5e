/* SPDX-License-Identifier: MIT */
/* Saves and restores what a transaction writes (undo.h). */
#include "platform/native/undo_state.h"

#if defined(__x86_64__)

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

/* Copies the part of a stack that is in use, or of thread-local memory. */
static bool save_stack(uintptr_t from, uintptr_t end)
{
    uintptr_t used = 0;
    for (uint32_t i = 0; i < undo->stack_count; i++)
        used += undo->stacks[i].end - undo->stacks[i].begin;
    if (undo->stack_count == STACK_COUNT || end - from > STACKS - used)
        return false;
    memcpy(undo->stack_copies + used, (const void *)from, end - from);
    undo->stacks[undo->stack_count++] = (struct region){from, end};
    return true;
}

static bool protect(uintptr_t begin, uintptr_t end)
{
    if (begin >= end)
        return true;
    if (undo->region_count == REGIONS)
        return false;
    undo->regions[undo->region_count++] = (struct region){begin, end};
    return call(SYS_mprotect, (long)begin, (long)(end - begin), PROT_READ, 0) == 0;
}

/* The kernel writes to the thread's descriptor (rseq) whenever it has interrupted the
 * thread, and ends the process if it may not. Those of other threads than the first one
 * are on their stacks. */
static bool save_descriptor(uintptr_t begin, uintptr_t end, uintptr_t at)
{
    const uintptr_t from = at - at % PAGE, to = from + 2 * PAGE;
    return protect(begin, from) && save_stack(from, to < end ? to : end) &&
           protect(to, end);
}

static uintptr_t descriptor(void)
{
    uintptr_t at;
    __asm__("mov %%fs:0, %0" : "=r"(at));
    return at;
}

/* Saves or protects a private mapping. */
static bool take(uintptr_t begin, uintptr_t end, uintptr_t mine)
{
    uintptr_t top = mine >= begin && mine < end ? mine : 0;
    for (uint32_t i = 0; i < load_relaxed(&undo->stopped); i++)
        if (undo->tops[i] >= begin && undo->tops[i] < end &&
            (!top || undo->tops[i] < top))
            top = undo->tops[i];
    if (top)
        return save_stack(top, end);
    const uintptr_t own = descriptor();
    return own >= begin && own < end ? save_descriptor(begin, end, own)
                                     : protect(begin, end);
}

static uintptr_t hexadecimal(const char **text)
{
    uintptr_t value = 0;
    for (;; (*text)++) {
        const char c = **text;
        if (c >= '0' && c <= '9')
            value = value * 16 + (uintptr_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            value = value * 16 + (uintptr_t)(c - 'a' + 10);
        else
            return value;
    }
}

bool undo_protect(uintptr_t mine)
{
    long file = call(SYS_open, (long)"/proc/self/maps", O_RDONLY, 0, 0), part;
    size_t length = 0;
    if (file < 0)
        return false;
    while ((part = call(SYS_read, file, (long)(undo->maps + length),
                        (long)(sizeof undo->maps - 1 - length), 0)) > 0)
        length += (size_t)part;
    call(SYS_close, file, 0, 0, 0);
    undo->maps[length] = '\0';
    for (const char *line = undo->maps; *line;) {
        const uintptr_t begin = hexadecimal(&line);
        line++;
        const uintptr_t end = hexadecimal(&line);
        if (strncmp(line, " rw-p", 5) == 0 && !take(begin, end, mine))
            return false;
        while (*line && *line++ != '\n')
            ;
    }
    return length < sizeof undo->maps - 1;
}

void undo_unprotect(void)
{
    for (uint32_t i = 0; i < undo->region_count; i++)
        call(SYS_mprotect, (long)undo->regions[i].begin,
             (long)(undo->regions[i].end - undo->regions[i].begin),
             PROT_READ | PROT_WRITE, 0);
}

bool undo_is_protected(uintptr_t address)
{
    for (uint32_t i = 0; i < undo->region_count; i++)
        if (address >= undo->regions[i].begin && address < undo->regions[i].end)
            return true;
    return false;
}

void undo_save_page(uintptr_t page)
{
    memcpy(undo->page_copies[undo->page_count], (const void *)page, PAGE);
    undo->pages[undo->page_count++] = page;
    call(SYS_mprotect, (long)page, PAGE, PROT_READ | PROT_WRITE, 0);
}

void undo_restore(void)
{
    undo_unprotect();
    for (uint32_t i = 0; i < undo->page_count; i++)
        memcpy((void *)undo->pages[i], undo->page_copies[i], PAGE);
    size_t at = 0;
    for (uint32_t i = 0; i < undo->stack_count; i++) {
        const struct region *stack = &undo->stacks[i];
        const size_t bytes = stack->end - stack->begin;
        memcpy((void *)stack->begin, undo->stack_copies + at, bytes);
        at += bytes;
    }
}

#endif
