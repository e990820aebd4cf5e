/* SPDX-License-Identifier: MIT */
/* What is checked of a lock: small programs of a few threads. */
#ifndef HASP_EXPLORER_CLIENTS_H
#define HASP_EXPLORER_CLIENTS_H

#include "locks/list/descriptor.h"

struct client {
    const char *name;
    const char *summary;
    unsigned threads;
    bool (*suits)(const struct lock_descriptor *); /* NULL: every lock */
    void (*body)(unsigned thread);
    void (*finish)(void); /* after all threads have ended, seeing all they did */
    uint8_t nodes[4];     /* NUMA node of each thread */
    uint8_t naps;         /* spurious wake-ups that each thread may have */
    uint8_t child;        /* if not 0: forks; the first thread that begins after it */
    bool every_step; /* is one of its own: where somebody looks on from outside */
    /* One bit each: threads that may be told apart by their ids alone. They begin in
     * this order, where the lock makes no difference between ids. */
    uint8_t alike;
};

extern const struct client clients[];
extern const unsigned client_count;

/* The lock under check. */
extern struct lock client_lock;
extern const struct lock_operations *client_operations;

/* --- for clients --- */
void expect(bool condition, const char *text);
unsigned choose(unsigned alternatives);
void move_to_node(unsigned node);
/* The other threads are gone, wherever they were; their waiters stay in the queues. */
void fork_here(void);
/* If these (one bit each) waited at watch_waiters(), and have not gone on since. */
bool fork_here_if_unmoved(unsigned threads);
void watch_waiters(void);
/* The lock's memory is somebody else's from now on: nobody may touch it. */
void lock_is_gone(void);
/* An operation begins: what was read before it is no reason for it to wait. */
void begin_operation(void);
/* A new deadline, which may strike at any time from now on. */
const struct deadline *new_deadline(void);
unsigned slots_taken(void);

#endif
