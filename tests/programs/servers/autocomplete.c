/* SPDX-License-Identifier: MIT */
/* Completes what users type. One request in eight adds a term, and analyses its text
 * under the write lock. Only the result must be stored there. */
#include <string.h>

#include "server.h"

enum { SLOTS = 1024, CHAIN = 8, TEXT = 16000, ADD_ONE_IN = 8 };

static struct index {
    pthread_rwlock_t terms_rw;
    uint64_t terms[SLOTS][CHAIN];
} terms_index = {.terms_rw = PTHREAD_RWLOCK_INITIALIZER};
static pthread_mutex_t users_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t users;

/* Returns the weight of a term in this text. */
static uint64_t analyse(uint64_t term)
{
    char text[TEXT];
    memset(text, (int)term, sizeof text);
    return checksum(text, sizeof text, term);
}

static void add_term(uint64_t term)
{
    uint64_t *slot = terms_index.terms[term % SLOTS];
    bool before = server_fix("shorten-writes");
    uint64_t weight = before ? analyse(term) : 0;
    pthread_rwlock_wrlock(&terms_index.terms_rw);
    if (!before)
        weight = analyse(term);
    slot[weight % CHAIN] = weight;
    pthread_rwlock_unlock(&terms_index.terms_rw);
}

static uint64_t complete(uint64_t prefix)
{
    uint64_t best = 0;
    pthread_rwlock_rdlock(&terms_index.terms_rw);
    for (unsigned i = 0; i < CHAIN; i++)
        if (terms_index.terms[prefix % SLOTS][i] > best)
            best = terms_index.terms[prefix % SLOTS][i];
    pthread_rwlock_unlock(&terms_index.terms_rw);
    return best;
}

static unsigned handle(struct request *request)
{
    char page[300] = {'a'};
    uint64_t term = random_below(request, 1u << 30);
    if (random_below(request, ADD_ONE_IN) == 0)
        add_term(term);
    else
        term ^= complete(term);
    if (checksum(page, sizeof page, term) % 64 == 0) {
        pthread_mutex_lock(&users_mu);
        users++;
        pthread_mutex_unlock(&users_mu);
    }
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-writes", "fewer-threads", NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
