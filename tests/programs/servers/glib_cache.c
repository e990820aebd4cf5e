/* SPDX-License-Identifier: MIT */
/* A cache protected by a GMutex, which glib implements with its own futex lock. The
 * program exits with 77 if the library is not installed. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "server.h"

enum { ITEMS = 3000 };

/* GMutex as declared in glib's documentation. */
union g_mutex {
    void *pointer;
    unsigned words[2];
};

static union g_mutex cache_mutex;
static void (*g_mutex_lock)(union g_mutex *), (*g_mutex_unlock)(union g_mutex *);
static uint64_t items[ITEMS], expired;
static pthread_mutex_t expiry_mu = PTHREAD_MUTEX_INITIALIZER;

static unsigned handle(struct request *request)
{
    g_mutex_lock(&cache_mutex);
    uint64_t sum = checksum(items, sizeof items, request->number);
    items[sum % ITEMS]++;
    g_mutex_unlock(&cache_mutex);
    if (sum % 64 == 0) {
        pthread_mutex_lock(&expiry_mu);
        expired++;
        pthread_mutex_unlock(&expiry_mu);
    }
    return 1;
}

static void setup(void)
{
    void *glib = dlopen("libglib-2.0.so.0", RTLD_NOW);
    if (!glib) {
        fprintf(stderr, "%s\n", dlerror());
        exit(77);
    }
    *(void **)&g_mutex_lock = dlsym(glib, "g_mutex_lock");
    *(void **)&g_mutex_unlock = dlsym(glib, "g_mutex_unlock");
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
