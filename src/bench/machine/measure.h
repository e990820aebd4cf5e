/* SPDX-License-Identifier: MIT */
/*
 * hasp-machine measures cache lines, waiting and context switches in short bursts, one
 * per call, and prints all raw samples. The caller evaluates them.
 *
 * The same sources measure the host and, linked with the simulator, a simulated
 * machine.
 */
#ifndef HASP_BENCH_MACHINE_MEASURE_H
#define HASP_BENCH_MACHINE_MEASURE_H

#include "platform/xorshift.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    CPUS_MAX = 1024,
    SAMPLES_MAX = 100000,
    BATCH_MAX = 256,
    LINES_DEFAULT = 64,
    LINES_MAX = 1024,
};

#define always_inline inline __attribute__((always_inline))

struct request {
    const char *cases; /* "load:modified,cas:shared"; NULL: all */
    int cpus[CPUS_MAX];
    unsigned cpu_count;
    unsigned samples;
    unsigned
        batch; /* lines in a timed region; 0: according to the clock's resolution */
    unsigned lines; /* distinct lines, but at least twice the batch */
    uint64_t bytes; /* chase: size of the memory */
    uint64_t milliseconds;
    int node; /* of the memory; -1: by first touch */
};

struct measure {
    const char *name;
    unsigned cpus_least;
    unsigned cpus_most;
    unsigned samples; /* by default */
    bool (*run)(const struct request *request);
    const char *summary;
};

/* The only list of measurements. */
extern const struct measure measures[];
extern const unsigned measure_count;

bool measure_clock(const struct request *request);
bool measure_coherence(const struct request *request);
bool measure_chase(const struct request *request);
bool measure_atomic(const struct request *request);
bool measure_issue(const struct request *request);
bool measure_timer(const struct request *request);
bool measure_pause(const struct request *request);
bool measure_call(const struct request *request);
bool measure_switch(const struct request *request);
bool measure_wake(const struct request *request);
bool measure_waking(const struct request *request);
bool measure_wakeups(const struct request *request);
bool measure_slice(const struct request *request);
bool measure_wait(const struct request *request);

/* Prints the cases of `coherence` and the number of CPUs that each needs. */
void list_coherence(void);

/* Reports an error of the caller and exits with status 2. Call it outside workers. */
void refuse(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* Returns a random number below `limit`; *state must not be 0. */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
    *state = xorshift64(*state);
    return (uint32_t)((*state >> 32) * limit >> 32);
}

/* Runs one worker on each CPU of the request; calls refuse() on failure. */
void run_on(const struct request *request, unsigned count,
            void (*body)(unsigned index, void *argument), void *argument);

/* Prints ,"name":[1,2,3] */
void print_numbers(const char *name, const uint64_t *numbers, unsigned count);

#endif
