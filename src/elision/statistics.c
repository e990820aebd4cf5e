/* SPDX-License-Identifier: MIT */
#include "elision/statistics.h"

#include "elision/backend.h"
#include "elision/counts.h"
#include "elision/global.h"
#include "platform/platform.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

enum { MAX_BYTES = 4096 };
static const uint64_t SECOND = 1000000000;

struct line {
    char text[MAX_BYTES];
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void add(struct line *line,
                                                      const char *format, ...)
{
    va_list values;
    va_start(values, format);
    size_t space = sizeof line->text - line->length;
    int added = vsnprintf(line->text + line->length, space, format, values);
    va_end(values);
    line->length += added < 0 ? 0 : (size_t)added < space ? (size_t)added : space - 1;
}

static void add_number(struct line *line, const char *name, uint64_t number)
{
    add(line, ",\"%s\":%" PRIu64, name, number);
}

static void add_list(struct line *line, const char *name, const uint64_t *numbers,
                     unsigned count)
{
    add(line, ",\"%s\":[", name);
    for (unsigned i = 0; i < count; i++)
        add(line, "%s%" PRIu64, i ? "," : "", numbers[i]);
    add(line, "]");
}

static void add_aborts(struct line *line, const uint64_t *aborts)
{
    static const char *const names[ELISION_CAUSES] = {
        [ELISION_BY_CONFLICT] = "conflict", [ELISION_BY_CAPACITY] = "capacity",
        [ELISION_BY_BUSY] = "busy",         [ELISION_BY_TRYLOCK] = "trylock",
        [ELISION_BY_WAIT] = "wait",         [ELISION_BY_CODE] = "explicit",
        [ELISION_BY_DEBUG] = "debug",       [ELISION_BY_OTHER] = "other",
    };
    add(line, ",\"aborts\":{");
    for (unsigned i = 0; i < ELISION_CAUSES; i++)
        add(line, "%s\"%s\":%" PRIu64, i ? "," : "", names[i], aborts[i]);
    add(line, "}");
}

void elision_statistics_write(const char *path)
{
    const struct elision_counts counts = elision_counts_sum();
    if (!counts.begins && !counts.acquired)
        return; /* the process used no elided lock */
    struct line line = {.length = 0};
    add(&line, "{\"schema\":\"hasp.elision/1\",\"process\":%d", (int)getpid());
    add(&line, ",\"transactions\":\"%s\",\"emulated\":%s", elision_backend()->name,
        elision_backend()->emulated ? "true" : "false");
    add(&line, ",\"scope\":\"%s\"",
        !elision_settings.global ? "fine" : global_has_ended() ? "ended" : "global");
    add_number(&line, "begins", counts.begins);
    add_number(&line, "commits", counts.commits);
    add_aborts(&line, counts.aborts);
    add_number(&line, "nested_aborts", counts.nested_aborts);
    add_list(&line, "committed_after", counts.committed_after, ELISION_ATTEMPTS);
    add_list(&line, "levels", counts.levels, ELISION_LEVELS);
    add_number(&line, "elided", counts.elided);
    add_number(&line, "acquired", counts.acquired);
    add_number(&line, "skipped", counts.skipped);
    add_number(&line, "guarded", counts.guarded);
    add_number(&line, "busy", counts.busy);
    add_number(&line, "fallbacks", counts.fallbacks);
    add_number(&line, "wait_ticks", counts.wait_ticks);
    add_number(&line, "abort_ticks", counts.abort_ticks);
    add_number(&line, "commit_ticks", counts.commit_ticks);
    add_number(&line, "fallback_ticks", counts.fallback_ticks);
    add_number(&line, "spent_ticks", counts.spent_ticks);
    add_number(&line, "second_ticks", SECOND * SECOND / ticks_to_ns(SECOND));
    add(&line, "}\n");
    int file = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0)
        return;
    ssize_t written = write(file, line.text, line.length);
    (void)written;
    close(file);
}
