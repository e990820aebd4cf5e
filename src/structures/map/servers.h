/* SPDX-License-Identifier: MIT */
/*
 * Servers: threads that carry out the operations on a map in place of the threads that
 * call them, as in the hash table of David, Guerraoui, Trigonakis, SOSP 2013, section
 * 6.3. Each server has an equal part of all hashes. Requests and answers are those of
 * ffwd (delegation/algorithms/ffwd.h): a line of messages each way.
 *
 * The servers are ordinary writers of the map, which lock the bits of its buckets. The
 * lines of these buckets stay in the server's cache, so the bit costs next to nothing,
 * and a server can move buckets of another server into a new table.
 */
#ifndef HASP_STRUCTURES_MAP_SERVERS_H
#define HASP_STRUCTURES_MAP_SERVERS_H

#include "delegation/server.h"
#include "structures/map/write.h"

struct map_servers {
    uint32_t count;
    bool serve_reads;
    struct delegate all[SERVERS_MOST];
};

/* Starts `count` servers, at most SERVERS_MOST, with which other maps and delegates may
 * share the threads. Returns NULL if memory or threads are exhausted. */
struct map_servers *servers_start(uint32_t count);

/* Stops them. No thread may be using the map. NULL is allowed. */
void servers_stop(struct map_servers *servers);

enum served_call {
    SERVED_GET,
    SERVED_PUT,
    SERVED_INSERT,
    SERVED_REMOVE,
    SERVED_UPDATE
};

/* An operation for a server. */
struct request {
    enum served_call call;
    struct map_span key, value;
    struct map_key sought; /* the key with its hash, which servers_ask() fills in */
    void *buffer; /* of a get, with room for *length bytes */
    size_t *length;
    map_decide *decide; /* of an update */
    void *argument;
    struct map *map;
    int result;
};

/* Lets the server of its key perform the operation. Returns an enum map_result. */
int servers_ask(struct map_servers *servers, struct map *map, struct request *request);

#endif
