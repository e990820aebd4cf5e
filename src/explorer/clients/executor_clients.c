/* SPDX-License-Identifier: MIT */
/* Clients of executors: sections of one object exclude each other, each is executed
 * exactly once and sees what those before it did, and its caller gets its result. */
#include "explorer/base/variables.h"
#include "explorer/clients/clients.h"
#include "explorer/clients/suitable.h"
#include "explorer/execution/services.h"

#include "delegation/algorithms/rcl.h"
#include "delegation/list/descriptor.h"
#include "delegation/server.h"

#include <string.h>

static unsigned executor;
static const struct lock_operations *lock_operations;
static struct delegate outer_delegate;

/* Guarded by the delegates: the compiler reports every access, and the explorer those
 * that are not ordered. */
static uint32_t outer_sections;

/* Contexts: written by the caller, read and written by whoever executes. */
struct request {
    uint32_t executed, value;
};

int executor_client_find(const char *name)
{
    const struct lock_operations *lock;
    int index = executor_find(name, &lock);
    return index ? index : -1;
}

struct lock_descriptor executor_client_uses(unsigned index)
{
    executor = index;
    lock_operations = NULL;
    return executor_list[index].about;
}

static void make(struct delegate *delegate)
{
    expect(delegate_init(delegate, executor, lock_operations), "no memory");
}

/* The first thread makes both objects. */
static void prepare(unsigned thread)
{
    if (thread == 0) {
        begin_operation();
        make(&client_delegate);
        make(&outer_delegate);
        store_release(&flag, 1);
    } else {
        spin_until(load_acquire(&flag));
    }
}

static void *call(struct delegate *delegate, void *(*section)(void *), void *context)
{
    begin_operation();
    return executor_list[executor].operations.run(delegate, section, context);
}

static void *count_section(void *context)
{
    struct request *request = context;
    expect(request != NULL, "a section has no context");
    expect(inside == 0, "two sections at once");
    inside = 1;
    request->value = ++sections;
    expect(++request->executed == 1, "a section is executed twice");
    inside = 0;
    return context;
}

static void ask(void)
{
    struct request request = {0, 0};
    void *result = call(&client_delegate, count_section, &request);
    expect(request.executed == 1, "a caller returns before its section");
    expect(result == &request, "a caller gets another result");
    expect(request.value != 0, "a caller does not see its section");
}

static void *outer_section(void *context)
{
    outer_sections++;
    ask();
    return context;
}

static void once(unsigned thread)
{
    prepare(thread);
    ask();
}

static void twice(unsigned thread)
{
    prepare(thread);
    ask();
    ask();
}

/* One thread calls the object inside a section of another one. */
static void nested(unsigned thread)
{
    prepare(thread);
    if (thread == 2)
        ask();
    else
        call(&outer_delegate, outer_section, &outer_sections);
}

/* While nobody uses the object, a thread forks; another one starts in the child. */
static void fork_while_idle(unsigned thread)
{
    if (thread < 2) {
        prepare(thread);
        ask();
        fetch_add_acq_rel(&arrived, 1);
    }
    if (thread == 1)
        return;
    if (thread == 0) {
        spin_until(load_acquire(&arrived) == 2);
        fork_here();
    }
    ask();
}

static void finish_with(uint32_t expected)
{
    expect(sections == expected, "a section is missing");
    begin_operation();
    executor_list[executor].operations.destroy(&client_delegate);
    executor_list[executor].operations.destroy(&outer_delegate);
}

/* Clients of executors with servers: some threads are those of the server. */

static bool has_servers(const struct lock_descriptor *about)
{
    return strcmp(about->category, "server") == 0;
}

static bool has_none(const struct lock_descriptor *about)
{
    return !has_servers(about);
}

static bool parks_without_server(const struct lock_descriptor *about)
{
    return parks(about) && has_none(about);
}

static bool replaces(const struct lock_descriptor *about)
{
    return has_servers(about) && parks(about);
}

static void serve(unsigned number)
{
    spin_until(load_acquire(&flag));
    begin_operation();
    server_serve(client_delegate.server, number);
}

/* The last of `count` callers that ends dismisses the server. */
static void leave_server(uint32_t count)
{
    if (fetch_add_acq_rel(&arrived, 1) + 1 == count)
        server_dismiss(client_delegate.server);
}

/* As prepare(), with a server that spins while it is idle. */
static void prepare_spinning(unsigned thread)
{
    if (thread == 0) {
        begin_operation();
        make(&client_delegate);
        make(&outer_delegate);
        client_delegate.server->sleeps = false;
        store_release(&flag, 1);
    } else {
        prepare(thread);
    }
}

static void served_once(unsigned thread)
{
    if (thread == 2) {
        serve(1);
        return;
    }
    prepare_spinning(thread);
    ask();
    leave_server(2);
}

static void served_twice(unsigned thread)
{
    if (thread == 1) {
        serve(1);
        return;
    }
    prepare(thread);
    ask();
    ask();
    leave_server(1);
}

static void served_by_two(unsigned thread)
{
    if (thread >= 2) {
        serve(thread - 1);
        return;
    }
    prepare_spinning(thread);
    ask();
    leave_server(2);
}

