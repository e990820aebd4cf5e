/* SPDX-License-Identifier: MIT */
/*
 * RCL whose objects move between servers. J. Lozi et al., "Remote core locking", USENIX
 * ATC 2012, leave that to future work; they place each lock by hand (section 4.2).
 *
 * Idea: a server looks from time to time at its use rate and at its rate of false
 * serialisation, as it counts them anyhow (server.h). If both are high, it gives
 * objects to a server that has none, which is started for that; if a server and the one
 * that its objects came from have little to do, the objects return (server_moves.c).
 *
 *   server  of an object: the one that executes its sections now
 *   pinned  1 once a section has waited for a condition: such objects do not move
 *   moves   of a request: MAY_MOVE if its object is one of these; HAS_MOVED if the
 *           server did not execute it, because the object is another's
 *
 * M1. An object is moved by the thread that has its server's turn and is in no section,
 *     while the object is free: none of the server's threads is in a section of it. The
 *     store of `server` (release) pairs with the load before each of its sections
 *     (acquire), so these happen after all that its former server executed.
 * M2. A server executes a request of a moving object only after it has loaded `server`
 *     with the turn, and found itself. Others are answered by HAS_MOVED, and the client
 *     asks again.
 * M3. A thread that is about to hold an object for a nested section looks at `server`
 *     again each time that it gets the turn.
 */
#ifndef HASP_DELEGATION_ALGORITHMS_RCL_MOVING_H
#define HASP_DELEGATION_ALGORITHMS_RCL_MOVING_H

#include "delegation/algorithms/rcl.h"
#include "delegation/server_moves.h"

static inline bool rcl_moving_init(struct delegate *delegate)
{
    if (!rcl_init(delegate))
        return false;
    server_moves_add(delegate);
    return true;
}

static inline void *rcl_moving_run(struct delegate *delegate, void *(*section)(void *),
                                   void *context, enum waiting waiting)
{
    return rcl_call(delegate, section, context, waiting, MAY_MOVE);
}

static inline void rcl_moving_destroy(struct delegate *delegate)
{
    server_moves_remove(delegate);
}

#endif
