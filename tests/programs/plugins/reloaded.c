/* SPDX-License-Identifier: MIT */
/* A plug-in that is loaded and unloaded repeatedly, and locks in its constructor and
 * destructor. */
#include <pthread.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t recursive = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
static pthread_cond_t cond = PTHREAD_COND_INITIALIZER;
static long counter;
static int go;

static void *body(void *rounds)
{
    pthread_mutex_lock(&mutex);
    while (!go)
        pthread_cond_wait(&cond, &mutex);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < *(int *)rounds; i++) {
        pthread_mutex_lock(&mutex);
        counter++;
        pthread_mutex_unlock(&mutex);
    }
    return NULL;
}

__attribute__((constructor)) static void loaded(void)
{
    pthread_mutex_lock(&recursive);
    pthread_mutex_lock(&recursive);
}

__attribute__((destructor)) static void unloaded(void)
{
    pthread_mutex_unlock(&recursive);
    pthread_mutex_unlock(&recursive);
    pthread_mutex_destroy(&recursive);
}

/* Returns the counter after two threads of the plug-in have each counted to
 * `rounds`. */
__attribute__((visibility("default"))) long plugin_work(int rounds)
{
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        if (pthread_create(&threads[i], NULL, body, &rounds) != 0)
            return -1;
    pthread_mutex_lock(&mutex);
    go = 1;
    pthread_cond_broadcast(&cond);
    pthread_mutex_unlock(&mutex);
    for (int i = 0; i < 2; i++)
        pthread_join(threads[i], NULL);
    return counter;
}
