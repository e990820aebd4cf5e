/* SPDX-License-Identifier: MIT */
/* A file system cache with a lock in each of 300,000 inodes. Few of them are ever
 * locked, but the locks take half of the memory. */
#include <stdlib.h>

#include "server.h"

enum { INODES = 300000, GROUPS = 64, HOT = 1000 };

struct inode {
    pthread_mutex_t lock;
    uint32_t number, links;
    uint64_t size, changed, blocks;
};

static struct inode *inodes;
static pthread_mutex_t groups[GROUPS];
static pthread_mutex_t superblock_lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t writes;

static unsigned handle(struct request *request)
{
    uint64_t number = random_below(request, HOT) * (INODES / HOT);
    struct inode *inode = &inodes[number];
    pthread_mutex_t *lock =
        server_fix("fewer-locks") ? &groups[number % GROUPS] : &inode->lock;
    sleep_us(50);
    pthread_mutex_lock(lock);
    inode->size += 512;
    inode->changed = request->number;
    pthread_mutex_unlock(lock);
    if (checksum(inode, sizeof *inode, number) % 100 == 0) {
        pthread_mutex_lock(&superblock_lock);
        writes++;
        pthread_mutex_unlock(&superblock_lock);
    }
    return 1;
}

static void setup(void)
{
    inodes = calloc(INODES, sizeof *inodes);
    for (unsigned i = 0; i < INODES; i++) {
        inodes[i].number = i;
        if (!server_fix("fewer-locks"))
            pthread_mutex_init(&inodes[i].lock, NULL);
    }
    for (unsigned i = 0; i < GROUPS; i++)
        pthread_mutex_init(&groups[i], NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"fewer-locks", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
