/* SPDX-License-Identifier: MIT */
/* The table of a print server is protected by a POSIX semaphore, as in programs that
 * were ported from other systems. No function of pthread takes part in it. */
#include <semaphore.h>

#include "server.h"

enum { JOBS = 500 };

static sem_t jobs_sem;
static uint64_t jobs[JOBS];
static pthread_mutex_t printers_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t printers[4];

static uint64_t submit(uint64_t job)
{
    while (sem_wait(&jobs_sem) != 0)
        ;
    jobs[job % JOBS] = job;
    uint64_t sum = 0;
    for (unsigned i = 0; i < 3; i++)
        sum = checksum(jobs, sizeof jobs, sum);
    sem_post(&jobs_sem);
    return sum;
}

static void *poll_printers(void *unused)
{
    while (!server_stopping()) {
        sleep_us(4000);
        pthread_mutex_lock(&printers_mu);
        printers[0] = printers[1] + printers[2];
        pthread_mutex_unlock(&printers_mu);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    uint64_t sum = submit(random_below(request, 1u << 30));
    if (sum % 64 == 0) {
        pthread_mutex_lock(&printers_mu);
        printers[sum / 64 % 4]++;
        pthread_mutex_unlock(&printers_mu);
    }
    return 1;
}

static void setup(void)
{
    sem_init(&jobs_sem, 0, 1);
    server_background(poll_printers, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
