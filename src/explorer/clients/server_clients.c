/* SPDX-License-Identifier: MIT */
/* Clients of executors with servers: some threads are those of the server. */
#include "explorer/base/variables.h"
#include "explorer/clients/executor_calls.h"
#include "explorer/clients/suitable.h"
#include "explorer/execution/services.h"

#include "delegation/algorithms/rcl.h"
#include "delegation/server_moves.h"

#include <string.h>

bool replaces_threads(const struct lock_descriptor *about)
{
    return executor_has_servers(about) && parks(about);
}

bool moves_objects(const struct lock_descriptor *about)
{
    return strcmp(about->name, "rcl-moving") == 0;
}

static struct server *server_here(uint32_t number)
{
    return &server_table[SERVER_RCL * SERVERS_MOST + number];
}

static void serve(unsigned number)
{
    spin_until(load_acquire(&flag));
    begin_operation();
    server_serve(delegate_server(&client_delegate), number);
}

/* The threads after the callers are those of the server. Returns whether this one has
 * been such a thread. */
static bool has_served(unsigned thread, unsigned callers)
{
    if (thread < callers)
        return false;
    serve(thread - callers + 1);
    return true;
}

/* The last of `count` callers that ends dismisses the server. */
static void leave_server(uint32_t count)
{
    if (fetch_add_acq_rel(&arrived, 1) + 1 == count)
        server_dismiss(delegate_server(&client_delegate));
}

/* As executor_prepare(), with a server that spins while it is idle. */
static void prepare_spinning(unsigned thread)
{
    if (thread == 0) {
        begin_operation();
        executor_make();
        delegate_server(&client_delegate)->sleeps = false;
        store_release(&flag, 1);
    } else {
        executor_prepare(thread);
    }
}

void served_once(unsigned thread)
{
    if (has_served(thread, 2))
        return;
    prepare_spinning(thread);
    executor_ask();
    leave_server(2);
}

void served_twice(unsigned thread)
{
    if (has_served(thread, 1))
        return;
    executor_prepare(thread);
    executor_ask();
    executor_ask();
    leave_server(1);
}

void served_nested(unsigned thread)
{
    if (has_served(thread, 2))
        return;
    prepare_spinning(thread);
    if (thread == 0)
        executor_call(&outer_delegate, executor_outer_section, &outer_sections);
    else
        executor_ask();
    leave_server(2);
}

/* A section that ends only after a section of the other object, which the other thread
 * of the server has to execute. */
static void *stopped_section(void *context)
{
    outer_sections++;
    store_relaxed(&served, 1);
    spin_until(load_acquire(&flag) == 2);
    return context;
}

static void *ending_section(void *context)
{
    store_release(&flag, 2);
    return executor_count_section(context);
}

static void with_stopped(unsigned thread)
{
    struct request request = {0, 0};
    if (has_served(thread, 2))
        return;
    prepare_spinning(thread);
    if (thread == 0) {
        executor_call(&outer_delegate, stopped_section, &outer_sections);
    } else {
        spin_until(load_relaxed(&served));
        executor_call(&client_delegate, ending_section, &request);
    }
    leave_server(2);
}

/* Thread 3 manages the server: it takes the turn of the thread whose section is stopped
 * while a request waits. */
void served_while_stopped(unsigned thread)
{
    if (thread == 3) {
        spin_until(load_acquire(&flag));
        spin_until(rcl_replace(delegate_server(&client_delegate)));
        serve(2);
        return;
    }
    with_stopped(thread);
}

static void *begun_section(void *context)
{
    store_relaxed(&served, 1);
    return executor_count_section(context);
}

/* Thread 2 may take the turn away from thread 1 while that executes the first section,
 * and then find the second request of the same line. */
void served_while_executing(unsigned thread)
{
    struct request request = {0, 0};
    if (thread == 2) {
        spin_until(load_acquire(&flag));
        spin_until(load_relaxed(&served));
        turn_take_away(delegate_server(&client_delegate), 1 | IN_SECTION);
        serve(2);
        return;
    }
    if (has_served(thread, 1))
        return;
    prepare_spinning(thread);
    executor_call(&client_delegate, begun_section, &request);
    executor_ask();
    leave_server(1);
}

/* While the server executes the section of thread 0, thread 1 takes the turn away from
 * it, and asks for another section of the same object. */
void served_beside_section(unsigned thread)
{
    struct request request = {0, 0};
    if (has_served(thread, 2))
        return;
    prepare_spinning(thread);
    if (thread == 0) {
        executor_call(&client_delegate, begun_section, &request);
    } else {
        spin_until(load_relaxed(&served));
        turn_take_away(delegate_server(&client_delegate), 1 | IN_SECTION);
        executor_ask();
    }
    leave_server(2);
}

/* A section that waits until another one of the same object has been executed. */
static void *waiting_section(void *context)
{
    bool in_time;
    while (!outer_sections)
        delegate_wait(&client_delegate, &served, NULL, &in_time);
    return executor_count_section(context);
}

static void *signalling_section(void *context)
{
    outer_sections = 1;
    fetch_add_relaxed(&served, 1);
    unpark(&served, 1);
    return executor_count_section(context);
}

void served_condition(unsigned thread)
{
    struct request request = {0, 0};
    if (has_served(thread, 2))
        return;
    prepare_spinning(thread);
    executor_call(&client_delegate, thread == 0 ? waiting_section : signalling_section,
                  &request);
    leave_server(2);
}

/* Two threads call an object, and each server has a thread. That of the second one
 * first gets the turn of the first one, and moves the object to its own. */
void served_moved(unsigned thread)
{
    struct server *servers[] = {server_here(0), server_here(1)};
    if (thread == 0) {
        begin_operation();
        executor_make();
        expect(server_moves_offer(1), "no memory");
        servers[0]->sleeps = servers[1]->sleeps = false;
        store_release(&flag, 1);
    }
    spin_until(load_acquire(&flag));
    if (thread == 2)
        server_serve(servers[0], 1);
    if (thread == 3) {
        if (turn_await(servers[0], 2)) {
            server_moves_do(&client_delegate, servers[1]);
            turn_release(servers[0]);
        }
        server_serve(servers[1], 1);
    }
    if (thread > 1)
        return;
    executor_ask();
    if (fetch_add_acq_rel(&arrived, 1) + 1 == 2) {
        server_dismiss(servers[0]);
        server_dismiss(servers[1]);
    }
}
