/* SPDX-License-Identifier: MIT */
/* Particles are binned into cells by an OpenMP team. The grid has one omp_lock_t, which
 * is not a lock of pthread. */
#include <omp.h>

#include "server.h"

enum { CELLS = 400, PARTICLES = 60 };

static omp_lock_t grid_lock;
static pthread_mutex_t frames_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t cells[CELLS], frames;

static void bin(uint64_t seed, int team)
{
#pragma omp parallel for schedule(dynamic, 4) num_threads(team)
    for (int i = 0; i < PARTICLES; i++) {
        omp_set_lock(&grid_lock);
        uint64_t at = checksum(cells, sizeof cells, seed + (uint64_t)i);
        cells[at % CELLS]++;
        omp_unset_lock(&grid_lock);
    }
}

/* The first thread leads the team; the others only watch. */
static unsigned handle(struct request *request)
{
    if (request->worker != 0) {
        sleep_us(2000);
        return 0;
    }
    bin(request->number, (int)server_threads());
    pthread_mutex_lock(&frames_lock);
    frames++;
    pthread_mutex_unlock(&frames_lock);
    return PARTICLES;
}

static void setup(void)
{
    omp_init_lock(&grid_lock);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
