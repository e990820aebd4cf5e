/* SPDX-License-Identifier: MIT */
/* Two locks are contended, of which one matters: a quote is computed from the whole
 * book while that is locked. The audit counters, which each request locks several
 * times, cost little beside it. */
#include <string.h>

#include "server.h"

enum { LEVELS = 400, COUNTERS = 6 };

static struct book {
    pthread_mutex_t book_mu;
    uint64_t price[LEVELS], size[LEVELS];
} book = {.book_mu = PTHREAD_MUTEX_INITIALIZER};
static struct audit {
    pthread_mutex_t audit_mu;
    uint64_t counters[COUNTERS];
} audit = {.audit_mu = PTHREAD_MUTEX_INITIALIZER};

static uint64_t price_of(const uint64_t *price, const uint64_t *size, uint64_t wanted)
{
    uint64_t cost = 0;
    for (unsigned i = 0; i < LEVELS; i++) {
        uint64_t share = size[i] * 1000 / (wanted + i + 1);
        cost += price[i] * share % (wanted + 3 * i + 7);
    }
    return checksum(price, LEVELS * sizeof *price, cost);
}

static uint64_t quote(uint64_t wanted)
{
    uint64_t price[LEVELS], size[LEVELS], found;
    pthread_mutex_lock(&book.book_mu);
    if (server_fix("shorten-section")) {
        memcpy(price, book.price, sizeof price);
        memcpy(size, book.size, sizeof size);
        pthread_mutex_unlock(&book.book_mu);
        return price_of(price, size, wanted);
    }
    found = price_of(book.price, book.size, wanted);
    pthread_mutex_unlock(&book.book_mu);
    return found;
}

static void count(unsigned which)
{
    if (server_fix("use-atomic")) {
        __atomic_fetch_add(&audit.counters[which], 1, __ATOMIC_RELAXED);
        return;
    }
    pthread_mutex_lock(&audit.audit_mu);
    audit.counters[which]++;
    pthread_mutex_unlock(&audit.audit_mu);
}

static void *follow_market(void *unused)
{
    for (uint64_t tick = 0; !server_stopping(); tick++) {
        pthread_mutex_lock(&book.book_mu);
        book.price[tick % LEVELS] = 10000 + tick % 97;
        book.size[tick % LEVELS] = 1 + tick % 31;
        pthread_mutex_unlock(&book.book_mu);
        sleep_us(500);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    char message[1500] = {'Q'};
    uint64_t wanted = checksum(message, sizeof message, request->random) % 5000;
    for (unsigned i = 0; i < COUNTERS; i++)
        count(i);
    uint64_t price = quote(wanted);
    request->random ^= checksum(message, sizeof message, price) | 1;
    return 1;
}

static void setup(void)
{
    server_background(follow_market, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "use-atomic",
                                        "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
