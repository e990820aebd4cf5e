/* SPDX-License-Identifier: MIT */
/* An auditor waits for severe events. It is signalled for each event, and nearly
 * always finds that the event is not severe and waits again. */
#include "../server.h"

enum { EVENTS = 512, SEVERE_ONE_IN = 200 };

static struct audit {
    pthread_mutex_t events_mu;
    pthread_cond_t severe_event;
    uint64_t events[EVENTS], count, severe;
} audit = {.events_mu = PTHREAD_MUTEX_INITIALIZER,
           .severe_event = PTHREAD_COND_INITIALIZER};
static pthread_mutex_t reports_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t reports;

static void *watch(void *unused)
{
    while (!server_stopping()) {
        pthread_mutex_lock(&audit.events_mu);
        while (audit.severe == 0 && !server_stopping())
            pthread_cond_wait(&audit.severe_event, &audit.events_mu);
        uint64_t severe = audit.severe;
        audit.severe = 0;
        pthread_mutex_unlock(&audit.events_mu);
        pthread_mutex_lock(&reports_mu);
        reports += severe;
        pthread_mutex_unlock(&reports_mu);
    }
    return unused;
}

static void record(uint64_t event)
{
    bool severe = event % SEVERE_ONE_IN == 0;
    pthread_mutex_lock(&audit.events_mu);
    audit.events[audit.count++ % EVENTS] = event;
    audit.severe += severe;
    if (severe || !server_fix("check-first"))
        pthread_cond_signal(&audit.severe_event);
    pthread_mutex_unlock(&audit.events_mu);
}

static unsigned handle(struct request *request)
{
    char fields[4000] = {'f'};
    sleep_us(20); /* the next event arrives */
    record(checksum(fields, sizeof fields, request->random + request->number));
    return 1;
}

static void setup(void)
{
    server_background(watch, NULL);
}

static void stop(void)
{
    pthread_mutex_lock(&audit.events_mu);
    pthread_cond_broadcast(&audit.severe_event);
    pthread_mutex_unlock(&audit.events_mu);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"check-first", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
