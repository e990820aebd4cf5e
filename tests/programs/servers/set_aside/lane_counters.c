/* SPDX-License-Identifier: MIT */
/* Each lane of a toll station has a thread, a mutex and an account, which it
 * locks for every car; a display adds up all accounts every few milliseconds. The
 * accounts are apart, but the mutexes stand in one array, so two lanes' mutexes share
 * a cache line. The remedy spreads the mutexes. */
#include "../server.h"

enum { LANES = 64, CARS = 60 };

static struct {
    uint64_t cars, cents;
} __attribute__((aligned(128))) accounts[LANES];

static pthread_mutex_t lane_mu[LANES];
static struct {
    pthread_mutex_t mutex;
} __attribute__((aligned(128))) spread[LANES];

static pthread_mutex_t sign_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t sign;

static void pass(pthread_mutex_t *lane, unsigned worker, uint64_t cents)
{
    pthread_mutex_lock(lane);
    accounts[worker].cars++;
    accounts[worker].cents += cents;
    pthread_mutex_unlock(lane);
}

static pthread_mutex_t *mutex_of(unsigned at)
{
    return server_fix("pad") ? &spread[at].mutex : &lane_mu[at];
}

static void *display(void *unused)
{
    while (!server_stopping()) {
        uint64_t sum = 0;
        sleep_us(4000);
        for (unsigned i = 0; i < LANES; i++) {
            pthread_mutex_lock(mutex_of(i));
            sum += accounts[i].cents;
            pthread_mutex_unlock(mutex_of(i));
        }
        pthread_mutex_lock(&sign_mu);
        sign = sum;
        pthread_mutex_unlock(&sign_mu);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    unsigned at = request->worker % LANES;
    pthread_mutex_t *lane = mutex_of(at);
    for (unsigned i = 0; i < CARS; i++)
        pass(lane, at, random_below(request, 900));
    return CARS;
}

static void setup(void)
{
    for (unsigned i = 0; i < LANES; i++) {
        pthread_mutex_init(&lane_mu[i], NULL);
        pthread_mutex_init(&spread[i].mutex, NULL);
    }
    server_background(display, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"pad", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
