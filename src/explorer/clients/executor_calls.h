/* SPDX-License-Identifier: MIT */
/* The objects and sections that the clients of executors share, and the threads of
 * clients with servers (server_clients.c). */
#ifndef HASP_EXPLORER_CLIENTS_EXECUTOR_CALLS_H
#define HASP_EXPLORER_CLIENTS_EXECUTOR_CALLS_H

#include "delegation/list/descriptor.h"

extern struct delegate outer_delegate;

/* Guarded by the delegates: the compiler reports every access, and the explorer those
 * that are not ordered. */
extern uint32_t outer_sections;

/* Contexts: written by the caller, read and written by whoever executes. */
struct request {
    uint32_t executed, value;
};

/* The first thread makes both objects, and the others wait for that. */
void executor_prepare(unsigned thread);
void executor_make(void);

void *executor_call(struct delegate *delegate, void *(*section)(void *), void *context);
void executor_ask(void); /* one section of client_delegate */
void *executor_count_section(void *context);
void *executor_outer_section(void *context); /* calls the other object */

/* Returns whether another thread of a server can go on in place of one that is
 * stopped. */
bool replaces_threads(const struct lock_descriptor *about);

void served_once(unsigned thread);
void served_twice(unsigned thread);
void served_nested(unsigned thread);
void served_while_executing(unsigned thread);
void served_beside_section(unsigned thread);
void served_while_stopped(unsigned thread);
void served_condition(unsigned thread);
void served_moved(unsigned thread);
void turn_lost(unsigned thread);
void turn_replaced(unsigned thread);
void turn_nested(unsigned thread);
void turn_again(unsigned thread);
void turn_moves(unsigned thread);
void turn_moved(unsigned thread);
bool moves_objects(const struct lock_descriptor *about);

#endif
