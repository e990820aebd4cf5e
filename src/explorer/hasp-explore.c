/* SPDX-License-Identifier: MIT */
/*
 * hasp-explore: model-checks the locks of the lists. `hasp check` is the front end.
 * Prints one JSON object per line and per lock and client on stdout (schema
 * hasp.check/1), and counterexamples on stderr.
 */
#include "borrowing/list.h"
#include "elision/rwlock_list.h"
#include "explorer/arguments.h"
#include "explorer/base/counterexample.h"
#include "explorer/clients/clients.h"
#include "explorer/clients/condition.h"
#include "explorer/base/variables.h"
#include "explorer/search/search.h"

#include <inttypes.h>
#include <signal.h>
#include <string.h>

enum { EXIT_FINDING = 1, EXIT_USAGE = 2 };

static const char usage[] =
    "usage: hasp-explore [--kind KIND] [--lock NAME] [--client NAME]\n"
    "                    [--preemptions N|all]\n"
    "                    [--time-limit SECONDS] [--states N] [--quiet]\n"
    "                    [--list]\n"
    "                    | --list-clients\n";

static void interrupt(int signal)
{
    (void)signal;
    search_interrupted = 1;
}

static bool chosen(const char *wanted, const char *name)
{
    return !wanted || strcmp(wanted, "all") == 0 || strcmp(wanted, name) == 0;
}

/* A lock under check. */
struct subject {
    const char *kind;
    struct lock_descriptor about;
    const struct client *clients;
    unsigned client_count;
};

