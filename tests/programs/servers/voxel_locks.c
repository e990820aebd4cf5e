/* SPDX-License-Identifier: MIT */
/* A voxel world has a mutex for each of its 320,000 voxels. Players change a few of
 * them now and then. The locks take five sixths of the memory. */
#include <stdlib.h>

#include "server.h"

enum { VOXELS = 320000, LOCKS = 64 };

struct voxel {
    uint32_t material, light;
};

static struct voxel *world;
static pthread_mutex_t *voxel_mu, shared[LOCKS];
static pthread_mutex_t chat_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t messages;

static void set(uint64_t at, uint32_t material)
{
    pthread_mutex_t *mutex =
        server_fix("fewer-locks") ? &shared[at % LOCKS] : &voxel_mu[at];
    pthread_mutex_lock(mutex);
    world[at].material = material;
    world[at].light = material / 2;
    pthread_mutex_unlock(mutex);
}

static unsigned handle(struct request *request)
{
    char packet[700] = {'v'};
    sleep_us(70);
    uint64_t at = random_below(request, 900) * 331;
    set(at, (uint32_t)checksum(packet, sizeof packet, at));
    if (request->number % 50 == 0) {
        pthread_mutex_lock(&chat_mu);
        messages++;
        pthread_mutex_unlock(&chat_mu);
    }
    return 1;
}

static void setup(void)
{
    world = calloc(VOXELS, sizeof *world);
    for (unsigned i = 0; i < LOCKS; i++)
        pthread_mutex_init(&shared[i], NULL);
    if (!server_fix("fewer-locks"))
        voxel_mu = calloc(VOXELS, sizeof *voxel_mu);
    for (unsigned i = 0; i < VOXELS; i++) {
        if (voxel_mu)
            pthread_mutex_init(&voxel_mu[i], NULL);
        set(i, i % 7);
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-locks", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
