/* SPDX-License-Identifier: MIT */
#include "delegation/server_moves.h"

#include "delegation/algorithms/rcl.h"

struct moving {
    struct delegate *object; /* NULL: free */
    uint64_t seen;           /* its sections at the last look */
    uint64_t load;           /* since then */
};

static struct atomic_u32 changing; /* as of a server; guards the rest */
static struct moving all[MOVES_OBJECTS];
static uint32_t objects; /* in use, those without a place in `all` included */
static uint32_t offered; /* bits: servers that these objects keep running */

static struct server *server_at(uint32_t number)
{
    return &server_table[SERVER_RCL * SERVERS_MOST + number];
}

static uint32_t number_of(const struct server *server)
{
    return server->place % SERVERS_MOST;
}

static uint32_t servers_most(void)
{
    const uint32_t most = cpu_count() / MOVES_CPUS_EACH;
    return most < 1 ? 1 : most < SERVERS_MOST ? most : SERVERS_MOST;
}

void server_moves_add(struct delegate *delegate)
{
    generation_lock(&changing);
    objects++;
    store_relaxed(&delegate_server(delegate)->moves, 1);
    for (uint32_t i = 0; i < MOVES_OBJECTS; i++)
        if (!all[i].object) {
            all[i] = (struct moving){delegate, 0, 0};
            break;
        }
    generation_unlock(&changing);
}

/* A server's threads never wait for `changing`, so they can end meanwhile. */
void server_moves_remove(struct delegate *delegate)
{
    generation_lock(&changing);
    for (uint32_t i = 0; i < MOVES_OBJECTS; i++)
        if (all[i].object == delegate)
            all[i].object = NULL;
    server_part(server_at(delegate->server_number));
    if (--objects == 0) {
        for (uint32_t number = 0; number < SERVERS_MOST; number++)
            if (offered >> number & 1)
                server_part(server_at(number));
        offered = 0;
    }
    generation_unlock(&changing);
}

static bool offer(uint32_t number)
{
    if (!(offered >> number & 1) && server_join(SERVER_RCL, number)) {
        offered |= 1u << number;
        store_relaxed(&server_at(number)->moves, 1);
    }
    return offered >> number & 1;
}

bool server_moves_offer(uint32_t number)
{
    generation_lock(&changing);
    const bool runs = offer(number);
    generation_unlock(&changing);
    return runs;
}

bool server_moves_do(struct delegate *delegate, struct server *to)
{
    if (load_acquire(&delegate->word) != OBJECT_FREE || load_relaxed(&delegate->pinned))
        return false;
    delegate_set_server(delegate, to);
    return true;
}

/* Returns a server without objects of these, or NULL. Where the platform starts no
 * threads, it has been offered before. */
static struct server *free_server(void)
{
    for (uint32_t number = 0; number < servers_most(); number++) {
        bool used = number == 0;
        for (uint32_t i = 0; i < MOVES_OBJECTS; i++)
            used |= all[i].object &&
                    delegate_server(all[i].object) == server_at(number);
        if (!used && (STARTS_THREADS ? offer(number) : offered >> number & 1))
            return server_at(number);
    }
    return NULL;
}

/* Returns the busiest object of the server that is not considered yet, or NULL. */
static struct moving *busiest(const struct server *server)
{
    struct moving *found = NULL;
    for (uint32_t i = 0; i < MOVES_OBJECTS; i++)
        if (all[i].object && all[i].load && delegate_server(all[i].object) == server &&
            (!found || all[i].load > found->load))
            found = &all[i];
    return found;
}

/* Divides the server's objects by their load, the busiest first. */
static void split(struct server *server)
{
    uint64_t kept = 0, given = 0;
    struct server *to = free_server();
    struct moving *next;
    while (to && (next = busiest(server)) != NULL) {
        if (kept > given && server_moves_do(next->object, to))
            given += next->load;
        else
            kept += next->load;
        next->load = 0;
    }
}

/* Returns the objects of a server to their first one. */
static void join(struct server *server)
{
    for (uint32_t i = 0; i < MOVES_OBJECTS; i++)
        if (all[i].object && delegate_server(all[i].object) == server)
            server_moves_do(all[i].object, server_at(all[i].object->server_number));
}

static void count_loads(const struct server *server)
{
    for (uint32_t i = 0; i < MOVES_OBJECTS; i++) {
        struct moving *moving = &all[i];
        if (!moving->object || delegate_server(moving->object) != server)
            continue;
        const uint64_t now = load_relaxed(&moving->object->counts.alone);
        moving->load = now - moving->seen;
        moving->seen = now;
    }
}

static uint32_t percent(uint64_t part, uint64_t whole)
{
    return whole ? (uint32_t)(100 * part / whole) : 0;
}

void server_moves_look(struct server *server)
{
    const struct server_counts *counts = &server->counts;
    struct server_seen *seen = &server->seen;
    const uint64_t rounds = load_relaxed(&counts->rounds);
    if (rounds - seen->rounds < MOVES_ROUNDS || !generation_trylock(&changing))
        return;
    const uint64_t sections = load_relaxed(&counts->sections);
    const uint64_t lines = load_relaxed(&counts->lines);
    const uint64_t serialised = load_relaxed(&counts->serialised);
    const uint32_t use = percent(sections - seen->sections, lines - seen->lines);
    const uint32_t falsely =
        percent(serialised - seen->serialised, rounds - seen->rounds);
    const uint32_t found = percent(sections - seen->sections, rounds - seen->rounds);
    *seen = (struct server_seen){rounds, sections, lines, serialised};
    store_relaxed(&server->found_percent, found);
    count_loads(server);
    if (use > SPLIT_USE_PERCENT && falsely > SPLIT_SERIALISED_PERCENT)
        split(server);
    else if (number_of(server) && found <= JOIN_FOUND_PERCENT &&
             load_relaxed(&server_at(0)->found_percent) <= JOIN_FOUND_PERCENT)
        join(server);
    generation_unlock(&changing);
}
