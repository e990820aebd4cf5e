/* SPDX-License-Identifier: MIT */
/*
 * Costs of waiting and scheduling: reading the clock; a pause; a wake-up call while
 * nobody sleeps; a baton that two threads on one CPU pass through futexes (context
 * switches); a call that wakes a thread on another CPU, and the time from it until the
 * thread runs; and the length of a time slice.
 */
#include <stdio.h>

#include "bench/machine/measure.h"
#include "platform/workers.h"

enum {
    READINGS = 100,
    PAUSES = 200,
    CALLS = 20,
    WARM_UP = 20,
    GAPS_MAX = 4096,
    /* Reciprocal seconds: a thread that did not run for this long was descheduled;
     * shorter gaps are interrupts. */
    GAPS_PER_SECOND = 5000,
    /* This is long enough for the sleeper to fall asleep and for its CPU to become
     * idle. */
    SLEEP_PER_SECOND = 5000,
};

struct exchange {
    unsigned samples;
    uint64_t *cycles;
    uint64_t end; /* slice: time to stop */
    uint64_t gap; /* slice: minimum length of a gap */
    bool of_waker; /* wake: times the call, and not the thread that it wakes */
    uint64_t pause;
    unsigned count;
    struct meeting meeting;
    struct atomic_u32 baton __attribute__((aligned(CACHE_LINE)));
    struct atomic_u64 called __attribute__((aligned(CACHE_LINE)));
};

static void exchange_prepare(struct exchange *exchange, const struct request *request)
{
    *exchange = (struct exchange){
        .samples = request->samples,
        .cycles = map_pages(request->samples * sizeof *exchange->cycles),
    };
    if (!exchange->cycles)
        refuse("out of memory for %u samples", request->samples);
}

static void print_exchange(const struct exchange *exchange,
                           const struct request *request, const char *name,
                           unsigned count, unsigned batch)
{
    printf("{\"measure\":\"%s\",\"cpus\":[", name);
    for (unsigned i = 0; i < request->cpu_count; i++)
        printf("%s%d", i ? "," : "", request->cpus[i]);
    printf("],\"batch\":%u", batch);
    print_numbers("cycles", exchange->cycles, count);
    printf("}\n");
}

static void pause_body(unsigned index, void *argument)
{
    struct exchange *exchange = argument;
    (void)index;
    for (unsigned sample = 0; sample < exchange->samples; sample++) {
        uint64_t from = cycles_ordered();
        for (int i = 0; i < PAUSES; i++)
            relax();
        exchange->cycles[sample] = cycles_ordered() - from;
    }
}

/* Measures what one worker does in batches. */
static bool measure_alone(const struct request *request, const char *name,
                          unsigned batch,
                          void (*body)(unsigned index, void *argument))
{
    static struct exchange exchange;
    exchange_prepare(&exchange, request);
    run_on(request, 1, body, &exchange);
    print_exchange(&exchange, request, name, exchange.samples, batch);
    return true;
}

bool measure_pause(const struct request *request)
{
    return measure_alone(request, "pause", PAUSES, pause_body);
}

static void timer_body(unsigned index, void *argument)
{
    struct exchange *exchange = argument;
    (void)index;
    for (unsigned sample = 0; sample < exchange->samples; sample++) {
        uint64_t from = cycles_ordered();
        for (int i = 1; i < READINGS; i++)
            cycles_ordered();
        exchange->cycles[sample] = cycles_ordered() - from;
    }
}

bool measure_timer(const struct request *request)
{
    return measure_alone(request, "timer", READINGS, timer_body);
}

static void call_body(unsigned index, void *argument)
{
    struct exchange *exchange = argument;
    (void)index;
    for (unsigned sample = 0; sample < exchange->samples; sample++) {
        uint64_t from = cycles_ordered();
        for (int i = 0; i < CALLS; i++)
            unpark(&exchange->baton, 1);
        exchange->cycles[sample] = cycles_ordered() - from;
    }
}

bool measure_call(const struct request *request)
{
    return measure_alone(request, "call", CALLS, call_body);
}

