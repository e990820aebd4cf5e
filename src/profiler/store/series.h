/* SPDX-License-Identifier: MIT */
#ifndef HASP_PROFILER_STORE_SERIES_H
#define HASP_PROFILER_STORE_SERIES_H

#include "profiler/store/sharing.h"
#include "profiler/store/trace_file.h"

/* The records of one kind, numbered from 1. Records are appended under `busy` and
 * counted when they are complete; after that they change in place. */
struct series {
    enum trace_kind kind;
    uint32_t record_bytes;
    uint32_t most; /* records */
    struct atomic_u32 busy;
    struct atomic_u32 count;
    uint32_t made;    /* chunks */
    uint32_t *chunks; /* their numbers; TRACE_FILE_CHUNKS elements */
};

/* Appends a copy of the record and sets `*number`. Returns the copy, or NULL when there
 * is no space. */
void *series_append(struct series *, const void *record, uint32_t *number);
void *series_at(const struct series *, uint32_t number);

/* Removes all records after the first `count`. */
void series_cut(struct series *, uint32_t count);

/* Empties the series in a forked child, which has another file. */
void series_forget(struct series *);

static inline uint32_t series_per_chunk(const struct series *series)
{
    return (uint32_t)((TRACE_CHUNK - sizeof(struct trace_chunk)) /
                      series->record_bytes);
}

#define SERIES(name, of_kind, type, records_most)                                      \
    static uint32_t name##_chunks[TRACE_FILE_CHUNKS];                                  \
    static struct series name = {                                                      \
        .kind = (of_kind),                                                             \
        .record_bytes = sizeof(type),                                                  \
        .most = (records_most),                                                        \
        .chunks = name##_chunks,                                                       \
    }

#endif
