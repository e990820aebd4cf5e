/* SPDX-License-Identifier: MIT */
/* When and where objects of rcl-moving move (algorithms/rcl_moving.h). */
#ifndef HASP_DELEGATION_SERVER_MOVES_H
#define HASP_DELEGATION_SERVER_MOVES_H

#include "delegation/server.h"

enum {
    MOVES_ROUNDS = MODEL_CHECKED ? 1 : 256, /* between two looks */
    /* A server gives objects away if both rates are higher. In the paper, a server with
     * 81 % and 91 % limits Berkeley DB, and two servers make it 1.5 times as fast; with
     * low rates there is nothing to gain. */
    SPLIT_USE_PERCENT = 30,
    SPLIT_SERIALISED_PERCENT = 30,
    /* Objects return if searches of both servers that find requests find no more than
     * 1.25 on average: hardly any client waits for another one. Use rates do not tell:
     * in the paper, both servers have less than 5 %, and one server has 81 %. */
    JOIN_FOUND_PERCENT = MODEL_CHECKED ? 0 : 125,
    /* Each server takes a CPU from its clients. */
    MOVES_CPUS_EACH = 8,
    MOVES_OBJECTS = 64, /* that may move; others stay at their first server */
};

/* Registers an object that has joined its server. */
void server_moves_add(struct delegate *delegate) __attribute__((visibility("hidden")));

/* Removes the object, and parts with its server. */
void server_moves_remove(struct delegate *delegate)
    __attribute__((visibility("hidden")));

/* Makes a server of rcl, not 0, one to which objects may move. Returns false if its
 * threads cannot be started. */
bool server_moves_offer(uint32_t number) __attribute__((visibility("hidden")));

/* Moves objects if the server's rates since the last look say so. The caller has the
 * turn, and is in no section. */
void server_moves_look(struct server *server) __attribute__((visibility("hidden")));

/* Moves an object to another server, unless it is in use or pinned. The caller has the
 * turn of its server, and is in no section. */
bool server_moves_do(struct delegate *delegate, struct server *to)
    __attribute__((visibility("hidden")));

#endif
