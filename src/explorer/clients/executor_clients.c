/* SPDX-License-Identifier: MIT */
/* Clients of executors: sections of one object exclude each other, each is executed
 * exactly once and sees what those before it did, and its caller gets its result. */
#include "explorer/base/variables.h"
#include "explorer/clients/clients.h"
#include "explorer/clients/executor_calls.h"
#include "explorer/clients/suitable.h"
#include "explorer/execution/services.h"

#include "delegation/list/descriptor.h"

static unsigned executor;
static const struct lock_operations *lock_operations;
struct delegate outer_delegate;

uint32_t outer_sections;

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

void executor_make(void)
{
    make(&client_delegate);
    make(&outer_delegate);
}

void executor_prepare(unsigned thread)
{
    if (thread == 0) {
        begin_operation();
        executor_make();
        store_release(&flag, 1);
    } else {
        spin_until(load_acquire(&flag));
    }
}

void *executor_call(struct delegate *delegate, void *(*section)(void *), void *context)
{
    begin_operation();
    return executor_list[executor].operations.run(delegate, section, context);
}

void *executor_count_section(void *context)
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

void executor_ask(void)
{
    struct request request = {0, 0};
    void *result = executor_call(&client_delegate, executor_count_section, &request);
    expect(request.executed == 1, "a caller returns before its section");
    expect(result == &request, "a caller gets another result");
    expect(request.value != 0, "a caller does not see its section");
}

void *executor_outer_section(void *context)
{
    outer_sections++;
    executor_ask();
    return context;
}

static void once(unsigned thread)
{
    executor_prepare(thread);
    executor_ask();
    call_end_thread();
}

static void twice(unsigned thread)
{
    executor_prepare(thread);
    executor_ask();
    executor_ask();
    call_end_thread();
}

/* One thread calls the object inside a section of another one. */
static void nested(unsigned thread)
{
    executor_prepare(thread);
    if (thread == 2)
        executor_ask();
    else
        executor_call(&outer_delegate, executor_outer_section, &outer_sections);
    call_end_thread();
}

/* While nobody uses the object, a thread forks; another one starts in the child. */
static void fork_while_idle(unsigned thread)
{
    if (thread < 2) {
        executor_prepare(thread);
        executor_ask();
        fetch_add_acq_rel(&arrived, 1);
    }
    if (thread == 1)
        return;
    if (thread == 0) {
        spin_until(load_acquire(&arrived) == 2);
        fork_here();
    }
    executor_ask();
}

static void finish_with(uint32_t expected)
{
    expect(sections == expected, "a section is missing");
    begin_operation();
    executor_list[executor].operations.destroy(&client_delegate);
    executor_list[executor].operations.destroy(&outer_delegate);
}

static bool has_no_server(const struct lock_descriptor *about)
{
    return !executor_has_servers(about);
}

static bool parks_without_server(const struct lock_descriptor *about)
{
    return parks(about) && has_no_server(about);
}

/* The second section may be left. */
static void finish_first(void)
{
    finish_with(sections == 1 ? 1 : 2);
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

static void finish_one_of_each(void)
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
     .suits = has_no_server,
     .body = once,
     .finish = finish_two,
     .nodes = {0, 1}},
    {.name = "twice",
     .summary = "two threads, two sections each",
     .threads = 2,
     .suits = has_no_server,
     .body = twice,
     .finish = finish_four},
    {.name = "three",
     .summary = "three threads, one section each",
     .threads = 3,
     .suits = has_no_server,
     .body = once,
     .finish = finish_three,
     .alike = BIT(1) | BIT(2)},
    {.name = "four",
     .summary = "four threads, one section each: more than one combiner executes",
     .threads = 4,
     .suits = has_no_server,
     .body = once,
     .finish = finish_four,
     .alike = BIT(1) | BIT(2) | BIT(3)},
    {.name = "nodes",
     .summary = "three threads on two NUMA nodes, one section each",
     .threads = 3,
     .suits = has_no_server,
     .body = once,
     .finish = finish_three,
     .nodes = {0, 1, 1},
     .alike = BIT(1) | BIT(2)},
    {.name = "nested",
     .summary = "sections of one object call another one, which a third thread calls",
     .threads = 3,
     .suits = has_no_server,
     .body = nested,
     .finish = finish_nested},
    {.name = "fork",
     .summary = "a thread forks while the object is idle; another one starts",
     .threads = 3,
     .suits = has_no_server,
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
     .suits = executor_has_servers,
     .body = served_once,
     .finish = finish_two},
    {.name = "served-twice",
     .summary = "one thread, two sections, and a thread of the server, which may sleep",
     .threads = 2,
     .suits = executor_has_servers,
     .body = served_twice,
     .finish = finish_two,
     .spurious_wakeups = 1},
    {.name = "served-nested",
     .summary = "a section calls another object of its server",
     .threads = 3,
     .suits = executor_has_servers,
     .body = served_nested,
     .finish = finish_one_of_each},
    {.name = "two-servers",
     .summary = "two threads, one section each, and two threads of the server",
     .threads = 4,
     .suits = replaces_threads,
     .body = served_once,
     .finish = finish_two},
    {.name = "taken-over",
     .summary = "another thread takes the turn during a section; two sections",
     .threads = 3,
     .suits = replaces_threads,
     .body = served_while_executing,
     .finish = finish_two},
    {.name = "beside-section",
     .summary = "the turn is taken during a section, and another of its object follows",
     .threads = 4,
     .suits = replaces_threads,
     .body = served_beside_section,
     .finish = finish_two},
    {.name = "replaced",
     .summary = "a section waits for one of another object: another thread serves",
     .threads = 4,
     .suits = replaces_threads,
     .body = served_while_stopped,
     .finish = finish_stopped},
    {.name = "condition",
     .summary = "a section waits for a condition that another section fulfils",
     .threads = 4,
     .suits = replaces_threads,
     .body = served_condition,
     .finish = finish_one_of_each},
    {.name = "turn-lost",
     .summary = "a thread of the server loses the turn; two sections of one object",
     .threads = 2,
     .suits = replaces_threads,
     .body = turn_lost,
     .finish = finish_two},
    {.name = "turn-replaced",
     .summary = "a thread of the server is replaced; a section of each object",
     .threads = 2,
     .suits = replaces_threads,
     .body = turn_replaced,
     .finish = finish_stopped},
    {.name = "turn-nested",
     .summary = "a section calls the object whose section lost the turn",
     .threads = 2,
     .suits = replaces_threads,
     .body = turn_nested,
     .finish = finish_one_of_each},
    {.name = "turn-again",
     .summary = "the turn is lost in a section, and its client has another request",
     .threads = 3,
     .suits = replaces_threads,
     .body = turn_again,
     .finish = finish_first},
    {.name = "turn-moves",
     .summary = "a thread loses the turn to another one, which moves the object",
     .threads = 2,
     .suits = moves_objects,
     .body = turn_moves,
     .finish = finish_two},
    {.name = "turn-moved",
     .summary = "an object moves between its sections at both servers",
     .threads = 2,
     .suits = moves_objects,
     .body = turn_moved,
     .finish = finish_two},
    {.name = "moved",
     .summary = "an object moves to another server while two threads call it",
     .threads = 4,
     .suits = moves_objects,
     .body = served_moved,
     .finish = finish_two},
};
const unsigned executor_client_count =
    sizeof executor_clients / sizeof executor_clients[0];
