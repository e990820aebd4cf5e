/* SPDX-License-Identifier: MIT */
/* A request to restart the watcher locks the configuration and waits for the
 * watcher's end. The watcher needs the configuration before it can end, so neither
 * continues, nor does any thread that needs the configuration afterwards. */
#include <stdatomic.h>
#include <stdlib.h>

#include "server.h"

enum { RESTART = 500 };

struct config {
    pthread_mutex_t config_mu;
    uint64_t version;
};

static struct config *config;
static atomic_bool leave;
static pthread_t watcher;
static pthread_mutex_t stats_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t served;

static void *watch(void *unused)
{
    while (!server_stopping()) {
        sleep_us(3000);
        pthread_mutex_lock(&config->config_mu);
        config->version++;
        bool ends = atomic_load(&leave);
        pthread_mutex_unlock(&config->config_mu);
        if (ends)
            break;
    }
    return unused;
}

static void restart_watcher(void)
{
    bool first = server_fix("release");
    atomic_store(&leave, true);
    if (first)
        pthread_join(watcher, NULL);
    pthread_mutex_lock(&config->config_mu);
    if (!first)
        pthread_join(watcher, NULL);
    atomic_store(&leave, false);
    pthread_create(&watcher, NULL, watch, NULL);
    pthread_mutex_unlock(&config->config_mu);
}

static unsigned handle(struct request *request)
{
    sleep_us(100);
    if (request->worker == 0 && request->number == RESTART)
        restart_watcher();
    pthread_mutex_lock(&config->config_mu);
    request->random += config->version;
    pthread_mutex_unlock(&config->config_mu);
    pthread_mutex_lock(&stats_mu);
    served++;
    pthread_mutex_unlock(&stats_mu);
    return 1;
}

static void setup(void)
{
    config = calloc(1, sizeof *config);
    pthread_mutex_init(&config->config_mu, NULL);
    if (pthread_create(&watcher, NULL, watch, NULL) != 0)
        abort();
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"release", NULL};
    static const struct service service = {fixes, setup, handle, NULL, true};
    return server_main(count, words, &service);
}
