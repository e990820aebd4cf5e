/* SPDX-License-Identifier: MIT */
/*
 * hasp-explore: model-checks the locks of the list. `hasp check` is the front end.
 * Prints one JSON object per line and per lock and client on stdout (schema
 * hasp.check/1), and counterexamples on stderr.
 */
#include "explorer/base/counterexample.h"
#include "explorer/clients/clients.h"
#include "explorer/base/variables.h"
#include "explorer/search/search.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

enum { EXIT_FINDING = 1, EXIT_USAGE = 2 };

static const char usage[] =
    "usage: hasp-explore [--lock NAME] [--client NAME] [--preemptions N|all]\n"
    "                    [--time-limit SECONDS] [--states N] [--quiet]\n"
    "                    | --list-clients\n";

struct arguments {
    const char *lock, *client;
    bool quiet;
    struct limits limits;
};

static void interrupt(int signal)
{
    (void)signal;
    search_interrupted = 1;
}

static bool chosen(const char *wanted, const char *name)
{
    return !wanted || strcmp(wanted, "all") == 0 || strcmp(wanted, name) == 0;
}

static void print_outcome(const char *lock, const struct client *client,
                          const struct outcome *outcome)
{
    char bound[8] = "null";
    if (!outcome->complete && outcome->preemptions != UNBOUNDED)
        snprintf(bound, sizeof bound, "%u", outcome->preemptions);
    bool ok = strcmp(outcome->verdict, "ok") == 0;
    printf("{\"schema\":\"hasp.check/1\",\"lock\":\"%s\",\"client\":\"%s\","
           "\"threads\":%u,\"preemptions\":%s,\"complete\":%s,\"interrupted\":%s,"
           "\"states\":%" PRIu64 ",\"iterations\":%" PRIu64 ",\"seconds\":%.3f,"
           "\"verdict\":\"%s\",\"detail\":\"%s\",\"counterexample\":[",
           lock, client->name, client->threads, bound,
           outcome->complete ? "true" : "false",
           outcome->interrupted ? "true" : "false", outcome->states,
           outcome->executions, outcome->seconds, outcome->verdict, outcome->detail);
    if (!ok)
        counterexample_print_json(stdout);
    printf("]}\n");
    fflush(stdout);
}

static void print_finding(const char *lock, const struct client *client,
                          const struct outcome *outcome)
{
    fprintf(stderr, "%s, client %s (%s):\n", lock, client->name, client->summary);
    counterexample_print(stderr);
    fprintf(stderr, "%s: %s\n\n", outcome->verdict, outcome->detail);
}

/* These locks search slots that are chosen by thread id. */
static bool ids_matter(const char *lock)
{
    return strstr(lock, "fc-mcs") || strstr(lock, "u-scl");
}

static int check(const struct lock_descriptor *lock, const struct arguments *arguments)
{
    int status = 0;
    struct limits limits = arguments->limits;
    limits.ids_matter = ids_matter(lock->name);
    client_operations = &lock->operations;
    for (unsigned i = 0; i < client_count && !search_interrupted; i++) {
        const struct client *client = &clients[i];
        if (!chosen(arguments->client, client->name) ||
            (client->suits && !client->suits(lock)))
            continue;
        struct outcome outcome = search(client, &limits);
        print_outcome(lock->name, client, &outcome);
        if (strcmp(outcome.verdict, "ok") != 0) {
            status = EXIT_FINDING;
            if (!arguments->quiet)
                print_finding(lock->name, client, &outcome);
        }
    }
    client_operations = NULL; /* the descriptor is the caller's local variable */
    return status;
}

static int list_clients(void)
{
    for (unsigned i = 0; i < client_count; i++)
        printf("{\"schema\":\"hasp.check/1\",\"client\":\"%s\",\"threads\":%u,"
               "\"summary\":\"%s\"}\n",
               clients[i].name, clients[i].threads, clients[i].summary);
    return 0;
}

static bool number(const char *text, double *value)
{
    char *end;
    errno = 0;
    *value = strtod(text, &end);
    return !errno && end != text && !*end && *value >= 0;
}

static bool parse(int count, char **words, struct arguments *into)
{
    for (int i = 1; i < count; i++) {
        const char *word = words[i], *value = i + 1 < count ? words[i + 1] : NULL;
        double amount;
        if (strcmp(word, "--quiet") == 0) {
            into->quiet = true;
            continue;
        }
        if (!value)
            return false;
        i++;
        if (strcmp(word, "--lock") == 0)
            into->lock = value;
        else if (strcmp(word, "--client") == 0)
            into->client = value;
        else if (strcmp(word, "--preemptions") == 0 && strcmp(value, "all") == 0)
            into->limits.preemptions = UNBOUNDED;
        else if (!number(value, &amount))
            return false;
        else if (strcmp(word, "--preemptions") == 0)
            into->limits.preemptions =
                amount < UNBOUNDED ? (unsigned)amount : UNBOUNDED;
        else if (strcmp(word, "--time-limit") == 0)
            into->limits.seconds = amount;
        else if (strcmp(word, "--states") == 0)
            into->limits.states = (uint64_t)amount;
        else
            return false;
    }
    return true;
}

static bool client_exists(const char *name)
{
    for (unsigned i = 0; i < client_count; i++)
        if (chosen(name, clients[i].name))
            return true;
    return false;
}

int main(int count, char **words)
{
    struct arguments arguments = {
        .limits = {.preemptions = UNBOUNDED, .seconds = 60, .states = 20000000}};
    if (count == 2 && strcmp(words[1], "--list-clients") == 0)
        return list_clients();
    if (!parse(count, words, &arguments) || !client_exists(arguments.client)) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    int only = -1, status = 0;
    if (arguments.lock && strcmp(arguments.lock, "all") != 0) {
        only = lock_find(arguments.lock);
        if (only < 1) {
            fprintf(stderr, "hasp-explore: there is no lock %s to check\n",
                    arguments.lock);
            return EXIT_USAGE;
        }
    }
    const unsigned first = only < 0 ? 1 : (unsigned)only;
    const unsigned end = only < 0 ? lock_list_length : first + 1;
    for (unsigned i = first; i < end && !search_interrupted; i++) {
        const struct lock_descriptor lock = lock_at(i);
        status |= check(&lock, &arguments);
    }
    return status;
}
