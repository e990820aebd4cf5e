/* SPDX-License-Identifier: MIT */
/* Reads the plan that Python's site_plan/flatten.py writes; the grammar is described
 * there. */
#include "preload/plan.h"

#include "barriers/list/descriptor.h"
#include "borrowing/list.h"
#include "platform/native/small_file.h"
#include "elision/rwlock_list.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_BYTES = 1 << 16 };

struct plan plan;
static char text[MAX_BYTES]; /* names and sites point into it */

__attribute__((noreturn)) static void refuse(const char *what, const char *detail)
{
    complain(what, detail);
    complain("use `hasp run --plan`, which writes the file", "");
    _exit(2);
}

static void read_text(const char *path)
{
    long length = small_file_read(path, text, sizeof text);
    if (length < 0)
        refuse("HASP_PLAN: cannot read ", path);
    if (length == sizeof text - 1)
        refuse("HASP_PLAN: the file is too large: ", path);
}

/* Removes the next word from the line and returns it. */
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

static struct plan_range range(char **line)
{
    struct plan_range read = {.module = (unsigned)number(line, 10)};
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

const char *const plan_kind_names[PLAN_KINDS] = {
    [PLAN_MUTEX] = "mutex",
    [PLAN_RWLOCK] = "rwlock",
    [PLAN_BARRIER] = "barrier",
};

/* Find an algorithm by name in the list of a kind: its index, or -1. */
static int (*const finders[PLAN_KINDS])(const char *name) = {
    [PLAN_MUTEX] = listed_find,
    [PLAN_RWLOCK] = elided_rwlock_find,
    [PLAN_BARRIER] = barrier_find,
};

static uint8_t kind_named(const char *name)
{
    for (unsigned kind = 0; kind < PLAN_KINDS; kind++)
        if (strcmp(plan_kind_names[kind], name) == 0)
            return (uint8_t)kind;
    refuse("HASP_PLAN: unknown kind of object: ", name);
}

static void entry_line(char form, char *line)
{
    if (plan.entries == PLAN_ENTRIES)
        refuse("HASP_PLAN: too many entries", "");
    struct plan_entry *entry = &plan.entry[plan.entries++];
    entry->kind = kind_named(word(&line));
    plan.entries_of[entry->kind]++;
    entry->name = word(&line);
    int found = finders[entry->kind](entry->name);
    if (found < 0)
        refuse("HASP_PLAN: unknown lock algorithm: ", entry->name);
    entry->slot = (uint8_t)(found + 1);
    if (form == 'f') {
        entry->depth = (uint8_t)number(&line, 10);
        plan.uses_frames = true;
        if (entry->depth < 1 || entry->depth > PLAN_FRAMES)
            refuse("HASP_PLAN: too many frames", "");
    }
    for (unsigned i = 0; i == 0 || i < entry->depth; i++)
        entry->range[i] = range(&line);
    entry->site = line;
}

void plan_read(const char *path)
{
    read_text(path);
    for (char *line = text, *next; *line; line = next) {
        next = strchr(line, '\n');
        if (!next)
            refuse("HASP_PLAN: the last line is truncated: ", line);
        *next++ = '\0';
        char form = *word(&line);
        if (form == 'm')
            module_line(line);
        else if (form == 'a' || form == 'f')
            entry_line(form, line);
        else
            refuse("HASP_PLAN: unknown kind of line: ", line);
    }
}
