/* SPDX-License-Identifier: MIT */
/*
 * Messages through a single line, whose flag both sides write, as in SSYNC's libssmp
 * (David, Guerraoui, Trigonakis, SOSP 2013, section 6.2), as two transports.
 *
 *   ssmp       as the library does it on AMD's processors: its functions are called,
 *              and fetch the line for writing before each look; a receiver pauses for
 *              longer after each look
 *   one-line   the same protocol with the inlining and the waiting of Hasp's channels
 */
#ifndef HASP_BENCH_MESSAGES_SSMP_H
#define HASP_BENCH_MESSAGES_SSMP_H

#include "bench/messages/messages.h"

struct one_line {
    struct payload payload __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 full;
};

static void one_line_prepare(void *memory)
{
    (void)memory;
}

static force_inline bool one_line_try_send(void *memory, const struct payload *payload)
{
    struct one_line *line = memory;
    if (load_acquire(&line->full)) /* pairs with the receiver's release */
        return false;
    line->payload = *payload;
    store_release(&line->full, 1); /* pairs with the receiver's acquire */
    return true;
}

static force_inline bool one_line_try_receive(void *memory, struct payload *payload)
{
    struct one_line *line = memory;
    if (!load_acquire(&line->full))
        return false;
    *payload = line->payload;
    store_release(&line->full, 0);
    return true;
}

static const struct transport one_line_transport = {.bytes = sizeof(struct one_line),
                                                    .prepare = one_line_prepare,
                                                    .try_send = one_line_try_send,
                                                    .try_receive =
                                                        one_line_try_receive};
RUNS(one_line_run, one_line_transport)

enum { SSMP_PAUSES = 64 };

static __attribute__((noinline)) void ssmp_send(void *memory,
                                                const struct payload *payload)
{
    struct one_line *line = memory;
    prefetch_for_write(&line->full);
    while (!one_line_try_send(memory, payload)) {
        relax();
        prefetch_for_write(&line->full);
    }
}

static __attribute__((noinline)) void ssmp_receive(void *memory,
                                                   struct payload *payload)
{
    struct one_line *line = memory;
    prefetch_for_write(&line->full);
    for (uint32_t looks = 0; !one_line_try_receive(memory, payload); looks++) {
        pause_for(looks % SSMP_PAUSES);
        prefetch_for_write(&line->full);
    }
}

static const struct transport ssmp_transport = {.bytes = sizeof(struct one_line),
                                                .prepare = one_line_prepare,
                                                .try_send = one_line_try_send,
                                                .try_receive = one_line_try_receive,
                                                .send = ssmp_send,
                                                .receive = ssmp_receive};
RUNS(ssmp_run, ssmp_transport)

#endif
