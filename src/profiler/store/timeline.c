/* SPDX-License-Identifier: MIT */
#include "profiler/store/timeline.h"

#include <string.h>

bool timeline_keeps_next(struct timeline *line)
{
    if (!line->stride)
        line->stride = 1;
    return line->iteration++ % line->stride == 0;
}

static void thin(struct timeline *line)
{
    struct series *series = line->series;
    uint32_t count = load_relaxed(&series->count), kept = 0;
    uint64_t time = 0;
    bool keep = false; /* the first one is dropped */
    for (uint32_t number = 1; number <= count; number++) {
        char *record = series_at(series, number);
        uint64_t at;
        memcpy(&at, record, sizeof at);
        if (number == 1 || at != time)
            keep = number == 1 || !keep;
        time = at;
        if (!keep)
            continue;
        line->double_weight(record);
        memmove(series_at(series, ++kept), record, series->record_bytes);
    }
    series_cut(series, kept);
    line->stride *= 2;
}

void timeline_add(struct timeline *line, const void *record)
{
    uint32_t number;
    struct series *series = line->series;
    if (series_append(series, record, &number))
        return;
    if (load_relaxed(&series->count) < 2)
        return;
    thin(line);
    series_append(series, record, &number);
}
