/* SPDX-License-Identifier: MIT */
/*
 * The trace file: claimed, mapped, and grown chunk by chunk.
 *
 * The whole of `bytes_limit` is mapped at once, beyond the file's end; a chunk's disk
 * space is allocated before anything touches it, so that a full disk is an answer and
 * not a SIGBUS.
 */
#ifndef HASP_PROFILER_FILE_H
#define HASP_PROFILER_FILE_H

#include "profiler/record.h"

enum { FILE_CHUNKS = 1 << 16 }; /* at most: 4 GiB */

/* The file's begin, or NULL while nothing is recorded. */
extern struct trace_header *trace RECORD_HIDDEN;

/* Makes path, or path.2, path.3 ... if that is taken, and maps it. Chunk 0 is there and
 * zeroed, but for limit and session. */
bool file_claim(const char *path, uint64_t bytes_limit);

/* The header is valid from here on. */
void file_announce(void);

/* In a forked child: the parent's file is not ours. */
void file_forget(void);

/* `count` chunks in a row, the first with a struct trace_chunk; NULL: no space. */
struct trace_chunk *file_chunks(enum trace_kind kind, uint32_t record_bytes,
                                uint32_t count);
static inline void *file_at(uint32_t chunk)
{
    return (unsigned char *)trace + (size_t)chunk * TRACE_CHUNK;
}
uint32_t file_chunk_number(const struct trace_chunk *chunk);

/* Takes chunks ahead, for when no more can be allocated. */
void file_hoard(void);

/* True when less than an eighth of the limit is left: what can do without a place in
 * the file should. */
bool file_is_nearly_full(void);

/* True when half of the limit is used: what only saves time should not grow. */
bool file_is_half_full(void);

/* Records of one kind, numbered from 1. Appended under `busy`, complete before they
 * count, changed in place afterwards. */
struct series {
    enum trace_kind kind;
    uint32_t record_bytes;
    uint32_t most; /* records */
    struct atomic_u32 busy;
    struct atomic_u32 count;
    uint32_t made;    /* chunks */
    uint32_t *chunks; /* their numbers; room for FILE_CHUNKS */
};

/* A copy of the record in the file, or NULL when there is no space. */
void *series_append(struct series *, const void *record, uint32_t *number);
void *series_at(const struct series *, uint32_t number);

/* Only the first `count` stay. */
void series_cut(struct series *, uint32_t count);

/* In a forked child, whose file is another: none. */
void series_forget(struct series *);

static inline uint32_t series_per_chunk(const struct series *series)
{
    return (uint32_t)((TRACE_CHUNK - sizeof(struct trace_chunk)) /
                      series->record_bytes);
}

#define SERIES(name, of_kind, type, records_most)                                      \
    static uint32_t name##_chunks[FILE_CHUNKS];                                        \
    static struct series name = {                                                      \
        .kind = (of_kind),                                                             \
        .record_bytes = sizeof(type),                                                  \
        .most = (records_most),                                                        \
        .chunks = name##_chunks,                                                       \
    }

/* Short mutual exclusion among our own threads. */
void brief_lock(struct atomic_u32 *);
void brief_unlock(struct atomic_u32 *);

/* Sums that several threads add to. */
static inline void add_shared(uint64_t *sum, uint64_t more)
{
    fetch_add_relaxed((struct atomic_u64 *)(void *)sum, more);
}

#endif
