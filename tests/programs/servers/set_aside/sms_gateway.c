/* SPDX-License-Identifier: MIT */
/* Messages leave through eight modems, each of which must rest before it can send
 * again. The thread that sends waits for that while the whole gateway is locked, so
 * even those that only ask for a state wait too. The counters' lock is harmless. */
#include <errno.h>
#include <time.h>

#include "../server.h"

enum { MODEMS = 8, REST_NS = 700000 };

struct modem {
    pthread_mutex_t modem_mu;
    uint64_t ready_ns, sent;
};

static pthread_mutex_t gateway_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t counters_mu = PTHREAD_MUTEX_INITIALIZER;
static struct modem modems[MODEMS];
static uint64_t counters[4];

static void count(unsigned which)
{
    pthread_mutex_lock(&counters_mu);
    counters[which]++;
    pthread_mutex_unlock(&counters_mu);
}

static void rest_until(uint64_t when_ns)
{
    struct timespec when = {(time_t)(when_ns / 1000000000u),
                            (long)(when_ns % 1000000000u)};
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &when, NULL) == EINTR)
        ;
}

static void transmit(struct modem *modem, const char *text, size_t size)
{
    rest_until(modem->ready_ns);
    modem->sent += checksum(text, size, 3) != 0;
    modem->ready_ns = now_ns() + REST_NS;
    rest_until(modem->ready_ns);
}

static void send_text(struct modem *modem, const char *text, size_t size)
{
    if (server_fix("move-blocking-out")) {
        pthread_mutex_lock(&modem->modem_mu);
        transmit(modem, text, size);
        pthread_mutex_unlock(&modem->modem_mu);
        return;
    }
    pthread_mutex_lock(&gateway_mu);
    transmit(modem, text, size);
    pthread_mutex_unlock(&gateway_mu);
}

static uint64_t state_of(struct modem *modem)
{
    pthread_mutex_lock(&gateway_mu);
    uint64_t sent = modem->sent;
    pthread_mutex_unlock(&gateway_mu);
    return sent;
}

static unsigned handle(struct request *request)
{
    static const char text[] = "Your parcel will be delivered between ten and noon.";
    struct modem *modem = &modems[request->worker % MODEMS];
    if (request->number % 3 == 0)
        send_text(modem, text, sizeof text);
    else
        request->random += state_of(modem);
    count(request->number % 3 == 0);
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < MODEMS; i++)
        pthread_mutex_init(&modems[i].modem_mu, NULL);
}

int main(int count_, char **words)
{
    static const char *const fixes[] = {"move-blocking-out", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count_, words, &service);
}
