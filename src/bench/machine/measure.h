/* SPDX-License-Identifier: MIT */
/*
 * hasp-machine measures what a machine does to a cache line, to a thread that waits and
 * to one that is switched: a short burst a call, all samples printed raw. What the
 * samples mean, and which of them are doubtful, is for who reads them to decide.
 *
 * The same sources measure this machine and, linked with the simulator, one that is
 * simulated.
 */
#ifndef HASP_BENCH_MACHINE_MEASURE_H
#define HASP_BENCH_MACHINE_MEASURE_H

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
    unsigned batch; /* lines in one timed region; 0: as the clock's resolution needs */
    unsigned lines; /* at least so many different ones, if not twice a batch */
    uint64_t bytes; /* chase: how much memory */
    uint64_t milliseconds;
    int node; /* of the memory; -1: of who first touches it */
};

struct measure {
    const char *name;
    unsigned cpus_least;
    unsigned cpus_most;
    unsigned samples; /* by default */
    bool (*run)(const struct request *request);
    const char *summary;
};

/* THE list of what can be measured. */
extern const struct measure measures[];
extern const unsigned measure_count;

bool measure_clock(const struct request *request);
bool measure_coherence(const struct request *request);
bool measure_chase(const struct request *request);
bool measure_pause(const struct request *request);
bool measure_switch(const struct request *request);
bool measure_wake(const struct request *request);
bool measure_slice(const struct request *request);
bool measure_wait(const struct request *request);

/* Prints the cases of `coherence`, with how many CPUs each takes. */
void list_coherence(void);

/* Ends the program with status 2: an error of the caller's. Only outside of workers. */
void refuse(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));

/* A number below `limit` from a state that is not 0. xorshift64: Marsaglia, "Xorshift
 * RNGs" (2003). */
static inline uint32_t random_below(uint64_t *state, uint32_t limit)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (uint32_t)((*state >> 32) * limit >> 32);
}

/* run_workers with one worker on each of the CPUs, or refuse(). */
void run_on(const struct request *request, unsigned count,
            void (*body)(unsigned index, void *argument), void *argument);

/* ,"name":[1,2,3] */
void print_numbers(const char *name, const uint64_t *numbers, unsigned count);

#endif
