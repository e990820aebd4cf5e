/* SPDX-License-Identifier: MIT */
/*
 * The latency of a load from the nearest cache that holds memory of a given size. A
 * pointer chase visits all of its lines in one random cycle, so each load depends on
 * the previous one and cannot be predicted.
 */
#include <stdio.h>

#include "bench/machine/measure.h"
#include "platform/workers.h"

enum { LINE = 64, LOADS = 2000, GENERATOR_SEED = 1 };

struct chase {
    char *memory;
    uint32_t lines;
    unsigned samples;
    uint64_t *cycles;
};

static struct atomic_u32 *line_of(const struct chase *chase, uint32_t line)
{
    return (struct atomic_u32 *)(chase->memory + (size_t)line * LINE);
}

/* Sattolo's shuffle ("An algorithm to generate a random cyclic permutation", 1986):
 * yields exactly one cycle. */
static void link_lines(const struct chase *chase)
{
    uint64_t state = GENERATOR_SEED;
    for (uint32_t i = 0; i < chase->lines; i++)
        store_relaxed(line_of(chase, i), i);
    for (uint32_t i = chase->lines - 1; i > 0; i--) {
        uint32_t j = random_below(&state, i);
        uint32_t kept = load_relaxed(line_of(chase, i));
        store_relaxed(line_of(chase, i), load_relaxed(line_of(chase, j)));
        store_relaxed(line_of(chase, j), kept);
    }
}

static uint32_t follow(const struct chase *chase, uint32_t line, uint32_t loads)
{
    for (uint32_t i = 0; i < loads; i++)
        line = load_relaxed(line_of(chase, line));
    return line;
}

static void body(unsigned index, void *argument)
{
    const struct chase *chase = argument;
    (void)index;
    link_lines(chase);
    uint32_t warm = chase->lines < LOADS * 50 ? chase->lines : LOADS * 50;
    uint32_t line = follow(chase, 0, 2 * warm);
    for (unsigned i = 0; i < chase->samples; i++) {
        uint64_t from = cycles_ordered();
        line = follow(chase, line, LOADS);
        chase->cycles[i] = cycles_ordered() - from;
    }
    store_relaxed(line_of(chase, 0),
                  line); /* keeps the loads from being optimised out */
}

bool measure_chase(const struct request *request)
{
    if (request->bytes < 2 * LINE)
        refuse("chase needs --bytes of at least %d", 2 * LINE);
    struct chase chase = {
        .memory = shared_pages(request->bytes, request->node),
        .lines = (uint32_t)(request->bytes / LINE),
        .samples = request->samples,
        .cycles = map_pages(request->samples * sizeof *chase.cycles),
    };
    if (!chase.memory || !chase.cycles)
        refuse("out of memory for a chase through %llu bytes",
               (unsigned long long)request->bytes);
    run_on(request, 1, body, &chase);
    printf("{\"measure\":\"chase\",\"cpu\":%d,\"bytes\":%llu,\"batch\":%d",
           request->cpus[0], (unsigned long long)request->bytes, LOADS);
    print_numbers("cycles", chase.cycles, chase.samples);
    printf("}\n");
    return true;
}
