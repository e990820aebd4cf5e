/* SPDX-License-Identifier: MIT */
#include "profiler/store/series.h"

#include <string.h>

static unsigned char *record_at(const struct series *series, uint32_t index)
{
    uint32_t per_chunk = series_per_chunk(series);
    unsigned char *chunk = trace_file_chunk(series->chunks[index / per_chunk]);
    return chunk + sizeof(struct trace_chunk) +
           (size_t)(index % per_chunk) * series->record_bytes;
}

/* Returns the chunk of record `index`, which is added if necessary. */
static struct trace_chunk *chunk_for(struct series *series, uint32_t index)
{
    uint32_t per_chunk = series_per_chunk(series);
    if (index == series->made * per_chunk) {
        struct trace_chunk *made =
            trace_file_add_chunks(series->kind, series->record_bytes, 1);
        if (!made)
            return NULL;
        made->first = index + 1;
        series->chunks[series->made++] = trace_file_chunk_number(made);
        return made;
    }
    return trace_file_chunk(series->chunks[index / per_chunk]);
}

void *series_append(struct series *series, const void *record, uint32_t *number)
{
    unsigned char *copy = NULL;
    if (!brief_lock(&series->busy))
        return NULL;
    uint32_t index = load_relaxed(&series->count);
    struct trace_chunk *chunk = NULL;
    if (index < series->most)
        chunk = chunk_for(series, index);
    if (chunk) {
        copy = record_at(series, index);
        memcpy(copy, record, series->record_bytes);
        /* For whoever reads the file meanwhile, and for loads of the count. */
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
    return record_at(series, number - 1);
}

void series_cut(struct series *series, uint32_t count)
{
    const uint32_t per_chunk = series_per_chunk(series);
    if (!brief_lock(&series->busy))
        return;
    for (uint32_t i = 0; i < series->made; i++) {
        struct trace_chunk *chunk = trace_file_chunk(series->chunks[i]);
        uint32_t before = i * per_chunk, used = count > before ? count - before : 0;
        if (chunk->used > used)
            store_release((struct atomic_u32 *)(void *)&chunk->used, used);
    }
    store_relaxed(&series->count, count);
    brief_unlock(&series->busy);
}

void series_forget(struct series *series)
{
    series->made = 0;
    store_relaxed(&series->count, 0);
    store_relaxed(&series->busy, 0);
}
