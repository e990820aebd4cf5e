/* SPDX-License-Identifier: MIT */
/* Plug-ins are loaded and unloaded, and dlopen behaves as if it were not hooked. */
#include <link.h>

#include "check.h"

static void *load(const char *name, int flags)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    CHECK_COMPARE(length, >, 0);
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, name);
    void *handle = dlopen(path, flags);
    if (handle == NULL)
        check_end(1, "%s\n", dlerror());
    return handle;
}

/* Copies the pointer through memory, because C does not convert object pointers to
 * function pointers. */
#define FIND(handle, name, pointer)                   \
    do {                                              \
        void *symbol = dlsym(handle, name);           \
        if (symbol == NULL)                           \
            check_end(1, "%s\n", dlerror());          \
        memcpy(&(pointer), &symbol, sizeof(pointer)); \
    } while (0)

static void again_and_again(void)
{
    int rounds = check_rounds(200);
    for (int i = 0; i < 60; i++) {
        long (*work)(int);
        void *handle = load("libplugin_reloaded.so", i % 2 ? RTLD_NOW : RTLD_LAZY);
        FIND(handle, "plugin_work", work);
        CHECK_EQUAL(work(rounds), 2L * rounds);
        CHECK_EQUAL(dlclose(handle), 0);
    }
}

static int stop;

static void *reload_body(void *ignored)
{
    (void)ignored;
    while (!check_get(&stop))
        CHECK_EQUAL(dlclose(load("libplugin_reloaded.so", RTLD_NOW)), 0);
    return NULL;
}

static void while_others_lock(void)
{
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    pthread_t thread = check_start(reload_body, NULL);
    long long end = check_now_ns(CLOCK_MONOTONIC) + 50000000;
    while (check_now_ns(CLOCK_MONOTONIC) < end) {
        CHECK_OK(pthread_mutex_lock(&mutex));
        CHECK_OK(pthread_mutex_unlock(&mutex));
        CHECK_OK(check_try_elsewhere(&mutex));
    }
    check_set(&stop, 1);
    check_join(thread);
}

static void dependency_by_runpath(void)
{
    int (*answer)(void);
    void *handle = load("libplugin_outer.so", RTLD_NOW);
    FIND(handle, "outer_by_dependency", answer);
    CHECK_EQUAL(answer(), 42);
    CHECK_EQUAL(dlclose(handle), 0);
}

static void caller_is_kept(int flags)
{
    int (*by_dlopen)(int);
    const char *(*error)(void);
    /* The program cannot find this library, because only the plug-in's own search path
     * has its folder. */
    CHECK(dlopen("libplugin_found_by_runpath.so", RTLD_NOW) == NULL);
    CHECK(strstr(dlerror(), "libplugin_found_by_runpath.so") != NULL);
    void *handle = load("libplugin_outer.so", RTLD_NOW);
    FIND(handle, "outer_by_dlopen", by_dlopen);
    FIND(handle, "outer_error", error);
    if (by_dlopen(flags) != 0)
        check_end(1, "the plug-in's search path was not used: %s\n", error());
    CHECK_EQUAL(dlclose(handle), 0);
}

static void called_from_a_plugin(void)
{
    caller_is_kept(RTLD_NOW);
    caller_is_kept(RTLD_LAZY | RTLD_GLOBAL);
}

static void called_from_a_plugin_deepbind(void)
{
    caller_is_kept(RTLD_NOW | RTLD_DEEPBIND);
}

static void errors_and_special_cases(void)
{
    void *program = dlopen(NULL, RTLD_NOW);
    CHECK(program != NULL);
    CHECK(dlsym(program, "pthread_mutex_lock") != NULL);
    CHECK(dlopen("/nowhere/libnothing.so", RTLD_NOW) == NULL);
    const char *message = dlerror();
    CHECK(message != NULL && strstr(message, "/nowhere/libnothing.so") != NULL);
    CHECK(dlerror() == NULL);
    CHECK(dlopen("libplugin_reloaded.so", RTLD_NOW | RTLD_NOLOAD) == NULL);
    void *handle = load("libplugin_reloaded.so", RTLD_NOW);
    CHECK(load("libplugin_reloaded.so", RTLD_NOW | RTLD_NOLOAD) == handle);
    CHECK(dlsym(handle, "no_such_name") == NULL);
    CHECK(dlopen(NULL, 0) == NULL);
    CHECK_EQUAL(dlclose(handle), 0);
    CHECK_EQUAL(dlclose(handle), 0);
}

/* A copy of the whole C library in another namespace uses its own locks. */
static void other_namespace(void)
{
    char path[4096];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 64);
    CHECK_COMPARE(length, >, 0);
    path[length] = '\0';
    strcpy(strrchr(path, '/') + 1, "plugins/inner/libplugin_inner.so");
    void *handle = dlmopen(LM_ID_NEWLM, path, RTLD_NOW);
    if (handle == NULL)
        check_end(1, "%s\n", dlerror());
    int (*answer)(void);
    FIND(handle, "inner_answer", answer);
    CHECK_EQUAL(answer(), 42);
    CHECK_EQUAL(dlclose(handle), 0);
}

static void *plugin;

static void *idle(void *argument)
{
    pause();
    return argument;
}

/* A recorder or a plan looks for the caller when a lock is first used. */
static void unload_and_lock(void)
{
    static pthread_mutex_t lock[100];
    CHECK_EQUAL(dlclose(plugin), 0);
    for (unsigned i = 0; i < sizeof lock / sizeof *lock; i++) {
        CHECK_OK(pthread_mutex_lock(&lock[i]));
        CHECK_OK(pthread_mutex_unlock(&lock[i]));
    }
}

/* As in Apache, whose modules call exit(): the return address below exit() is in memory
 * that is not mapped any more. */
static void exit_from_a_plugin(void)
{
    void (*plugin_exit)(void);
    plugin = load("libplugin_exiting.so", RTLD_NOW);
    FIND(plugin, "plugin_exit", plugin_exit);
    check_start(idle, NULL); /* a recorder starts with the second thread */
    CHECK_EQUAL(atexit(unload_and_lock), 0);
    plugin_exit();
    CHECK(!"exit() returned");
}

CHECK_MAIN(CASE(again_and_again), CASE(while_others_lock), CASE(dependency_by_runpath),
           CASE(called_from_a_plugin), CASE(called_from_a_plugin_deepbind),
           CASE(errors_and_special_cases), CASE(other_namespace),
           CASE(exit_from_a_plugin))