static void print_outcome(const struct subject *subject, const struct client *client,
                          const struct outcome *outcome)
{
    char bound[8] = "null";
    if (!outcome->complete && outcome->preemptions != UNBOUNDED)
        snprintf(bound, sizeof bound, "%u", outcome->preemptions);
    bool ok = strcmp(outcome->verdict, "ok") == 0;
    printf("{\"schema\":\"hasp.check/1\",\"kind\":\"%s\",\"lock\":\"%s\","
           "\"client\":\"%s\",\"threads\":%u,\"preemptions\":%s,\"complete\":%s,"
           "\"interrupted\":%s,\"states\":%" PRIu64 ",\"iterations\":%" PRIu64
           ",\"seconds\":%.3f,"
           "\"verdict\":\"%s\",\"detail\":\"%s\",\"counterexample\":[",
           subject->kind, subject->about.name, client->name, client->threads, bound,
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
    static const char *const by_id[] = {"fc-mcs", "u-scl", "bravo", "passive",
                                        "flat-combining", "ffwd", "rcl"};
    for (unsigned i = 0; i < sizeof by_id / sizeof by_id[0]; i++)
        if (strstr(lock, by_id[i]))
            return true;
    return false;
}

static int check(const struct subject *subject, const struct arguments *arguments)
{
    int status = 0;
    if (arguments->list) {
        printf("{\"kind\":\"%s\",\"lock\":\"%s\"}\n", subject->kind,
               subject->about.name);
        return 0;
    }
    struct limits limits = arguments->limits;
    limits.ids_matter = ids_matter(subject->about.name);
    for (unsigned i = 0; i < subject->client_count && !search_interrupted; i++) {
        const struct client *client = &subject->clients[i];
        if (!chosen(arguments->client, client->name) ||
            (client->suits && !client->suits(&subject->about)))
            continue;
        client_rwlock.kind = client->rwlock_kind;
        checked_without_barrier = client->without_barrier;
        struct outcome outcome = search(client, &limits);
        print_outcome(subject, client, &outcome);
        if (strcmp(outcome.verdict, "ok") != 0) {
            status = EXIT_FINDING;
            if (!arguments->quiet)
                print_finding(subject->about.name, client, &outcome);
        }
    }
    return status;
}

static int check_lock(struct lock_descriptor lock, const struct client *with,
                      unsigned count, const struct arguments *arguments)
{
    const struct subject subject = {"mutex", lock, with, count};
    client_operations = &lock.operations;
    int status = check(&subject, arguments);
    client_operations = NULL; /* the descriptor is a local variable */
    return status;
}

static int check_mutex(unsigned index, const struct arguments *arguments)
{
    return check_lock(lock_at(index), clients, client_count, arguments);
}

static int find_elided(const char *name)
{
    int found = elided_find(name);
    return found > 0 && is_elided((unsigned)found) ? found : -1;
}

static int check_elided(unsigned index, const struct arguments *arguments)
{
    return check_lock(elided_at(index), elision_clients, elision_client_count,
                      arguments);
}

/* Names of global mode are not those of locks. */
static int check_global(unsigned variant, const struct arguments *arguments)
{
    const struct lock_descriptor lock = global_client_uses(variant);
    const struct subject subject = {"global", lock, global_clients,
                                    global_client_count};
    client_operations = &lock.operations;
    int status = check(&subject, arguments);
    client_operations = NULL;
    condition_client_prepares = NULL;
    return status;
}

static int find_delegate(const char *name)
{
    int found = listed_find(name);
    return found > 0 && is_delegate((unsigned)found) ? found : -1;
}

/* The clients of all mutexes offer no section. */
static int check_delegate(unsigned index, const struct arguments *arguments)
{
    const struct lock_descriptor lock = listed_at(index);
    int status =
        check_lock(lock, borrowing_clients, borrowing_client_count, arguments);
    return status | check_lock(lock, clients, client_count, arguments);
}

static int check_rwlock(unsigned index, const struct arguments *arguments)
{
    const struct rwlock_descriptor lock = rwlock_at(index);
    const struct subject subject = {"rwlock", lock.about, rwlock_clients,
                                    rwlock_client_count};
    client_rwlock_operations = &lock.operations;
    rwlock_default_slot = index + 1;
    int status = check(&subject, arguments);
    client_rwlock_operations = NULL;
    return status;
}

static int check_elided_rwlock(unsigned index, const struct arguments *arguments)
{
    const struct rwlock_descriptor lock = elided_rwlock_at(index);
    const struct subject subject = {"rwlock", lock.about, elided_rwlock_clients,
                                    elided_rwlock_client_count};
    client_rwlock_operations = &lock.operations;
    int status = check(&subject, arguments);
    client_rwlock_operations = NULL;
    return status;
}

static int check_spinlock(unsigned index, const struct arguments *arguments)
{
    const struct subject subject = {"spinlock", spinlock_list[index].about,
                                    spinlock_clients, spinlock_client_count};
    spinlock_client_uses(index);
    return check(&subject, arguments);
}

static int check_barrier(unsigned index, const struct arguments *arguments)
{
    const struct subject subject = {"barrier", barrier_list[index].about,
                                    barrier_clients, barrier_client_count};
    barrier_client_uses(index);
    return check(&subject, arguments);
}

static int check_channel(unsigned policy, const struct arguments *arguments)
{
    const struct subject subject = {"channel", channel_client_uses(policy),
                                    channel_clients, channel_client_count};
    return check(&subject, arguments);
}

static int check_ring(unsigned policy, const struct arguments *arguments)
{
    const struct subject subject = {"ring", ring_client_uses(policy), ring_clients,
                                    ring_client_count};
    return check(&subject, arguments);
}

static int check_shared_barrier(unsigned policy, const struct arguments *arguments)
{
    const struct subject subject = {
        "shared-barrier", shared_barrier_client_uses(policy), shared_barrier_clients,
        shared_barrier_client_count};
    return check(&subject, arguments);
}

static int check_executor(unsigned index, const struct arguments *arguments)
{
    const struct subject subject = {"executor", executor_client_uses(index),
                                    executor_clients, executor_client_count};
    return check(&subject, arguments);
}

static int check_map(unsigned variant, const struct arguments *arguments)
{
    const struct subject subject = {"map", map_client_uses(variant), map_clients,
                                    map_client_count};
    return check(&subject, arguments);
}

static int check_transaction(unsigned variant, const struct arguments *arguments)
{
    const struct subject subject = {"transaction", transaction_client_uses(variant),
                                    transaction_clients, transaction_client_count};
    return check(&subject, arguments);
}

/* Wrapped locks are checked only if they are named. */
static const unsigned none_unnamed = 0;

/* The kinds of locks. `length`: without the wrapped locks. */
static const struct kind {
    const char *name;
    const unsigned *length;
    int (*find)(const char *name);
    int (*check)(unsigned index, const struct arguments *arguments);
    const struct client *clients;
    const unsigned *client_count;
} kinds[] = {
    {"mutex", &lock_list_length, lock_find, check_mutex, clients, &client_count},
    {"elided", &none_unnamed, find_elided, check_elided, elision_clients,
     &elision_client_count},
    {"elided-rwlock", &none_unnamed, elided_rwlock_client_find, check_elided_rwlock,
     elided_rwlock_clients, &elided_rwlock_client_count},
    {"global", &global_variants, global_variant_find, check_global, global_clients,
     &global_client_count},
    {"borrowed", &none_unnamed, find_delegate, check_delegate, borrowing_clients,
     &borrowing_client_count},
    {"rwlock", &rwlock_list_length, rwlock_find, check_rwlock, rwlock_clients,
     &rwlock_client_count},
    {"spinlock", &spinlock_list_length, spinlock_find, check_spinlock, spinlock_clients,
     &spinlock_client_count},
    {"barrier", &barrier_list_length, barrier_find, check_barrier, barrier_clients,
     &barrier_client_count},
    {"channel", &channel_policies, channel_policy_find, check_channel, channel_clients,
     &channel_client_count},
    {"ring", &channel_policies, channel_policy_find, check_ring, ring_clients,
     &ring_client_count},
    {"shared-barrier", &channel_policies, channel_policy_find, check_shared_barrier,
     shared_barrier_clients, &shared_barrier_client_count},
    {"executor", &executor_list_length, executor_client_find, check_executor,
     executor_clients, &executor_client_count},
    {"map", &map_variants, map_variant_find, check_map, map_clients, &map_client_count},
    {"transaction", &transaction_variants, transaction_variant_find, check_transaction,
     transaction_clients, &transaction_client_count},
};
enum { KINDS = sizeof kinds / sizeof kinds[0] };

static void list_clients(const struct kind *kind)
{
    for (unsigned i = 0; i < *kind->client_count; i++)
        printf("{\"schema\":\"hasp.check/1\",\"kind\":\"%s\","
               "\"client\":\"%s\",\"threads\":%u,\"summary\":\"%s\"}\n",
               kind->name, kind->clients[i].name, kind->clients[i].threads,
               kind->clients[i].summary);
}

static bool client_exists(const struct kind *kind, const char *name)
{
    for (unsigned i = 0; i < *kind->client_count; i++)
        if (chosen(name, kind->clients[i].name))
            return true;
    return false;
}

/* Checks the chosen locks of one kind. */
static int check_kind(const struct kind *kind, const struct arguments *arguments)
{
    int only = arguments->lock ? kind->find(arguments->lock) : 0, status = 0;
    if (only > 0)
        return kind->check((unsigned)only, arguments);
    for (unsigned i = 1; i < *kind->length && !arguments->lock && !search_interrupted;
         i++)
        status |= kind->check(i, arguments);
    return status;
}

/* Explains what is wrong with the arguments, and returns false. */
static bool can_check(const struct arguments *arguments)
{
    bool client = false, lock = !arguments->lock;
    for (unsigned k = 0; k < KINDS; k++)
        if (chosen(arguments->kind, kinds[k].name)) {
            client |= client_exists(&kinds[k], arguments->client);
            lock |= arguments->lock && kinds[k].find(arguments->lock) > 0;
        }
    if (!client)
        fputs(usage, stderr);
    else if (!lock)
        fprintf(stderr, "hasp-explore: there is no lock %s to check\n",
                arguments->lock);
    return client && lock;
}

int main(int count, char **words)
{
    struct arguments arguments = {
        .limits = {.preemptions = UNBOUNDED, .seconds = 60, .states = 20000000}};
    if (count == 2 && strcmp(words[1], "--list-clients") == 0) {
        for (unsigned k = 0; k < KINDS; k++)
            list_clients(&kinds[k]);
        return 0;
    }
    if (!arguments_parse(&arguments, count, words)) {
        fputs(usage, stderr);
        return EXIT_USAGE;
    }
    if (!can_check(&arguments))
        return EXIT_USAGE;
    signal(SIGINT, interrupt);
    signal(SIGTERM, interrupt);
    int status = 0;
    for (unsigned k = 0; k < KINDS && !search_interrupted; k++)
        if (chosen(arguments.kind, kinds[k].name))
            status |= check_kind(&kinds[k], &arguments);
    return status;
}
