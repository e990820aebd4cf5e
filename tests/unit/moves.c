/* SPDX-License-Identifier: MIT */
/* Objects of rcl-moving move to and fro between three servers while threads call them,
 * also from each other's sections. */
#include "check.h"

#include "delegation/algorithms/rcl.h"
#include "delegation/list/descriptor.h"
#include "delegation/server_moves.h"

#include <pthread.h>

enum { CREW = 4, ROUNDS = 5000, SERVERS = 3, MOVER = 60 };

static struct delegate *outer, *inner;
static unsigned long outer_count, inner_count; /* of sections */
static struct atomic_u32 working;

static struct delegate *new_object(void)
{
    const struct lock_operations *lock;
    struct delegate *object = map_pages(sizeof *object);
    int index = executor_find("rcl-moving", &lock);
    CHECK(object && index > 0);
    CHECK(delegate_init(object, (unsigned)index, lock));
    return object;
}

static void *run(struct delegate *object, void *(*section)(void *), void *context)
{
    return executor_list[object->executor].operations.run(object, section, context);
}

static void *inner_section(void *context)
{
    inner_count++;
    return context;
}

static void *outer_section(void *context)
{
    outer_count++;
    return run(inner, inner_section, context);
}

static void *work(void *self)
{
    for (int i = 0; i < ROUNDS; i++) {
        CHECK(run(outer, outer_section, self) == self);
        CHECK(run(inner, inner_section, self) == self);
    }
    fetch_add_release(&working, UINT32_MAX);
    return NULL;
}

/* Moves the object to the next server, as a thread of its present one. */
static bool move(struct delegate *object)
{
    struct server *server = delegate_server(object);
    const uint32_t next = (server->place + 1) % SERVERS;
    turn_regain(server, MOVER);
    bool moved =
        server_moves_do(object, &server_table[SERVER_RCL * SERVERS_MOST + next]);
    turn_release(server);
    return moved;
}

static void *move_all(void *unused)
{
    unsigned long moves = 0;
    while (load_acquire(&working))
        moves += (unsigned long)move(inner) + (unsigned long)move(outer);
    CHECK(moves > 0);
    return unused;
}

/* The server looks at searches that found so many requests. */
static void look_after(struct server *server, uint32_t searches, uint32_t found)
{
    struct server_counts *counts = &server->counts;
    turn_regain(server, MOVER);
    store_relaxed(&counts->rounds, load_relaxed(&counts->rounds) + searches);
    store_relaxed(&counts->sections, load_relaxed(&counts->sections) + found);
    store_relaxed(&counts->lines, load_relaxed(&counts->lines) + 46ul * searches);
    server_moves_look(server);
    turn_release(server);
}

/* An object returns when nobody waits at its server or at the first one. */
static void check_returns(void)
{
    struct delegate *object = new_object();
    struct server *first = delegate_server(object), *other = first + 1;
    CHECK(server_moves_offer(1));
    turn_regain(first, MOVER);
    CHECK(server_moves_do(object, other));
    turn_release(first);
    look_after(first, MOVES_ROUNDS, 2 * MOVES_ROUNDS);
    look_after(other, MOVES_ROUNDS, MOVES_ROUNDS);
    CHECK(delegate_server(object) == other);
    look_after(first, MOVES_ROUNDS, MOVES_ROUNDS);
    look_after(other, MOVES_ROUNDS, 2 * MOVES_ROUNDS);
    CHECK(delegate_server(object) == other);
    look_after(other, MOVES_ROUNDS, MOVES_ROUNDS);
    CHECK(delegate_server(object) == first);
    executor_list[object->executor].operations.destroy(object);
}

int main(void)
{
    pthread_t workers[CREW], mover;
    char marks[CREW]; /* what each worker's sections return the address of */
    outer = new_object();
    inner = new_object();
    for (uint32_t number = 1; number < SERVERS; number++)
        CHECK(server_moves_offer(number));
    store_relaxed(&working, CREW);
    CHECK_EQUAL(pthread_create(&mover, NULL, move_all, NULL), 0);
    for (int i = 0; i < CREW; i++)
        CHECK_EQUAL(pthread_create(&workers[i], NULL, work, &marks[i]), 0);
    for (int i = 0; i < CREW; i++)
        CHECK_EQUAL(pthread_join(workers[i], NULL), 0);
    CHECK_EQUAL(pthread_join(mover, NULL), 0);
    CHECK_EQUAL(outer_count, (unsigned long)CREW * ROUNDS);
    CHECK_EQUAL(inner_count, 2ul * CREW * ROUNDS);
    executor_list[outer->executor].operations.destroy(outer);
    executor_list[inner->executor].operations.destroy(inner);
    for (uint32_t number = 0; number < SERVERS; number++)
        CHECK_EQUAL(
            load_relaxed(&server_table[SERVER_RCL * SERVERS_MOST + number].threads), 0);
    check_returns();
    return 0;
}
