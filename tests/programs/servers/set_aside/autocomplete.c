/* SPDX-License-Identifier: MIT */
/* Completes what users type from a sorted list of terms. One request in twelve adds a
 * term and sorts the list again under the write lock. The remedy sorts a copy, and
 * takes the lock only to exchange the two. */
#include <stdlib.h>
#include <string.h>

#include "../server.h"

enum { TERMS = 500, ADD_ONE_IN = 12 };

static struct index {
    pthread_rwlock_t terms_rw;
    uint64_t *terms, *spare;
} terms_index = {.terms_rw = PTHREAD_RWLOCK_INITIALIZER};
static pthread_mutex_t adding_mu = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t users_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t users;

static int compare(const void *one, const void *other)
{
    uint64_t a = *(const uint64_t *)one, b = *(const uint64_t *)other;
    return a < b ? -1 : a > b;
}

static void add_outside(uint64_t term, uint64_t at)
{
    pthread_mutex_lock(&adding_mu);
    memcpy(terms_index.spare, terms_index.terms, TERMS * sizeof term);
    terms_index.spare[at] = term;
    qsort(terms_index.spare, TERMS, sizeof term, compare);
    pthread_rwlock_wrlock(&terms_index.terms_rw);
    uint64_t *old = terms_index.terms;
    terms_index.terms = terms_index.spare;
    terms_index.spare = old;
    pthread_rwlock_unlock(&terms_index.terms_rw);
    pthread_mutex_unlock(&adding_mu);
}

static void add_term(uint64_t term, uint64_t at)
{
    pthread_rwlock_wrlock(&terms_index.terms_rw);
    terms_index.terms[at] = term;
    qsort(terms_index.terms, TERMS, sizeof term, compare);
    pthread_rwlock_unlock(&terms_index.terms_rw);
}

static uint64_t complete(uint64_t prefix)
{
    unsigned low = 0, high = TERMS - 1;
    pthread_rwlock_rdlock(&terms_index.terms_rw);
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (terms_index.terms[middle] < prefix)
            low = middle + 1;
        else
            high = middle;
    }
    uint64_t found = terms_index.terms[low];
    pthread_rwlock_unlock(&terms_index.terms_rw);
    return found;
}

static unsigned handle(struct request *request)
{
    char page[1000] = {'a'};
    uint64_t term = random_below(request, 1u << 30);
    if (random_below(request, ADD_ONE_IN) != 0)
        term = complete(term);
    else if (server_fix("shorten-writes"))
        add_outside(term, random_below(request, TERMS));
    else
        add_term(term, random_below(request, TERMS));
    if (checksum(page, sizeof page, term) % 64 == 0) {
        pthread_mutex_lock(&users_mu);
        users++;
        pthread_mutex_unlock(&users_mu);
    }
    return 1;
}

static void setup(void)
{
    terms_index.terms = calloc(TERMS, sizeof *terms_index.terms);
    terms_index.spare = calloc(TERMS, sizeof *terms_index.spare);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-writes", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
