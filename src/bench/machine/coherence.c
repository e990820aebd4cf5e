/* SPDX-License-Identifier: MIT */
/*
 * The latency of one operation on a line, by the state of the line and its holders.
 * Workers alternate: they execute the steps of a script that puts the line into the
 * state, and then one of them times the operation.
 *
 * Only one line of each page is ever accessed, and pages are used in random order, so
 * no prefetcher can predict it. Every step checks that it reads the word that the
 * previous step wrote.
 */
#include <stdio.h>
#include <string.h>

#include "bench/machine/measure.h"
#include "bench/machine/states.h"
#include "platform/workers.h"

enum {
    PAGE = 4096,
    LINE = 64,
    PAGES_MOST = LINES_MAX > 2 * BATCH_MAX ? LINES_MAX : 2 * BATCH_MAX,
    SETTLE_CYCLES = 300,     /* until the transfer of `turn` has completed */
    LOST_PER_SECOND = 50000, /* a step of 20 us or more: a thread had no CPU */
    FINE_NS = 4,             /* a clock this fine can time a single operation */
    COARSE_BATCH = 64,
    CLOCK_READINGS = 1000,
    GENERATOR_SEED = 1,
    STEPS_ALL = STEPS_MAX + CPUS_MAX,
};

/* A step of a sample. */
struct turn {
    unsigned worker;
    enum operation operation;
    bool timed;
};

struct burst {
    struct atomic_u64 turn __attribute__((aligned(CACHE_LINE)));
    struct atomic_u32 mismatches;
    struct atomic_u32 cannot_evict;

    /* Constant while workers run: */
    struct turn turns[STEPS_ALL] __attribute__((aligned(CACHE_LINE)));
    unsigned turn_count;
    unsigned samples;
    unsigned warm_up; /* earlier samples, which are not kept */
    unsigned batch;
    unsigned pages;
    char *memory;
    uint32_t slots[PAGES_MOST]; /* offsets of lines in it, in random order */
    uint64_t lost_cycles;
    enum operation operation; /* the timed one */
    uint64_t *cycles;
    uint64_t *overheads;
    uint64_t *lost; /* numbers of samples with a step that took too long */

    unsigned lost_count __attribute__((aligned(CACHE_LINE)));
};

/* The lines of a sample, as offsets. Some processors prefetch through arrays of
 * pointers (Vicarte et al., "Augury: Using data memory-dependent prefetchers to leak
 * data at rest", IEEE S&P 2022); with such an array, remote loads of a batch took 75
 * instead of 180 cycles on a recent Xeon. Volatile, so that computing an address costs
 * the same whether or not the line is accessed. */
struct lines {
    char *memory;
    volatile uint32_t place[BATCH_MAX];
};

static void find_lines(const struct burst *burst, unsigned sample, struct lines *lines)
{
    lines->memory = burst->memory;
    for (unsigned i = 0; i < burst->batch; i++)
        lines->place[i] = burst->slots[(sample * burst->batch + i) % burst->pages];
}

static inline struct atomic_u32 *line_of(const struct lines *lines, unsigned i)
{
    return (struct atomic_u32 *)(lines->memory + lines->place[i]);
}

/* Executes an operation on a line. Returns true if the line contained `expected`. */
static always_inline bool operate(enum operation operation, struct atomic_u32 *line,
                                  uint32_t expected)
{
    uint32_t seen = expected;
    switch (operation) {
    case LOAD:
        return load_acquire(line) == expected;
    case STORE:
        store_release(line, expected);
        return true;
    case COMPARE_EXCHANGE:
        return compare_exchange_acq_rel(line, &seen, expected + 1);
    case FETCH_ADD:
        return fetch_add_acq_rel(line, 1) == expected;
    case TEST_AND_SET:
        return test_and_set_acquire(line);
    case EXCHANGE:
        return exchange_acq_rel(line, expected + 1) == expected;
    case EVICT:
        break;
    }
    return evict_line(line);
}

/* Times the operation on each line of the batch in sequence or, without `really`,
 * everything except the operation. A store ends when it is visible, after a fence. */
static always_inline uint64_t region(enum operation operation, bool really,
                                     const struct lines *lines, unsigned batch,
                                     uint32_t expected, bool *right)
{
    uint64_t from = cycles_ordered(), to = from;
    for (unsigned i = 0; i < batch; i++) {
        struct atomic_u32 *line = line_of(lines, i);
        if (really)
            *right &= operate(operation, line, expected);
        if (operation == STORE)
            full_fence();
        to = cycles_ordered();
    }
    return to - from;
}

