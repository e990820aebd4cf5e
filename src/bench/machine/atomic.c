/* SPDX-License-Identifier: MIT */
/*
 * The time of an atomic operation on a line that the CPU owns. Many are timed together:
 * the clock of many CPUs advances by more cycles than one of them takes.
 */
#include <stdio.h>

#include "bench/machine/measure.h"
#include "platform/workers.h"

enum { TURNS = 250 };

struct atomics {
    struct atomic_u32 *word; /* 0 */
    unsigned samples;
    uint64_t *cycles;
};

static uint64_t timed(struct atomic_u32 *word)
{
    const uint64_t from = cycles_ordered();
    for (unsigned turn = 0; turn < TURNS; turn++) {
        uint32_t expected = 0;
        (void)compare_exchange_acq_rel(word, &expected, 0);
    }
    return cycles_ordered() - from;
}

static void body(unsigned index, void *argument)
{
    struct atomics *atomics = argument;
    (void)index;
    timed(atomics->word); /* warms the cache */
    for (unsigned i = 0; i < atomics->samples; i++)
        atomics->cycles[i] = timed(atomics->word);
}

bool measure_atomic(const struct request *request)
{
    struct atomics atomics = {
        .word = shared_pages(CACHE_LINE, request->node),
        .samples = request->samples,
        .cycles = map_pages(request->samples * sizeof *atomics.cycles),
    };
    if (!atomics.word || !atomics.cycles)
        refuse("out of memory");
    run_on(request, 1, body, &atomics);
    printf("{\"measure\":\"atomic\",\"cpu\":%d,\"batch\":%d", request->cpus[0], TURNS);
    print_numbers("cycles", atomics.cycles, atomics.samples);
    printf("}\n");
    return true;
}
