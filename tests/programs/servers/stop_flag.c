/* SPDX-License-Identifier: MIT */
/* Workers look at a flag between any two steps. It is in the same cache line as the
 * mutex and the counter of a progress bar that another thread updates all the time. */
#include <stdatomic.h>

#include "server.h"

enum { STEPS = 3000 };

static struct job {
    _Alignas(128) pthread_mutex_t progress_mu;
    uint64_t progress;
    atomic_bool near_stop;
    _Alignas(128) atomic_bool far_stop;
} job = {.progress_mu = PTHREAD_MUTEX_INITIALIZER};

static void *show(void *unused)
{
    uint64_t own = 0;
    while (!server_stopping()) {
        for (unsigned i = 0; i < 100; i++) {
            own = own * 31 + i;
            pthread_mutex_lock(&job.progress_mu);
            job.progress += own & 1;
            pthread_mutex_unlock(&job.progress_mu);
        }
        server_count(100);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    atomic_bool *stop = server_fix("pad") ? &job.far_stop : &job.near_stop;
    unsigned steps = 0;
    while (steps < STEPS && !atomic_load_explicit(stop, memory_order_acquire))
        steps++;
    request->random += steps;
    return steps;
}

static void setup(void)
{
    server_background(show, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"pad", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
