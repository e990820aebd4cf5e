/* SPDX-License-Identifier: MIT */
/* The rings of Concurrency Kit and DPDK, with one producer and one consumer, whose
 * elements have a cache line, or the size of a large message. */
#include "bench/messages/messages.h"

#include <ck_ring.h>
#include <rte_ring_elem.h>
#include <rte_ring_peek_zc.h>
#include <stdlib.h>
#include <string.h>

struct element {
    struct payload payload;
    uint64_t unused;
};

CK_RING_PROTOTYPE(element, element)
CK_RING_PROTOTYPE(large, large)

struct ck_lane {
    ck_ring_t ring;
    struct element elements[SLOTS] __attribute__((aligned(CACHE_LINE)));
};

static void ck_prepare(void *memory)
{
    ck_ring_init(&((struct ck_lane *)memory)->ring, SLOTS);
}

static force_inline bool ck_try_send(void *memory, const struct payload *payload)
{
    struct ck_lane *lane = memory;
    struct element element = {*payload, 0};
    return CK_RING_ENQUEUE_SPSC(element, &lane->ring, lane->elements, &element);
}

static force_inline bool ck_try_receive(void *memory, struct payload *payload)
{
    struct ck_lane *lane = memory;
    struct element element;
    if (!CK_RING_DEQUEUE_SPSC(element, &lane->ring, lane->elements, &element))
        return false;
    *payload = element.payload;
    return true;
}

static const struct transport ck_transport = {.bytes = sizeof(struct ck_lane),
                                              .prepare = ck_prepare,
                                              .try_send = ck_try_send,
                                              .try_receive = ck_try_receive};
RUNS(ck_run, ck_transport)

struct ck_large_lane {
    ck_ring_t ring;
    struct large elements[LARGE_SLOTS] __attribute__((aligned(CACHE_LINE)));
    struct large outgoing, incoming;
};

static void ck_large_prepare(void *memory)
{
    ck_ring_init(&((struct ck_large_lane *)memory)->ring, LARGE_SLOTS);
}

static force_inline struct large *ck_large_room(void *memory)
{
    return &((struct ck_large_lane *)memory)->outgoing;
}

static force_inline bool ck_large_send(void *memory)
{
    struct ck_large_lane *lane = memory;
    return CK_RING_ENQUEUE_SPSC(large, &lane->ring, lane->elements, &lane->outgoing);
}

static force_inline const struct large *ck_large_next(void *memory)
{
    struct ck_large_lane *lane = memory;
    return CK_RING_DEQUEUE_SPSC(large, &lane->ring, lane->elements, &lane->incoming)
               ? &lane->incoming
               : NULL;
}

static force_inline void ck_large_done(void *memory)
{
    (void)memory;
}

static const struct transport ck_large_transport = {.bytes =
                                                        sizeof(struct ck_large_lane),
                                                    .prepare = ck_large_prepare,
                                                    .large_room = ck_large_room,
                                                    .large_send = ck_large_send,
                                                    .large_next = ck_large_next,
                                                    .large_done = ck_large_done};
RUNS(ck_large_run, ck_large_transport)

enum { RING_BYTES = 1 << 16 };

static void dpdk_prepare(void *memory)
{
    if (rte_ring_init(memory, "ring", SLOTS, RING_F_SP_ENQ | RING_F_SC_DEQ))
        die("rte_ring_init fails");
}

static force_inline bool dpdk_try_send(void *memory, const struct payload *payload)
{
    struct element element = {*payload, 0};
    return rte_ring_sp_enqueue_elem(memory, &element, sizeof element) == 0;
}

static force_inline bool dpdk_try_receive(void *memory, struct payload *payload)
{
    struct element element;
    if (rte_ring_sc_dequeue_elem(memory, &element, sizeof element))
        return false;
    *payload = element.payload;
    return true;
}

static force_inline unsigned
dpdk_send_batch(void *memory, const struct payload *payload, unsigned count)
{
    struct element elements[BATCH];
    for (unsigned i = 0; i < count; i++)
        elements[i].payload = payload[i];
    return rte_ring_sp_enqueue_burst_elem(memory, elements, sizeof *elements, count,
                                          NULL);
}

static force_inline unsigned dpdk_receive_batch(void *memory, struct payload *payload,
                                                unsigned count)
{
    struct element elements[BATCH];
    unsigned got =
        rte_ring_sc_dequeue_burst_elem(memory, elements, sizeof *elements, count, NULL);
    for (unsigned i = 0; i < got; i++)
        payload[i] = elements[i].payload;
    return got;
}

static const struct transport dpdk_transport = {.bytes = RING_BYTES,
                                                .prepare = dpdk_prepare,
                                                .try_send = dpdk_try_send,
                                                .try_receive = dpdk_try_receive,
                                                .try_send_batch = dpdk_send_batch,
                                                .try_receive_batch =
                                                    dpdk_receive_batch};
RUNS(dpdk_run, dpdk_transport)

/* DPDK's interface without copies. */
static void dpdk_large_prepare(void *memory)
{
    if (rte_ring_init(memory, "ring", LARGE_SLOTS, RING_F_SP_ENQ | RING_F_SC_DEQ))
        die("rte_ring_init fails");
}

static force_inline struct large *dpdk_large_room(void *memory)
{
    struct rte_ring_zc_data data;
    return rte_ring_enqueue_zc_bulk_elem_start(memory, LARGE_BYTES, 1, &data, NULL)
               ? data.ptr1
               : NULL;
}

static force_inline bool dpdk_large_send(void *memory)
{
    rte_ring_enqueue_zc_elem_finish(memory, 1);
    return true;
}

static force_inline const struct large *dpdk_large_next(void *memory)
{
    struct rte_ring_zc_data data;
    return rte_ring_dequeue_zc_bulk_elem_start(memory, LARGE_BYTES, 1, &data, NULL)
               ? data.ptr1
               : NULL;
}

static force_inline void dpdk_large_done(void *memory)
{
    rte_ring_dequeue_zc_elem_finish(memory, 1);
}

static const struct transport dpdk_large_transport = {
    .bytes = RING_BYTES + LARGE_SLOTS * LARGE_BYTES,
    .prepare = dpdk_large_prepare,
    .large_room = dpdk_large_room,
    .large_send = dpdk_large_send,
    .large_next = dpdk_large_next,
    .large_done = dpdk_large_done};
RUNS(dpdk_large_run, dpdk_large_transport)

const struct implementation implementations[] = {
    {"ck", &ck_transport, ck_run},
    {"ck-copies", &ck_large_transport, ck_large_run},
    {"dpdk", &dpdk_transport, dpdk_run},
    {"dpdk-zero-copy", &dpdk_large_transport, dpdk_large_run},
};
const unsigned implementation_count =
    sizeof implementations / sizeof implementations[0];
