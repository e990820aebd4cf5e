/* SPDX-License-Identifier: MIT */
/* Scales images. All CPU time is spent on pixels, and the locks are held rarely and
 * briefly. There is nothing wrong with them. */
#include "server.h"

enum { IMAGE = 100000 };

static pthread_mutex_t queue_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t done_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t next_image, done_images;
static char image[IMAGE];

static unsigned handle(struct request *request)
{
    pthread_mutex_lock(&queue_mu);
    uint64_t number = next_image++;
    pthread_mutex_unlock(&queue_mu);
    uint64_t scaled = checksum(image, IMAGE, number + request->worker);
    pthread_mutex_lock(&done_mu);
    done_images += scaled != 0;
    pthread_mutex_unlock(&done_mu);
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
