/* SPDX-License-Identifier: MIT */
/* Events go to plug-ins, each of which has a lock of its own. The bus calls a plug-in
 * while it holds the lock of its table, so only one plug-in works at any time. */
#include <stdlib.h>

#include "server.h"

enum { PLUGINS = 12, MODEL = 9000 };

struct plugin {
    pthread_mutex_t own_mu;
    unsigned references;
    unsigned char model[MODEL];
};

static struct bus {
    pthread_mutex_t plugins_mu;
    struct plugin *plugins[PLUGINS];
    uint64_t dispatched;
} bus = {.plugins_mu = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t alarms_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t alarms;

static uint64_t call(struct plugin *plugin, uint64_t event)
{
    pthread_mutex_lock(&plugin->own_mu);
    uint64_t answer = checksum(plugin->model, MODEL, event);
    plugin->model[answer % MODEL]++;
    pthread_mutex_unlock(&plugin->own_mu);
    return answer;
}

static uint64_t dispatch(uint64_t number, uint64_t event)
{
    pthread_mutex_lock(&bus.plugins_mu);
    struct plugin *plugin = bus.plugins[number];
    bus.dispatched++;
    plugin->references++;
    if (server_fix("unnest"))
        pthread_mutex_unlock(&bus.plugins_mu);
    uint64_t answer = call(plugin, event);
    if (server_fix("unnest"))
        pthread_mutex_lock(&bus.plugins_mu);
    plugin->references--;
    pthread_mutex_unlock(&bus.plugins_mu);
    return answer;
}

static void *check_health(void *unused)
{
    for (uint64_t number = 0; !server_stopping(); number++) {
        sleep_us(3000);
        dispatch(number % PLUGINS, number);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    uint64_t answer = dispatch(random_below(request, PLUGINS), request->number);
    char frame[400] = {(char)answer};
    if (checksum(frame, sizeof frame, answer) % 32 == 0) {
        pthread_mutex_lock(&alarms_mu);
        alarms++;
        pthread_mutex_unlock(&alarms_mu);
    }
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < PLUGINS; i++) {
        bus.plugins[i] = calloc(1, sizeof *bus.plugins[i]);
        pthread_mutex_init(&bus.plugins[i]->own_mu, NULL);
    }
    server_background(check_health, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"unnest", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
