/* SPDX-License-Identifier: MIT */
/* Jobs get their place in the spool under a POSIX semaphore with one permit, in the
 * style of older systems. Half of the work is done outside. */
#include <semaphore.h>

#include "server.h"

enum { PLACES = 400, PAGE = 2000 };

static sem_t spool_sem;
static uint32_t places[PLACES];
static pthread_mutex_t toner_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t toner = 1u << 30;

static uint64_t enter(uint64_t job)
{
    while (sem_wait(&spool_sem) != 0)
        continue;
    places[job % PLACES]++;
    uint64_t sum = checksum(places, sizeof places, job);
    sem_post(&spool_sem);
    return sum;
}

static unsigned handle(struct request *request)
{
    char page[PAGE] = {'p'};
    uint64_t sum = checksum(page, sizeof page, request->number);
    if (enter(sum) % 32 == 0) {
        pthread_mutex_lock(&toner_mu);
        toner--;
        pthread_mutex_unlock(&toner_mu);
    }
    return 1;
}

static void setup(void)
{
    sem_init(&spool_sem, 0, 1);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
