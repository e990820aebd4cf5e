/* SPDX-License-Identifier: MIT */
/* The rings of Concurrency Kit and DPDK, with one producer and one consumer, whose
 * elements have a cache line. */
#include "bench/messages/messages.h"

#include <ck_ring.h>
#include <rte_ring_elem.h>
#include <stdlib.h>
#include <string.h>

struct element {
    struct payload payload;
    uint64_t unused;
};

CK_RING_PROTOTYPE(element, element)

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

const struct implementation implementations[] = {
    {"ck", &ck_transport, ck_run},
    {"dpdk", &dpdk_transport, dpdk_run},
};
const unsigned implementation_count =
    sizeof implementations / sizeof implementations[0];
