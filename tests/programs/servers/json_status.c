/* SPDX-License-Identifier: MIT */
/* A monitoring agent formats its gauges as JSON for each scrape, under the lock of
 * the gauges. Formatting takes far longer than copying the numbers would. */
#include <stdio.h>
#include <string.h>

#include "server.h"

enum { GAUGES = 48, TEXT = 4096 };

static struct agent {
    pthread_mutex_t gauges_mu;
    double gauges[GAUGES];
} agent = {.gauges_mu = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t peers_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t peers[32];

static size_t format(char *text, const double *gauges)
{
    size_t at = 1;
    text[0] = '{';
    for (unsigned i = 0; i < GAUGES; i++)
        at +=
            (size_t)snprintf(text + at, TEXT - at, "\"gauge_%u\":%.6g,", i, gauges[i]);
    text[at - 1] = '}';
    return at;
}

static size_t scrape(char *text)
{
    double copy[GAUGES];
    pthread_mutex_lock(&agent.gauges_mu);
    if (server_fix("shorten-section")) {
        memcpy(copy, agent.gauges, sizeof copy);
        pthread_mutex_unlock(&agent.gauges_mu);
        return format(text, copy);
    }
    size_t size = format(text, agent.gauges);
    pthread_mutex_unlock(&agent.gauges_mu);
    return size;
}

static void *measure(void *unused)
{
    for (uint64_t round = 0; !server_stopping(); round++) {
        pthread_mutex_lock(&agent.gauges_mu);
        agent.gauges[round % GAUGES] += 1.25 * (double)(round % 7);
        pthread_mutex_unlock(&agent.gauges_mu);
        sleep_us(1000);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char text[TEXT];
    size_t size = scrape(text);
    uint64_t sum = checksum(text, size, request->worker);
    pthread_mutex_lock(&peers_mu);
    peers[sum % 32]++;
    pthread_mutex_unlock(&peers_mu);
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < GAUGES; i++)
        agent.gauges[i] = 1000.0 / (i + 3);
    server_background(measure, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
