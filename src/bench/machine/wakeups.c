/* SPDX-License-Identifier: MIT */
/*
 * What it costs to wake a thread on another CPU, by how long that CPU had been idle:
 * the call, and the time from it until the thread runs. A CPU that has just become idle
 * is not in a deep sleep yet, or its hypervisor still polls for it.
 */
#include <stdio.h>

#include "bench/machine/measure.h"
#include "platform/workers.h"

enum { WARM_UP = 20 };

/* Microseconds since the sleeper called the kernel, which takes it less than the first
 * of them. */
static const unsigned idle_us[] = {2, 5, 20, 50, 100, 200, 500, 1000, 3000};
enum { TIMES = sizeof idle_us / sizeof idle_us[0] };

struct exchange {
    unsigned samples;
    uint64_t *call, *wake; /* cycles */
    uint64_t idle;
    struct meeting meeting;
    struct atomic_u32 baton __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 called __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 slept __attribute__((aligned(CACHE_LINE))); /* 0: not yet */
};

/* Calls once the other worker has slept for the time. */
static void wake_sleeper(struct exchange *exchange, uint32_t number, uint64_t *call)
{
    uint64_t slept;
    while (!(slept = load_acquire(&exchange->slept)))
        relax();
    const uint64_t since = cycles_ordered() - slept;
    if (since < exchange->idle)
        pause_cycles(exchange->idle - since);
    store_release(&exchange->baton, number);
    const uint64_t called = cycles_ordered();
    store_release(&exchange->called, called);
    unpark(&exchange->baton, 1);
    *call = cycles_ordered() - called;
}

static void sleep_once(struct exchange *exchange, uint32_t number, uint64_t *wake)
{
    store_release(&exchange->slept, cycles_ordered());
    while (load_acquire(&exchange->baton) != number)
        park(&exchange->baton, number - 1, NULL);
    *wake = cycles_ordered() - load_acquire(&exchange->called);
    store_release(&exchange->slept, 0);
}

static void body(unsigned index, void *argument)
{
    struct exchange *exchange = argument;
    for (unsigned i = 0; i < WARM_UP + exchange->samples; i++) {
        uint64_t warm_up;
        const bool counts = i >= WARM_UP;
        arrive_together(&exchange->meeting, 2);
        if (index == 0)
            wake_sleeper(exchange, i + 1,
                         counts ? &exchange->call[i - WARM_UP] : &warm_up);
        else
            sleep_once(exchange, i + 1,
                       counts ? &exchange->wake[i - WARM_UP] : &warm_up);
    }
}

static void print(const struct request *request, const char *part, unsigned idle,
                  const uint64_t *cycles)
{
    printf("{\"measure\":\"wakeups\",\"part\":\"%s\",\"idle_us\":%u,\"cpus\":[%d,%d],"
           "\"batch\":1",
           part, idle, request->cpus[0], request->cpus[1]);
    print_numbers("cycles", cycles, request->samples);
    printf("}\n");
}

/* Worker 0 makes the calls; worker 1 sleeps. */
bool measure_wakeups(const struct request *request)
{
    static struct exchange exchange;
    const size_t bytes = request->samples * sizeof *exchange.call;
    exchange.samples = request->samples;
    exchange.call = map_pages(bytes);
    exchange.wake = map_pages(bytes);
    if (!exchange.call || !exchange.wake)
        refuse("out of memory for %u samples", request->samples);
    for (unsigned i = 0; i < TIMES; i++) {
        exchange.idle = cycles_per_second() / 1000000 * idle_us[i];
        store_relaxed(&exchange.baton, 0);
        run_on(request, 2, body, &exchange);
        print(request, "wake", idle_us[i], exchange.wake);
        print(request, "waking", idle_us[i], exchange.call);
    }
    return true;
}
