/* SPDX-License-Identifier: MIT */
/* A proxy finds the tenant of a request under the routing lock. It releases that lock
 * only after the filters of the tenant have run, which are under a lock of the tenant.
 * */
#include <stdlib.h>

#include "server.h"

enum { TENANTS = 40, RULES = 5000 };

struct tenant {
    uint64_t accepted;
    pthread_mutex_t filter_mu;
    unsigned char rules[RULES];
};

static struct {
    uint64_t generation;
    struct tenant *tenants[TENANTS];
    pthread_mutex_t routing_mu;
} router = {.routing_mu = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t upstream_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t upstream[4];

static void count_upstream(uint64_t verdict)
{
    pthread_mutex_lock(&upstream_mu);
    upstream[verdict % 4]++;
    pthread_mutex_unlock(&upstream_mu);
}

static void __attribute__((noinline)) run_filters(struct tenant *tenant, uint64_t id)
{
    pthread_mutex_lock(&tenant->filter_mu);
    uint64_t verdict = checksum(tenant->rules, RULES, id);
    tenant->accepted += verdict & 1;
    count_upstream(verdict);
    pthread_mutex_unlock(&tenant->filter_mu);
}

static void __attribute__((noinline)) route(uint64_t host, uint64_t id)
{
    pthread_mutex_lock(&router.routing_mu);
    router.generation++;
    struct tenant *tenant = router.tenants[host];
    if (server_fix("unnest")) {
        pthread_mutex_unlock(&router.routing_mu);
        run_filters(tenant, id);
        return;
    }
    run_filters(tenant, id);
    pthread_mutex_unlock(&router.routing_mu);
}

static unsigned handle(struct request *request)
{
    char header[400] = "Host: example";
    uint64_t id = checksum(header, sizeof header, request->number);
    route(random_below(request, TENANTS), id);
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < TENANTS; i++) {
        router.tenants[i] = calloc(1, sizeof(struct tenant));
        pthread_mutex_init(&router.tenants[i]->filter_mu, NULL);
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"unnest", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
