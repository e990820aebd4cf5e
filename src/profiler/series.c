/* SPDX-License-Identifier: MIT */
#include "profiler/file.h"

#include <string.h>

static unsigned char *place(const struct series *series, uint32_t index)
{
    uint32_t per_chunk = series_per_chunk(series);
    unsigned char *chunk = file_at(series->chunks[index / per_chunk]);
    return chunk + sizeof(struct trace_chunk) +
           (size_t)(index % per_chunk) * series->record_bytes;
}

/* The chunk for record `index`, made if need be. */
static struct trace_chunk *chunk_for(struct series *series, uint32_t index)
{
    uint32_t per_chunk = series_per_chunk(series);
    if (index % per_chunk == 0) {
        struct trace_chunk *made = file_chunks(series->kind, series->record_bytes, 1);
        if (!made)
            return NULL;
        made->first = index + 1;
        series->chunks[index / per_chunk] = file_chunk_number(made);
        return made;
    }
    return file_at(series->chunks[index / per_chunk]);
}

void *series_append(struct series *series, const void *record, uint32_t *number)
{
    unsigned char *copy = NULL;
    brief_lock(&series->busy);
    uint32_t index = load_relaxed(&series->count);
    struct trace_chunk *chunk = NULL;
    if (index < series->most)
        chunk = chunk_for(series, index);
    if (chunk) {
        copy = place(series, index);
        memcpy(copy, record, series->record_bytes);
        store_release((struct atomic_u32 *)(void *)&chunk->used,
                      index % series_per_chunk(series) + 1);
        store_release(&series->count, index + 1);
        *number = index + 1;
    }
    brief_unlock(&series->busy);
    return copy;
}

void *series_at(const struct series *series, uint32_t number)
{
    return place(series, number - 1);
}
