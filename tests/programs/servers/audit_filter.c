/* SPDX-License-Identifier: MIT */
/* Four auditors wait for events of their kind. Each event signals all four condition
 * variables, though nearly no event is of interest to anybody: the auditors find that
 * there is nothing to do, and wait again. */
#include "server.h"

enum { EVENTS = 512, AUDITORS = 4, KINDS = 800 };

struct auditor {
    pthread_cond_t found;
    uint64_t severe;
};

static struct audit {
    pthread_mutex_t events_mu;
    struct auditor auditors[AUDITORS];
    uint64_t events[EVENTS], count;
} audit = {.events_mu = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t reports_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t reports;

static void *watch(void *argument)
{
    struct auditor *auditor = argument;
    while (!server_stopping()) {
        pthread_mutex_lock(&audit.events_mu);
        while (auditor->severe == 0 && !server_stopping())
            pthread_cond_wait(&auditor->found, &audit.events_mu);
        uint64_t severe = auditor->severe;
        auditor->severe = 0;
        pthread_mutex_unlock(&audit.events_mu);
        pthread_mutex_lock(&reports_mu);
        reports += severe;
        pthread_mutex_unlock(&reports_mu);
    }
    return NULL;
}

static void record(uint64_t event)
{
    pthread_mutex_lock(&audit.events_mu);
    audit.events[audit.count++ % EVENTS] = event;
    for (unsigned i = 0; i < AUDITORS; i++) {
        bool severe = event % KINDS == i;
        audit.auditors[i].severe += severe;
        if (severe || !server_fix("check-first"))
            pthread_cond_signal(&audit.auditors[i].found);
    }
    pthread_mutex_unlock(&audit.events_mu);
}

static unsigned handle(struct request *request)
{
    char fields[5000] = {'f'};
    record(checksum(fields, sizeof fields, request->random + request->number));
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < AUDITORS; i++) {
        pthread_cond_init(&audit.auditors[i].found, NULL);
        server_background(watch, &audit.auditors[i]);
    }
}

static void stop(void)
{
    pthread_mutex_lock(&audit.events_mu);
    for (unsigned i = 0; i < AUDITORS; i++)
        pthread_cond_signal(&audit.auditors[i].found);
    pthread_mutex_unlock(&audit.events_mu);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"check-first", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, stop, false};
    return server_main(count, words, &service);
}
