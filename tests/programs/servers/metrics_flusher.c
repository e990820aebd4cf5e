/* SPDX-License-Identifier: MIT */
/* Workers append to a buffer that a flusher compacts over and over. The flusher
 * releases buf_mu after each pass and locks it again at once. */
#include "server.h"

enum { SAMPLES = 20000, SLICE = 2000 };

static pthread_mutex_t buf_mu = PTHREAD_MUTEX_INITIALIZER;
static struct fair_lock fair_buf = FAIR_LOCK_INITIALIZER;
static pthread_mutex_t names_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t samples[SAMPLES], appended, digest, names[8];

static void buffer_lock(void)
{
    if (server_fix("fair-lock"))
        fair_lock_acquire(&fair_buf);
    else
        pthread_mutex_lock(&buf_mu);
}

static void buffer_unlock(void)
{
    if (server_fix("fair-lock"))
        fair_lock_release(&fair_buf);
    else
        pthread_mutex_unlock(&buf_mu);
}

static void *flush_samples(void *unused)
{
    size_t size = server_fix("shorten-section") ? SLICE : sizeof samples;
    while (!server_stopping()) {
        buffer_lock();
        digest = checksum(samples, size, digest);
        buffer_unlock();
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    sleep_us(1000); /* the next request arrives */
    uint64_t value = checksum(names, sizeof names, request->number);
    pthread_mutex_lock(&names_mu);
    names[request->worker % 8]++;
    pthread_mutex_unlock(&names_mu);
    buffer_lock();
    samples[appended++ % SAMPLES] = value;
    buffer_unlock();
    return 1;
}

static void setup(void)
{
    server_background(flush_samples, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fair-lock", "shorten-section", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
