/* SPDX-License-Identifier: MIT */
/*
 * The trace file: claimed, mapped, and grown chunk by chunk.
 *
 * The whole of `bytes_limit` is mapped at once, beyond the file's end; a chunk's disk
 * space is allocated before anything touches it, so that a full disk is an answer and
 * not a SIGBUS.
 */
#ifndef HASP_PROFILER_STORE_TRACE_FILE_H
#define HASP_PROFILER_STORE_TRACE_FILE_H

#include "platform/platform.h"
#include "profiler/store/sharing.h"
#include "profiler/trace.h"

#include <stddef.h>

enum { TRACE_FILE_CHUNKS = 1 << 16 }; /* at most: 4 GiB */

/* The file's begin, or NULL while nothing is recorded. */
extern struct trace_header *trace RECORD_HIDDEN;

/* Makes path, or path.2, path.3 ... if that is taken, and maps it. Chunk 0 is there and
 * zeroed, but for limit and session. */
bool trace_file_create(const char *path, uint64_t bytes_limit);

/* The header is valid from here on. */
void trace_file_publish_header(void);

/* In a forked child: the parent's file is not ours. */
void trace_file_forget(void);

/* `count` chunks in a row, the first with a struct trace_chunk; NULL: no space. */
struct trace_chunk *trace_file_add_chunks(enum trace_kind kind, uint32_t record_bytes,
                                          uint32_t count);
static inline void *trace_file_chunk(uint32_t chunk)
{
    return (unsigned char *)trace + (size_t)chunk * TRACE_CHUNK;
}
uint32_t trace_file_chunk_number(const struct trace_chunk *chunk);

/* Takes chunks ahead, for when no more can be allocated. */
void trace_file_reserve(void);

/* True when less than an eighth of the limit is left: what can do without a place in
 * the file should. */
bool trace_file_is_nearly_full(void);

/* True when half of the limit is used: what only saves time should not grow. */
bool trace_file_is_half_full(void);

#endif