static void served_nested(unsigned thread)
{
    if (thread == 2) {
        serve(1);
        return;
    }
    prepare_spinning(thread);
    if (thread == 0)
        call(&outer_delegate, outer_section, &outer_sections);
    else
        ask();
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
    return count_section(context);
}

static void served_while_stopped(unsigned thread)
{
    struct request request = {0, 0};
    if (thread >= 2) {
        serve(thread - 1);
        return;
    }
    prepare_spinning(thread);
    if (thread == 0) {
        call(&outer_delegate, stopped_section, &outer_sections);
    } else {
        spin_until(load_relaxed(&served));
        call(&client_delegate, ending_section, &request);
    }
    leave_server(2);
}

/* The manager: the request must wait while the section is stopped. */
static void manage(unsigned thread)
{
    if (thread == 3) {
        spin_until(load_acquire(&flag));
        spin_until(rcl_replace(client_delegate.server));
        serve(2);
        return;
    }
    served_while_stopped(thread);
}

/* A section that waits until another one of the same object has been executed. */
static void *waiting_section(void *context)
{
    bool in_time;
    while (!outer_sections)
        delegate_wait(&client_delegate, &served, NULL, &in_time);
    return count_section(context);
}

static void *signalling_section(void *context)
{
    outer_sections = 1;
    fetch_add_relaxed(&served, 1);
    unpark(&served, 1);
    return count_section(context);
}

static void served_condition(unsigned thread)
{
    struct request request = {0, 0};
    if (thread >= 2) {
        serve(thread - 1);
        return;
    }
    prepare_spinning(thread);
    call(&client_delegate, thread == 0 ? waiting_section : signalling_section,
         &request);
    leave_server(2);
}

static void finish_two(void)
{
    finish_with(2);
}

static void finish_three(void)
{
    finish_with(3);
}

static void finish_four(void)
{
    finish_with(4);
}

static void finish_stopped(void)
{
    expect(outer_sections == 1, "a section is missing");
    finish_with(1);
}

static void finish_condition(void)
{
    expect(outer_sections == 1, "a section is missing");
    finish_with(2);
}

static void finish_served_nested(void)
{
    expect(outer_sections == 1, "a section is missing");
    finish_with(2);
}

static void finish_nested(void)
{
    expect(outer_sections == 2, "a section is missing");
    finish_with(3);
}

const struct client executor_clients[] = {
    {.name = "pair",
     .summary = "two threads, one section each",
     .threads = 2,
     .suits = has_none,
     .body = once,
     .finish = finish_two,
     .nodes = {0, 1}},
    {.name = "twice",
     .summary = "two threads, two sections each",
     .threads = 2,
     .suits = has_none,
     .body = twice,
     .finish = finish_four},
    {.name = "three",
     .summary = "three threads, one section each",
     .threads = 3,
     .suits = has_none,
     .body = once,
     .finish = finish_three,
     .alike = BIT(1) | BIT(2)},
    {.name = "four",
     .summary = "four threads, one section each: more than one combiner executes",
     .threads = 4,
     .suits = has_none,
     .body = once,
     .finish = finish_four,
     .alike = BIT(1) | BIT(2) | BIT(3)},
    {.name = "nodes",
     .summary = "three threads on two NUMA nodes, one section each",
     .threads = 3,
     .suits = has_none,
     .body = once,
     .finish = finish_three,
     .nodes = {0, 1, 1},
     .alike = BIT(1) | BIT(2)},
    {.name = "nested",
     .summary = "sections of one object call another one, which a third thread calls",
     .threads = 3,
     .suits = has_none,
     .body = nested,
     .finish = finish_nested},
    {.name = "fork",
     .summary = "a thread forks while the object is idle; another one starts",
     .threads = 3,
     .suits = has_none,
     .body = fork_while_idle,
     .finish = finish_four,
     .child = 2},
    {.name = "spurious",
     .summary = "two threads, two sections each; each may wake up spuriously once",
     .threads = 2,
     .suits = parks_without_server,
     .body = twice,
     .finish = finish_four,
     .spurious_wakeups = 1},
    {.name = "served",
     .summary = "two threads, one section each, and a thread of the server",
     .threads = 3,
     .suits = has_servers,
     .body = served_once,
     .finish = finish_two},
    {.name = "served-twice",
     .summary = "one thread, two sections, and a thread of the server, which may sleep",
     .threads = 2,
     .suits = has_servers,
     .body = served_twice,
     .finish = finish_two,
     .spurious_wakeups = 1},
    {.name = "served-nested",
     .summary = "a section calls another object of its server",
     .threads = 3,
     .suits = has_servers,
     .body = served_nested,
     .finish = finish_served_nested},
    {.name = "two-servers",
     .summary = "two threads, one section each, and two threads of the server",
     .threads = 4,
     .suits = replaces,
     .body = served_by_two,
     .finish = finish_two},
    {.name = "replaced",
     .summary = "a section waits for one of another object: another thread serves",
     .threads = 4,
     .suits = replaces,
     .body = manage,
     .finish = finish_stopped},
    {.name = "condition",
     .summary = "a section waits for a condition that another section fulfils",
     .threads = 4,
     .suits = replaces,
     .body = served_condition,
     .finish = finish_condition},
};
const unsigned executor_client_count =
    sizeof executor_clients / sizeof executor_clients[0];
