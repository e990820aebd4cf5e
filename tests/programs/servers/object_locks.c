/* SPDX-License-Identifier: MIT */
/* Objects are locked by one of 16 stripes, chosen by bits of the object's address.
 * The objects are a kilobyte apart, so these bits are the same in all of them, and
 * one stripe serves them all. Small notes use the others. */
#include <stdlib.h>

#include "server.h"

enum { OBJECTS = 256, SIZE = 1024, STRIPES = 16, NOTES = 64 };

struct object {
    unsigned char state[SIZE];
};

struct stripe {
    pthread_mutex_t stripe_mu;
    uint64_t uses;
} __attribute__((aligned(128)));

static struct stripe stripes[STRIPES];
static struct object *objects;
static uint64_t notes[NOTES * 8] __attribute__((aligned(64)));
static pthread_mutex_t events_mu = PTHREAD_MUTEX_INITIALIZER;
static uint64_t events;

static struct stripe *stripe_of(const void *address)
{
    uint64_t bits = (uintptr_t)address;
    if (server_fix("spread-keys"))
        return &stripes[bits * 0x9e3779b97f4a7c15u >> 60];
    return &stripes[bits >> 6 & (STRIPES - 1)];
}

static uint64_t update(struct object *object, uint64_t value)
{
    struct stripe *stripe = stripe_of(object);
    pthread_mutex_lock(&stripe->stripe_mu);
    stripe->uses++;
    for (unsigned i = 0; i < 4; i++)
        value = checksum(object->state, SIZE, value);
    object->state[value % SIZE]++;
    pthread_mutex_unlock(&stripe->stripe_mu);
    return value;
}

static void *write_notes(void *unused)
{
    for (uint64_t number = 0; !server_stopping(); number++) {
        uint64_t *note = &notes[number % NOTES * 8];
        struct stripe *stripe = stripe_of(note);
        pthread_mutex_lock(&stripe->stripe_mu);
        *note += number;
        pthread_mutex_unlock(&stripe->stripe_mu);
        sleep_us(500);
    }
    return unused;
}

static unsigned handle(struct request *request)
{
    struct object *object = &objects[random_below(request, OBJECTS)];
    uint64_t value = update(object, request->number);
    if (value % 64 == 0) {
        pthread_mutex_lock(&events_mu);
        events++;
        pthread_mutex_unlock(&events_mu);
    }
    return 1;
}

static void setup(void)
{
    objects = aligned_alloc(1024, OBJECTS * sizeof *objects);
    for (unsigned i = 0; i < STRIPES; i++)
        pthread_mutex_init(&stripes[i].stripe_mu, NULL);
    for (unsigned i = 0; i < OBJECTS; i++)
        objects[i].state[0] = (unsigned char)i;
    server_background(write_notes, NULL);
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"spread-keys", "fewer-threads", NULL};
    static const struct service service = {fixes, setup, handle, NULL, false};
    return server_main(count, words, &service);
}
