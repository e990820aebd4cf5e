/* SPDX-License-Identifier: MIT */
/* A log filter keeps compiled patterns. Most lookups find theirs in no time; every
 * twentieth pattern is new, and its compilation keeps everybody else out. */
#include "server.h"

enum { SLOTS = 256, PROGRAM = 1024, PASSES = 300, NEW_ONE_IN = 20 };

struct pattern {
    uint64_t text, automaton;
};

static struct {
    uint64_t compiled;
    pthread_mutex_t guard;
    struct pattern slots[SLOTS];
} cache = {.guard = PTHREAD_MUTEX_INITIALIZER};
static pthread_mutex_t matches_guard = PTHREAD_MUTEX_INITIALIZER;
static uint64_t matches;

static uint64_t compile(uint64_t text)
{
    static const char grammar[PROGRAM] = "a(b|c)*d";
    uint64_t automaton = text;
    for (unsigned pass = 0; pass < PASSES; pass++)
        automaton = checksum(grammar, sizeof grammar, automaton);
    return automaton | 1;
}

static uint64_t find(uint64_t text)
{
    struct pattern *slot = &cache.slots[text % SLOTS];
    pthread_mutex_lock(&cache.guard);
    if (slot->text != text) {
        if (server_fix("shorten-section")) {
            pthread_mutex_unlock(&cache.guard);
            uint64_t automaton = compile(text);
            pthread_mutex_lock(&cache.guard);
            slot->automaton = automaton;
        } else {
            slot->automaton = compile(text);
        }
        slot->text = text;
        cache.compiled++;
    }
    uint64_t found = slot->automaton;
    pthread_mutex_unlock(&cache.guard);
    return found;
}

static unsigned handle(struct request *request)
{
    bool is_new = random_below(request, NEW_ONE_IN) == 0;
    uint64_t text = is_new ? request->random : random_below(request, 8) * 31 + 5;
    uint64_t automaton = find(is_new ? text | 1u << 20 : text);
    char line[1500] = "GET /index.html";
    uint64_t match = checksum(line, sizeof line, automaton);
    pthread_mutex_lock(&matches_guard);
    matches += match & 1;
    pthread_mutex_unlock(&matches_guard);
    return 1;
}

int main(int count, char **words)
{
    static const char *const fixes[] = {"shorten-section", "fewer-threads", NULL};
    static const struct service service = {fixes, NULL, handle, NULL, false};
    return server_main(count, words, &service);
}
