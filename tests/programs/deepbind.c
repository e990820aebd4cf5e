/* SPDX-License-Identifier: MIT */
/* A plug-in loaded with RTLD_DEEPBIND binds to the C library's locks, not the preloaded
 * ones. */
#include "check.h"
#include "plugins/shared_lock.h"

static struct shared_lock shared = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
                                    0, 0, 0};
static int (*plugin)(struct shared_lock *);

static void load(const char *name, int flags)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    CHECK_COMPARE(length, >, 0);
    path[length] = '\0';
    strcpy(strrchr(path, '/'), "/libplugin_shared_lock.so");
    void *handle = dlopen(path, flags);
    if (handle == NULL)
        check_end(1, "%s\n", dlerror());
    void *symbol = dlsym(handle, name);
    CHECK(symbol != NULL);
    memcpy(&plugin, &symbol, sizeof plugin);
}

static void *plugin_body(void *ignored)
{
    (void)ignored;
    return (void *)(long)plugin(&shared);
}

static void *count_body(void *ignored)
{
    (void)ignored;
    for (int i = 0; i < shared.rounds; i++) {
        CHECK_OK(pthread_mutex_lock(&shared.mutex));
        long before = shared.counter;
        check_dawdle(before);
        shared.counter = before + 1;
        CHECK_OK(pthread_mutex_unlock(&shared.mutex));
    }
    return NULL;
}

static void count(int flags)
{
    load("plugin_count", flags);
    shared.rounds = check_rounds(5000);
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        threads[i] = check_start(i % 2 ? count_body : plugin_body, NULL);
    for (int i = 0; i < 4; i++)
        CHECK_EQUAL((long)check_join(threads[i]), 0);
    CHECK_EQUAL(shared.counter, 4L * shared.rounds);
    CHECK_OK(pthread_mutex_destroy(&shared.mutex));
}

static void counter_lazy(void)
{
    count(RTLD_LAZY | RTLD_DEEPBIND);
}

static void counter_now(void)
{
    count(RTLD_NOW | RTLD_LOCAL | RTLD_DEEPBIND);
}

static void counter_ordinary(void)
{
    count(RTLD_NOW);
}

static void condvar(void)
{
    load("plugin_take_turns", RTLD_NOW | RTLD_DEEPBIND);
    shared.rounds = check_rounds(1000);
    pthread_t thread = check_start(plugin_body, NULL);
    CHECK_OK(pthread_mutex_lock(&shared.mutex));
    for (int i = 0; i < shared.rounds; i++) {
        shared.turn = 1;
        CHECK_OK(pthread_cond_signal(&shared.cond));
        while (shared.turn != 0)
            CHECK_OK(pthread_cond_wait(&shared.cond, &shared.mutex));
    }
    CHECK_OK(pthread_mutex_unlock(&shared.mutex));
    CHECK_EQUAL((long)check_join(thread), 0);
}

/* The locks have been used, but never contended, when the plug-in is loaded. */
static void loaded_late(void)
{
    for (int i = 0; i < 1000; i++) {
        CHECK_OK(pthread_mutex_lock(&shared.mutex));
        CHECK_OK(pthread_mutex_unlock(&shared.mutex));
    }
    count(RTLD_NOW | RTLD_DEEPBIND);
}

CHECK_MAIN(CASE(counter_lazy), CASE(counter_now), CASE(counter_ordinary), CASE(condvar),
           CASE(loaded_late))
