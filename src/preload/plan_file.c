/* SPDX-License-Identifier: MIT */
/* Reads the plan that python/hasp/plan/flatten.py wrote; that file has the grammar. */
#include "preload/plan.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MOST_BYTES = 1 << 16 };

struct plan plan;
static char text[MOST_BYTES]; /* names and sites point into it */

__attribute__((noreturn)) static void refuse(const char *what, const char *detail)
{
    complain(what, detail);
    complain("HASP_PLAN is written by `hasp run --plan`; use that", "");
    _exit(2);
}

static void read_text(const char *path)
{
    const long flags = O_RDONLY | O_CLOEXEC;
    long file = raw_syscall(SYS_openat, AT_FDCWD, (long)path, flags, 0, 0, 0);
    if (file < 0)
        refuse("HASP_PLAN: cannot be opened: ", path);
    size_t length = 0;
    long got;
    while ((got = raw_syscall(SYS_read, file, (long)(text + length),
                              (long)(sizeof text - 1 - length), 0, 0, 0)) > 0)
        length += (size_t)got;
    raw_syscall(SYS_close, file, 0, 0, 0, 0, 0);
    if (got < 0 || length == sizeof text - 1)
        refuse("HASP_PLAN: cannot be read, or too large: ", path);
}

/* Cuts the next word off a line. */
static char *word(char **line)
{
    char *begin = *line, *space = strchr(begin, ' ');
    *line = space ? space + 1 : begin + strlen(begin);
    if (space)
        *space = '\0';
    if (!*begin)
        refuse("HASP_PLAN: a line is too short", "");
    return begin;
}

static uintptr_t number(char **line, int base)
{
    char *digits = word(line), *end;
    uintptr_t value = strtoul(digits, &end, base);
    if (*end)
        refuse("HASP_PLAN: not a number: ", digits);
    return value;
}

static struct plan_place place(char **line)
{
    struct plan_place read = {.module = (unsigned)number(line, 10)};
    read.first = number(line, 16);
    read.last = number(line, 16);
    if (read.module >= plan.modules)
        refuse("HASP_PLAN: a module is missing", "");
    return read;
}

static void module_line(char *line)
{
    if (plan.modules == PLAN_MODULES)
        refuse("HASP_PLAN: too many modules", "");
    struct plan_module *module = &plan.module[plan.modules++];
    module->build_id = word(&line);
    module->name = line;
}

static void entry_line(char kind, char *line)
{
    if (plan.entries == PLAN_ENTRIES)
        refuse("HASP_PLAN: too many entries", "");
    struct plan_entry *entry = &plan.entry[plan.entries++];
    const char *name = word(&line);
    int lock = lock_find(name);
    if (lock < 0)
        refuse("HASP_PLAN: no lock is called ", name);
    entry->algorithm = (uint8_t)(lock + 1);
    if (kind == 'f') {
        entry->depth = (uint8_t)number(&line, 10);
        plan.asks_frames = true;
        if (entry->depth < 1 || entry->depth > PLAN_FRAMES)
            refuse("HASP_PLAN: too many frames", "");
    }
    for (unsigned i = 0; i == 0 || i < entry->depth; i++)
        entry->place[i] = place(&line);
    entry->site = line;
}

void plan_read(const char *path)
{
    read_text(path);
    for (char *line = text, *next; *line; line = next) {
        next = strchr(line, '\n');
        if (!next)
            refuse("HASP_PLAN: the last line is cut off: ", line);
        *next++ = '\0';
        char kind = *word(&line);
        if (kind == 'm')
            module_line(line);
        else if (kind == 'a' || kind == 'f')
            entry_line(kind, line);
        else
            refuse("HASP_PLAN: a line is not understood: ", line);
    }
}