/* Sleeps until the baton is `mine`, then passes it on. */
static void pass(struct exchange *exchange, uint32_t mine, uint32_t other)
{
    while (load_acquire(&exchange->baton) != mine)
        park(&exchange->baton, other, NULL);
    store_release(&exchange->baton, other);
    unpark(&exchange->baton, 1);
}

static void switch_body(unsigned index, void *argument)
{
    struct exchange *exchange = argument;
    arrive_together(&exchange->meeting, 2);
    uint64_t before = cycles_ordered();
    for (unsigned i = 0; i < WARM_UP + exchange->samples; i++) {
        pass(exchange, index, !index);
        if (index)
            continue;
        uint64_t now = cycles_ordered();
        if (i >= WARM_UP)
            exchange->cycles[i - WARM_UP] = now - before;
        before = now;
    }
}

/* Both workers are on one CPU, so a round trip takes two switches. */
bool measure_switch(const struct request *request)
{
    static struct exchange exchange;
    exchange_prepare(&exchange, request);
    struct request same = *request;
    same.cpus[1] = same.cpus[0];
    same.cpu_count = 2;
    run_on(&same, 2, switch_body, &exchange);
    print_exchange(&exchange, request, "switch", exchange.samples, 1);
    return true;
}

/* Worker 0 makes the call; worker 1 sleeps, and reads the time when it runs again. */
static void wake_body(unsigned index, void *argument)
{
    struct exchange *exchange = argument;
    for (unsigned i = 0; i < WARM_UP + exchange->samples; i++) {
        arrive_together(&exchange->meeting, 2);
        if (index == 0) {
            pause_cycles(exchange->pause);
            store_release(&exchange->baton, i + 1);
            uint64_t called = cycles_ordered();
            store_release(&exchange->called, called);
            unpark(&exchange->baton, 1);
            if (exchange->of_waker && i >= WARM_UP)
                exchange->cycles[i - WARM_UP] = cycles_ordered() - called;
            continue;
        }
        while (load_acquire(&exchange->baton) != i + 1)
            park(&exchange->baton, i, NULL);
        uint64_t latency = cycles_ordered() - load_acquire(&exchange->called);
        if (!exchange->of_waker && i >= WARM_UP)
            exchange->cycles[i - WARM_UP] = latency;
    }
}

static bool measure_wakes(const struct request *request, bool of_waker)
{
    static struct exchange exchange;
    exchange_prepare(&exchange, request);
    exchange.pause = cycles_per_second() / SLEEP_PER_SECOND;
    exchange.of_waker = of_waker;
    run_on(request, 2, wake_body, &exchange);
    print_exchange(&exchange, request, of_waker ? "waking" : "wake", exchange.samples,
                   1);
    return true;
}

bool measure_wake(const struct request *request)
{
    return measure_wakes(request, false);
}

bool measure_waking(const struct request *request)
{
    return measure_wakes(request, true);
}

/* Records the length of each period in which it ran without a gap. */
static void slice_body(unsigned index, void *argument)
{
    struct exchange *exchange = argument;
    arrive_together(&exchange->meeting, 2);
    uint64_t began = ticks(), before = began, now = began;
    while (now < exchange->end) {
        now = ticks();
        if (now - before > exchange->gap) {
            if (index == 0 && exchange->count < exchange->samples)
                exchange->cycles[exchange->count++] = before - began;
            began = now;
        }
        before = now;
    }
}

/* Two workers on one CPU that never yield. */
bool measure_slice(const struct request *request)
{
    static struct exchange exchange;
    exchange_prepare(&exchange, request);
    struct request same = *request;
    same.cpus[1] = same.cpus[0];
    same.cpu_count = 2;
    uint64_t second = cycles_per_second();
    exchange.gap = second / GAPS_PER_SECOND;
    exchange.end = ticks() + second / 1000 * request->milliseconds;
    run_on(&same, 2, slice_body, &exchange);
    print_exchange(&exchange, request, "slice", exchange.count, 1);
    return true;
}
