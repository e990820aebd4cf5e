/* SPDX-License-Identifier: MIT */
/* Pollers read a limit without a lock, over and over. The limit is next to a mutex that
 * a collector locks all the time, so their cache line moves back and forth. */
#include <stdatomic.h>
#include <stdlib.h>

#include "server.h"

enum { BATCH = 2000 };

struct telemetry {
    pthread_mutex_t count_lock;
    uint64_t count;
    atomic_uint limit;
} __attribute__((aligned(128)));

struct padded_telemetry {
    struct telemetry telemetry;
    _Alignas(128) atomic_uint limit;
};

static struct padded_telemetry *state;
static pthread_mutex_t report_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t reports;

static atomic_uint *limit(void)
{
    return server_fix("pad") ? &state->limit : &state->telemetry.limit;
}

static void *collect(void *unused)
{
    while (!server_stopping()) {
        pthread_mutex_lock(&state->telemetry.count_lock);
        state->telemetry.count++;
        pthread_mutex_unlock(&state->telemetry.count_lock);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    unsigned below = 0;
    for (unsigned i = 0; i < BATCH; i++)
        below += i % 1000 < atomic_load_explicit(limit(), memory_order_relaxed);
    if (request->number % 512 == 0) {
        pthread_mutex_lock(&report_lock);
        reports += below;
        pthread_mutex_unlock(&report_lock);
    }
    return BATCH;
}

static void setup(void)
{
    state = aligned_alloc(128, sizeof *state);
    pthread_mutex_init(&state->telemetry.count_lock, NULL);
    state->telemetry.count = 0;
    atomic_store(&state->limit, 500);
    atomic_store(&state->telemetry.limit, 500);
    server_background(collect, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"pad", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
