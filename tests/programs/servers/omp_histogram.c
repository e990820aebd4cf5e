/* SPDX-License-Identifier: MIT */
/* A histogram protected by an OpenMP critical section, whose lock is libgomp's own. */
#include "server.h"

enum { BINS = 1024, STEPS = 100 };

static uint64_t bins[BINS];
static pthread_mutex_t files_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t files;

static void fill(uint64_t seed, int team)
{
#pragma omp parallel for num_threads(team)
    for (int i = 0; i < STEPS; i++) {
        uint64_t value = checksum(&i, sizeof i, seed);
#pragma omp critical(histogram)
        bins[value % BINS] = checksum(bins, 4000, value);
    }
}

/* One thread serves; the team of the loop does the work. */
static unsigned handle(struct request *request)
{
    if (request->worker > 0) {
        sleep_us(1000);
        return 0;
    }
    fill(request->number, (int)server_threads());
    pthread_mutex_lock(&files_lock);
    files++;
    pthread_mutex_unlock(&files_lock);
    return STEPS;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