struct timing {
    uint64_t empty, cycles;
};

#define DEFINE_TIMED(name, operation)                                                  \
    static struct timing timed_##name(const struct lines *lines, unsigned batch,       \
                                      uint32_t expected, bool *right)                  \
    {                                                                                  \
        uint64_t empty = region(operation, false, lines, batch, expected, right);      \
        return (struct timing){                                                        \
            .empty = empty,                                                            \
            .cycles = region(operation, true, lines, batch, expected, right),          \
        };                                                                             \
    }
DEFINE_TIMED(load, LOAD)
DEFINE_TIMED(store, STORE)
DEFINE_TIMED(compare_exchange, COMPARE_EXCHANGE)
DEFINE_TIMED(fetch_add, FETCH_ADD)
DEFINE_TIMED(test_and_set, TEST_AND_SET)
DEFINE_TIMED(exchange, EXCHANGE)

static struct timing (*const timed[OPERATIONS])(const struct lines *, unsigned,
                                                uint32_t, bool *) = {
    [LOAD] = timed_load,
    [STORE] = timed_store,
    [COMPARE_EXCHANGE] = timed_compare_exchange,
    [FETCH_ADD] = timed_fetch_add,
    [TEST_AND_SET] = timed_test_and_set,
    [EXCHANGE] = timed_exchange,
};

static bool time_operation(struct burst *burst, unsigned sample, uint64_t waited,
                           const struct lines *lines, uint32_t expected)
{
    bool right = true;
    pause_cycles(SETTLE_CYCLES);
    struct timing timing =
        timed[burst->operation](lines, burst->batch, expected, &right);
    if (sample < burst->warm_up)
        return right;
    sample -= burst->warm_up;
    burst->overheads[sample] = timing.empty;
    burst->cycles[sample] = timing.cycles;
    if (waited > burst->lost_cycles)
        burst->lost[burst->lost_count++] = sample;
    return right;
}

static bool prepare(struct burst *burst, enum operation operation,
                    const struct lines *lines, uint32_t expected)
{
    bool right = true;
    for (unsigned i = 0; i < burst->batch; i++)
        right &= operate(operation, line_of(lines, i), expected);
    full_fence();
    if (operation == EVICT && !right)
        store_relaxed(&burst->cannot_evict, 1);
    return right || operation == EVICT;
}

static void body(unsigned index, void *argument)
{
    struct burst *burst = argument;
    struct lines lines;
    uint64_t number = 0;
    for (unsigned sample = 0; sample < burst->warm_up + burst->samples; sample++) {
        uint64_t began = ticks();
        uint32_t expected = sample + 1;
        find_lines(burst, sample, &lines);
        for (unsigned i = 0; i < burst->turn_count; i++, number++) {
            const struct turn *turn = &burst->turns[i];
            if (turn->worker != index)
                continue;
            spin_until(load_acquire(&burst->turn) == number);
            uint64_t waited = ticks() - began;
            if (!(turn->timed ? time_operation(burst, sample, waited, &lines, expected)
                              : prepare(burst, turn->operation, &lines, expected)))
                fetch_add_relaxed(&burst->mismatches, 1);
            store_release(&burst->turn, number + 1);
        }
    }
}

static void add_turns(struct burst *burst, enum role role, enum operation operation,
                      bool is_timed, unsigned workers)
{
    unsigned first = role, last = role == SHARERS ? workers - 1 : role;
    for (unsigned worker = first; worker <= last; worker++)
        burst->turns[burst->turn_count++] = (struct turn){worker, operation, is_timed};
}

static void write_script(struct burst *burst, const struct state *state,
                         enum operation operation, unsigned workers)
{
    burst->turn_count = 0;
    for (unsigned i = 0; i < state->step_count; i++)
        add_turns(burst, state->steps[i].role, state->steps[i].operation, false,
                  workers);
    add_turns(burst, state->timed, operation, true, workers);
    burst->operation = operation;
}

void list_coherence(void)
{
    for (unsigned i = 0; i < state_count; i++) {
        for (enum operation operation = LOAD; operation < OPERATIONS; operation++)
            printf("{\"operation\":\"%s\",\"state\":\"%s\",\"cpus\":%u}\n",
                   operation_names[operation], states[i].name, states[i].workers_least);
    }
}

