/* SPDX-License-Identifier: MIT */
/* What the clients of executors share: the objects, their sections, and the threads of
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

/* Whether the executor has servers, which some of the client's threads become. */
bool has_servers(const struct lock_descriptor *about);
bool replaces_threads(const struct lock_descriptor *about);

void served_once(unsigned thread);
void served_twice(unsigned thread);
void served_by_two(unsigned thread);
void served_nested(unsigned thread);
void served_while_stopped(unsigned thread);
void served_condition(unsigned thread);

#endif
