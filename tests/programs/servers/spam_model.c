/* SPDX-License-Identifier: MIT */
/* Every message is looked up in a model and then trains it, under the read lock and the
 * write lock of one rwlock. The training's arithmetic is under the write lock too. */
#include "server.h"

enum { WORDS = 4096, MAIL = 9000 };

static struct model {
    pthread_rwlock_t model_rw;
    uint32_t weights[WORDS];
} model = {.model_rw = PTHREAD_RWLOCK_INITIALIZER};

static uint64_t classify(uint64_t word)
{
    pthread_rwlock_rdlock(&model.model_rw);
    uint64_t weight = 0;
    for (unsigned i = 0; i < 30; i++)
        weight += model.weights[(word + i) % WORDS];
    pthread_rwlock_unlock(&model.model_rw);
    return weight;
}

static void train(const char *mail, uint64_t word)
{
    bool before = server_fix("shorten-writes");
    uint64_t sum = before ? checksum(mail, MAIL, word) : 0;
    pthread_rwlock_wrlock(&model.model_rw);
    if (!before)
        sum = checksum(mail, MAIL, word);
    model.weights[sum % WORDS]++;
    pthread_rwlock_unlock(&model.model_rw);
}

static unsigned handle(struct request *request)
{
    char mail[MAIL] = {'m'};
    uint64_t word = checksum(mail, 2000, request->number);
    train(mail, word + classify(word));
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-writes", "fewer-threads", NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