static void print_burst(const struct burst *burst, const struct request *request,
                        const struct state *state, unsigned workers)
{
    printf(
        "{\"measure\":\"coherence\",\"operation\":\"%s\",\"state\":\"%s\",\"cpu\":%d",
        operation_names[burst->operation], state->name, request->cpus[0]);
    if (workers > 1)
        printf(",\"holder\":%d", request->cpus[1]);
    else
        printf(",\"holder\":null");
    printf(",\"sharers\":[");
    for (unsigned i = 2; i < workers; i++)
        printf("%s%d", i > 2 ? "," : "", request->cpus[i]);
    printf("],\"batch\":%u", burst->batch);
    print_numbers("cycles", burst->cycles, burst->samples);
    print_numbers("overheads", burst->overheads, burst->samples);
    print_numbers("lost_overlap", burst->lost, burst->lost_count);
    printf("}\n");
}

/* Returns true if "operation:state" is in the list; refuses lists with other entries.
 * */
static bool wanted(const char *cases, const char *operation, const char *state)
{
    if (!cases)
        return true;
    size_t operation_length = strlen(operation), state_length = strlen(state);
    for (const char *at = cases; *at; at += strcspn(at, ","), at += *at == ',') {
        if (strncmp(at, operation, operation_length) == 0 &&
            at[operation_length] == ':' &&
            strncmp(at + operation_length + 1, state, state_length) == 0 &&
            strchr(",", at[operation_length + 1 + state_length]))
            return true;
    }
    return false;
}

/* The resolution of the clock, measured as the greatest common divisor of differences,
 * determines how many operations are timed together. */
static unsigned batch_for_clock(void)
{
    uint64_t step = 0;
    for (int i = 0; i < CLOCK_READINGS; i++) {
        uint64_t from = ticks(), difference = ticks() - from;
        while (difference) {
            uint64_t rest = step % difference;
            step = difference;
            difference = rest;
        }
    }
    return step * 1000000000 <= FINE_NS * cycles_per_second() ? 1 : COARSE_BATCH;
}

static uint64_t *numbers(unsigned count)
{
    uint64_t *result = map_pages(count * sizeof *result);
    if (!result)
        refuse("out of memory for %u samples", count);
    return result;
}

/* Shuffles the pages and picks a line in each, since prefetchers also follow strides.
 * */
static void choose_lines(struct burst *burst)
{
    uint64_t state = GENERATOR_SEED;
    for (unsigned i = 0; i < burst->pages; i++) {
        unsigned place = random_below(&state, i + 1);
        burst->slots[i] = burst->slots[place];
        burst->slots[place] = i * PAGE + random_below(&state, PAGE / LINE) * LINE;
    }
}

/* Called once per process: several lists of CPUs share the memory. */
static void set_up(struct burst *burst, const struct request *request)
{
    if (burst->pages)
        return;
    burst->batch = request->batch ? request->batch : batch_for_clock();
    burst->samples = request->samples;
    burst->pages =
        2 * burst->batch > request->lines ? 2 * burst->batch : request->lines;
    burst->warm_up = 2 * burst->pages / burst->batch;
    burst->cycles = numbers(burst->samples);
    burst->overheads = numbers(burst->samples);
    burst->lost = numbers(burst->samples);
    burst->memory = shared_pages((size_t)burst->pages * PAGE, request->node);
    if (!burst->memory)
        refuse("out of memory for %u pages", burst->pages);
    choose_lines(burst);
}

static bool measure_case(struct burst *burst, const struct request *request,
                         const struct state *state, enum operation operation)
{
    unsigned workers =
        state->workers_least < 3 ? state->workers_least : request->cpu_count;
    write_script(burst, state, operation, workers);
    burst->lost_count = 0;
    burst->lost_cycles = cycles_per_second() / LOST_PER_SECOND * burst->turn_count;
    store_relaxed(&burst->turn, 0);
    run_on(request, workers, body, burst);
    if (load_relaxed(&burst->cannot_evict))
        refuse("this platform cannot evict a line");
    if (load_relaxed(&burst->mismatches)) {
        fprintf(stderr,
                "hasp-machine: %s on %s: a step did not read the word that the "
                "previous step wrote\n",
                operation_names[operation], state->name);
        return false;
    }
    print_burst(burst, request, state, workers);
    return true;
}

bool measure_coherence(const struct request *request)
{
    static struct burst burst;
    unsigned done = 0;
    set_up(&burst, request);
    for (unsigned i = 0; i < state_count; i++) {
        for (enum operation operation = LOAD; operation < OPERATIONS; operation++) {
            if (states[i].workers_least > request->cpu_count ||
                !wanted(request->cases, operation_names[operation], states[i].name))
                continue;
            if (!measure_case(&burst, request, &states[i], operation))
                return false;
            done++;
        }
    }
    if (!done)
        refuse("there is no such case, or it needs more CPUs than the %u given",
               request->cpu_count);
    return true;
}
