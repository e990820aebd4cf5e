/* SPDX-License-Identifier: MIT */
/* A mail store has a lock for its tree of mailboxes and one in each mailbox. A search
 * finds the mailbox in the tree and keeps the tree locked while it reads the mailbox.
 * Mailboxes are never removed, so the remedy unlocks the tree before. */
#include <stdlib.h>

#include "../server.h"

enum { MAILBOXES = 200, TEXT = 9000 };

struct mailbox {
    pthread_mutex_t box_mu;
    uint64_t name;
    unsigned char text[TEXT];
} __attribute__((aligned(64)));

static struct {
    pthread_mutex_t tree_mu;
    struct mailbox *boxes[MAILBOXES];
} tree = {.tree_mu = PTHREAD_MUTEX_INITIALIZER};

static pthread_mutex_t quota_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t quota;

static struct mailbox *find(uint64_t name)
{
    unsigned low = 0, high = MAILBOXES;
    while (high - low > 1) {
        unsigned middle = (low + high) / 2;
        if (tree.boxes[middle]->name <= name)
            low = middle;
        else
            high = middle;
    }
    return tree.boxes[low];
}

static uint64_t search_in(struct mailbox *box, uint64_t word)
{
    pthread_mutex_lock(&box->box_mu);
    uint64_t hits = checksum(box->text, TEXT, word);
    box->text[hits % TEXT]++;
    pthread_mutex_unlock(&box->box_mu);
    return hits;
}

static uint64_t search(uint64_t name, uint64_t word)
{
    pthread_mutex_lock(&tree.tree_mu);
    struct mailbox *box = find(name);
    if (server_fix("unnest")) {
        pthread_mutex_unlock(&tree.tree_mu);
        return search_in(box, word);
    }
    uint64_t hits = search_in(box, word);
    pthread_mutex_unlock(&tree.tree_mu);
    return hits;
}

static unsigned handle(struct request *request)
{
    uint64_t name = random_below(request, MAILBOXES * 10);
    request->random += search(name, request->number) | 1;
    pthread_mutex_lock(&quota_mu);
    quota += name;
    pthread_mutex_unlock(&quota_mu);
    return 1;
}

static void setup(void)
{
    for (unsigned i = 0; i < MAILBOXES; i++) {
        tree.boxes[i] = aligned_alloc(64, sizeof *tree.boxes[i]);
        *tree.boxes[i] = (struct mailbox){.name = i * 10};
        pthread_mutex_init(&tree.boxes[i]->box_mu, NULL);
    }
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"unnest", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
