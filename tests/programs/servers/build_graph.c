/* SPDX-License-Identifier: MIT */
/* A build server with three locks. Compilations lock targets and then objects, links
 * lock objects and then output, and the cleaner locks output and then targets. An
 * atomic ticket keeps the three apart for now, but it is no lock, and was meant for
 * something else. */
#include <stdatomic.h>

#include "server.h"

static pthread_mutex_t targets_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t objects_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t output_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t progress_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool jobserver_busy;
static uint64_t targets, objects, output, progress;

static bool get_token(void)
{
    return !atomic_exchange(&jobserver_busy, true);
}

static void put_token(void)
{
    atomic_store(&jobserver_busy, false);
}

static void compile(uint64_t number)
{
    pthread_mutex_lock(&targets_lock);
    targets++;
    pthread_mutex_lock(&objects_lock);
    objects = checksum(&number, sizeof number, objects);
    pthread_mutex_unlock(&objects_lock);
    pthread_mutex_unlock(&targets_lock);
}

static void link_objects(void)
{
    pthread_mutex_lock(&objects_lock);
    pthread_mutex_lock(&output_lock);
    output += objects & 1;
    pthread_mutex_unlock(&output_lock);
    pthread_mutex_unlock(&objects_lock);
}

static void clean(void)
{
    if (server_fix("fix-order")) {
        pthread_mutex_lock(&targets_lock);
        pthread_mutex_lock(&output_lock);
    } else {
        pthread_mutex_lock(&output_lock);
        pthread_mutex_lock(&targets_lock);
    }
    targets = output = 0;
    pthread_mutex_unlock(&targets_lock);
    pthread_mutex_unlock(&output_lock);
}

static void *clean_up(void *unused)
{
    while (!server_stopping()) {
        sleep_us(7000);
        if (get_token()) {
            clean();
            put_token();
        }
    }
    return unused;
}

static void *link_all(void *unused)
{
    while (!server_stopping()) {
        sleep_us(1500);
        if (get_token()) {
            link_objects();
            put_token();
        }
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    sleep_us(200); /* the compiler runs */
    if (!get_token())
        return 0;
    compile(request->number);
    put_token();
    pthread_mutex_lock(&progress_lock);
    progress++;
    pthread_mutex_unlock(&progress_lock);
    return 1;
}

static void setup(void)
{
    server_background(clean_up, NULL);
    server_background(link_all, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fix-order", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
