/* SPDX-License-Identifier: MIT */
/* Clients of rcl whose two threads are both of the server: one executes a request while
 * the other takes the turn away from it. The requests are there from the beginning, so
 * that the exploration is small. */
#include "explorer/base/variables.h"
#include "explorer/clients/executor_calls.h"
#include "explorer/execution/services.h"

#include "delegation/algorithms/rcl.h"
#include "delegation/server_moves.h"

static struct request requests[2];

static struct server *here(void)
{
    return &server_table[SERVER_RCL * SERVERS_MOST];
}

static struct server *there(void)
{
    return &server_table[SERVER_RCL * SERVERS_MOST + 1];
}

/* Publishes a request that nobody waits for. */
static struct call *ask_at(struct server *server, struct delegate *object,
                           void *(*section)(void *), void *context)
{
    return rcl_publish(object, server, section, context, MAY_MOVE);
}

static struct call *ask(struct delegate *object, void *(*section)(void *),
                        void *context)
{
    return ask_at(here(), object, section, context);
}

/* The last of both sections ends the server. This orders nothing before it. */
static void *ending_section(void *context)
{
    void *result = executor_count_section(context);
    if (fetch_add_relaxed(&arrived, 1) + 1 == 2)
        server_dismiss(here());
    return result;
}

static void *outer_ending_section(void *context)
{
    outer_sections++;
    if (fetch_add_relaxed(&arrived, 1) + 1 == 2)
        server_dismiss(here());
    return context;
}

/* Calls the other object while another thread may have lost the turn in a section. */
static void *nesting_section(void *context)
{
    outer_sections++;
    turn_take_away(here(), 2 | IN_SECTION);
    executor_call(&client_delegate, ending_section, context);
    return context;
}

static void begin_as(uint32_t number)
{
    store_relaxed(&held_nodes()->serves, server_mark(here(), number));
}

/* Goes on as a thread of the server until that is dismissed. */
static void go_on(uint32_t number, bool keeps)
{
    if (keeps)
        rcl_hold(here(), number);
    rcl_serve(here(), number);
}

/* Executes the first request with the turn; the second one is for `other`. */
static void execute_first(struct delegate *object, void *(*section)(void *),
                          struct delegate *other, void *(*other_section)(void *))
{
    begin_operation();
    executor_make();
    here()->sleeps = false;
    struct call *line = ask(object, section, &requests[0]);
    ask(other, other_section, &requests[1]);
    begin_as(1);
    store_relaxed(&here()->turn, 1);
    store_release(&flag, 1);
    go_on(1, rcl_execute(here(), 1, line, object));
}

static void begin_second(void)
{
    spin_until(load_acquire(&flag));
    begin_operation();
}

static void second_thread(void)
{
    begin_second();
    turn_take_away(here(), 1 | IN_SECTION);
    rcl_serve(here(), 2);
}

void turn_lost(unsigned thread)
{
    if (thread == 0)
        execute_first(&client_delegate, ending_section, &client_delegate,
                      ending_section);
    else
        second_thread();
}

void turn_replaced(unsigned thread)
{
    if (thread == 0) {
        execute_first(&client_delegate, ending_section, &outer_delegate,
                      outer_ending_section);
        return;
    }
    begin_second();
    rcl_replace(here());
    rcl_serve(here(), 2);
}

void turn_nested(unsigned thread)
{
    if (thread == 0)
        execute_first(&outer_delegate, nesting_section, &client_delegate,
                      ending_section);
    else
        second_thread();
}

/* The client of the first request, whose next one is in the same line. */
static void ask_again(void)
{
    struct call *line = line_at(&here()->lines, load_relaxed(&here()->lines.count) - 1);
    spin_until(load_acquire(&line->cell) == CALL_DONE);
    line_end(line);
    ask(&client_delegate, executor_count_section, &requests[1]);
}

void turn_again(unsigned thread)
{
    bool keeps = true;
    if (thread == 0) {
        begin_operation();
        executor_make();
        struct call *line =
            ask(&client_delegate, executor_count_section, &requests[0]);
        begin_as(1);
        store_relaxed(&here()->turn, 1);
        store_release(&flag, 1);
        rcl_execute(here(), 1, line, &client_delegate);
        return;
    }
    begin_second();
    if (thread == 2) {
        ask_again();
    } else if (turn_take_away(here(), 1 | IN_SECTION)) {
        begin_as(2);
        turn_regain(here(), 2);
        rcl_round(here(), 2, false, &keeps);
    }
}

/* Thread 0 executes a request here; the other one is at the next server. */
static bool execute_before_move(void)
{
    begin_operation();
    executor_make();
    expect(server_moves_offer(1), "no memory");
    struct call *line = ask(&client_delegate, executor_count_section, &requests[0]);
    ask_at(there(), &client_delegate, executor_count_section, &requests[1]);
    begin_as(1);
    store_relaxed(&here()->turn, 1);
    store_relaxed(&there()->turn, 1);
    store_release(&flag, 1);
    return rcl_execute(here(), 1, line, &client_delegate);
}

static void execute_after_move(void)
{
    bool keeps = true;
    rcl_round(there(), 1, false, &keeps);
}

void turn_moves(unsigned thread)
{
    if (thread == 0) {
        if (execute_before_move())
            turn_release(here());
        return;
    }
    begin_second();
    turn_take_away(here(), 1 | IN_SECTION);
    turn_regain(here(), 2);
    spin_until(load_relaxed(&client_delegate.word) == OBJECT_FREE);
    expect(server_moves_do(&client_delegate, there()), "a free object does not move");
    execute_after_move();
}

void turn_moved(unsigned thread)
{
    if (thread == 0) {
        expect(execute_before_move(), "the turn is lost");
        expect(server_moves_do(&client_delegate, there()),
               "a free object does not move");
        return;
    }
    begin_second();
    spin_until(delegate_server(&client_delegate) == there());
    execute_after_move();
}
