/* SPDX-License-Identifier: MIT */
/*
 * The trace file: created, mapped, and extended chunk by chunk.
 *
 * All `bytes_limit` bytes are mapped at once, beyond the end of the file. The disk
 * space of a chunk is allocated before it is touched, so a full disk causes an error
 * and not a SIGBUS.
 */
#ifndef HASP_PROFILER_STORE_TRACE_FILE_H
#define HASP_PROFILER_STORE_TRACE_FILE_H

#include "platform/platform.h"
#include "profiler/store/sharing.h"
#include "profiler/trace.h"

#include <stddef.h>

enum { TRACE_FILE_CHUNKS = 1 << 16 }; /* the maximum, 4 GiB */

/* The mapped file, or NULL while nothing is recorded. */
extern struct trace_header *trace RECORD_HIDDEN;

/* Creates and maps `path`, or path.2, path.3 ... if it exists. Chunk 0 is zeroed except
 * for bytes_limit and chunks. Returns false after a message when that fails. */
bool trace_file_create(const char *path, uint64_t bytes_limit);

/* Writes the magic number that marks the header as valid. */
void trace_file_publish_header(void);

/* Removes the new file, whose header is not valid yet, and unmaps it. */
void trace_file_discard(void);

/* Unmaps and closes the parent's file in a forked child. */
void trace_file_forget(void);

/* Adds `count` consecutive chunks, the first with a header. Returns NULL when there is
 * no space. */
struct trace_chunk *trace_file_add_chunks(enum trace_kind kind, uint32_t record_bytes,
                                          uint32_t count);
static inline void *trace_file_chunk(uint32_t chunk)
{
    return (unsigned char *)trace + (size_t)chunk * TRACE_CHUNK;
}
uint32_t trace_file_chunk_number(const struct trace_chunk *chunk);

/* Allocates chunks in advance, before system calls are forbidden. */
void trace_file_reserve(void);

/* Returns true when less than an eighth of the limit is left: only essential records
 * should be added. */
bool trace_file_is_nearly_full(void);

/* Returns true when half of the limit is used: tables that only save time should not
 * grow. */
bool trace_file_is_half_full(void);

#endif
