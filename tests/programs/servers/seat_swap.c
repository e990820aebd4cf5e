/* SPDX-License-Identifier: MIT */
/* Swaps seats between two coaches. To be safe from deadlocks, it locks one, tries the
 * other, and begins again if that is locked. The remedy locks both in a fixed order.
 * */
#include "server.h"

enum { COACHES = 3, SEATS = 2000 };

struct coach {
    pthread_mutex_t coach_mu;
    unsigned char seats[SEATS];
} __attribute__((aligned(128)));

static struct coach coaches[COACHES];
static pthread_mutex_t tickets_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t tickets, planned;

static void lock_both(struct coach *one, struct coach *other)
{
    if (server_fix("block-instead")) {
        pthread_mutex_lock(one < other ? &one->coach_mu : &other->coach_mu);
        pthread_mutex_lock(one < other ? &other->coach_mu : &one->coach_mu);
        return;
    }
    for (;;) {
        if (pthread_mutex_trylock(&one->coach_mu) == 0) {
            if (pthread_mutex_trylock(&other->coach_mu) == 0)
                return;
            pthread_mutex_unlock(&one->coach_mu);
        }
    }
}

static void swap(struct coach *one, struct coach *other, uint64_t seat)
{
    lock_both(one, other);
    for (unsigned i = 0; i < 6; i++)
        seat = checksum(one->seats, SEATS, checksum(other->seats, SEATS, seat));
    unsigned char taken = one->seats[seat % SEATS];
    one->seats[seat % SEATS] = other->seats[seat % SEATS];
    other->seats[seat % SEATS] = taken;
    pthread_mutex_unlock(&other->coach_mu);
    pthread_mutex_unlock(&one->coach_mu);
}

static unsigned handle(struct request *request)
{
    uint64_t one = random_below(request, COACHES);
    swap(&coaches[one], &coaches[(one + 1) % COACHES], request->number);
    pthread_mutex_lock(&tickets_mu);
    tickets++;
    pthread_mutex_unlock(&tickets_mu);
    return 1;
}

/* Plans routes. It takes no lock, but gets less CPU time while other threads spin. */
static void *plan(void *unused)
{
    static char network[24000];
    while (!server_stopping()) {
        planned = checksum(network, sizeof network, planned);
        server_count(1);
    }
    return unused;
}

static void setup(void)
{
    for (unsigned i = 0; i < COACHES; i++)
        pthread_mutex_init(&coaches[i].coach_mu, NULL);
    server_background(plan, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"block-instead", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
