/* SPDX-License-Identifier: MIT */
/* Clients of shared barriers: nobody leaves a phase before all have arrived; a wait
 * ends when they have, when a member closes or dies, and at its deadline. */
#include "explorer/clients/clients.h"

#include "explorer/base/variables.h"
#include "explorer/clients/suitable.h"
#include "explorer/execution/services.h"

#include "structures/channel/shared_barrier.h"

enum { PAIR = 2, THREE = 3, PHASES = 3 };

/* One barrier for each number of members. */
static struct {
    struct shared_barrier barrier;
    struct member_place places[THREE];
} barriers[THREE + 1];

/* Written by one thread before it arrives, and read by all that have left. */
static uint32_t written[PHASES][THREE];

struct lock_descriptor shared_barrier_client_uses(unsigned policy)
{
    struct lock_descriptor about = *channel_policy(policy);
    for (uint32_t members = 1; members <= THREE; members++)
        shared_barrier_init(&barriers[members].barrier, members,
                            about.parks ? SHARED_BARRIER_PARKS : 0);
    return about;
}

static void open_member(struct member *member, unsigned members)
{
    begin_operation();
    expect(member_open(member, &barriers[members].barrier) == 0,
           "a member is refused");
}

static int wait(struct member *member, const struct deadline *deadline)
{
    begin_operation();
    return member_wait(member, deadline);
}

static void wrote(unsigned phase, unsigned members)
{
    for (unsigned other = 0; other < members; other++)
        expect(written[phase][other], "a member leaves before another has arrived");
}

static void phases(unsigned thread, unsigned members, unsigned count)
{
    struct member member;
    open_member(&member, members);
    for (unsigned phase = 0; phase < count; phase++) {
        written[phase][thread] = 1;
        expect(wait(&member, NULL) == 0, "a wait fails");
        wrote(phase, members);
    }
}

static void pair(unsigned thread)
{
    phases(thread, PAIR, PHASES);
}

static void three(unsigned thread)
{
    phases(thread, THREE, 2);
}

/* One member leaves after a phase, and the others wait for the next one. */
static void closes(unsigned thread, unsigned members)
{
    struct member member;
    open_member(&member, members);
    written[0][thread] = 1;
    expect(wait(&member, NULL) == 0, "a wait fails");
    wrote(0, members);
    if (thread == 0) {
        begin_operation();
        member_close(&member);
    } else {
        expect(wait(&member, NULL) == EPIPE, "a closed member is not reported");
    }
}

static void one_closes(unsigned thread)
{
    closes(thread, PAIR);
}

static void one_of_three_closes(unsigned thread)
{
    closes(thread, THREE);
}

/* The member has arrived in the phase when it closes: that phase is still complete. */
static void closes_late(unsigned thread)
{
    struct member member;
    open_member(&member, THREE);
    int result = wait(&member, thread == 0 ? new_deadline() : NULL);
    expect(result == 0 || (thread == 0 && result == ETIMEDOUT), "a wait fails");
    if (thread == 0) {
        begin_operation();
        member_close(&member);
    }
}

static void one_dies(unsigned thread)
{
    struct member member;
    open_member(&member, PAIR);
    expect(wait(&member, NULL) == 0, "a wait fails");
    if (thread == 0)
        thread_dies();
    else
        expect(wait(&member, NULL) == EOWNERDEAD, "a dead member is not reported");
}

/* Both may time out, and then go on with the same phase. */
static void with_deadlines(unsigned thread)
{
    struct member member;
    open_member(&member, PAIR);
    for (unsigned phase = 0; phase < 2; phase++) {
        written[phase][thread] = 1;
        int result = wait(&member, new_deadline());
        if (result == ETIMEDOUT)
            result = wait(&member, NULL);
        expect(result == 0, "a wait fails");
        wrote(phase, PAIR);
    }
}

static void finish_nothing(void)
{
}

const struct client shared_barrier_clients[] = {
    {.name = "pair",
     .summary = "two members, three phases",
     .threads = 2,
     .body = pair,
     .finish = finish_nothing},
    {.name = "three",
     .summary = "three members, two phases",
     .threads = 3,
     .body = three,
     .finish = finish_nothing},
    {.name = "closes",
     .summary = "one of two members closes after a phase",
     .threads = 2,
     .body = one_closes,
     .finish = finish_nothing},
    {.name = "one-of-three-closes",
     .summary = "one of three members closes after a phase",
     .threads = 3,
     .body = one_of_three_closes,
     .finish = finish_nothing},
    {.name = "closes-late",
     .summary = "one of three members closes in a phase in which it has arrived",
     .threads = 3,
     .body = closes_late,
     .finish = finish_nothing},
    {.name = "dies",
     .summary = "one of two members ends without closing",
     .threads = 2,
     .body = one_dies,
     .finish = finish_nothing,
     .dies = true},
    {.name = "deadlines",
     .summary = "both members may time out, and then go on",
     .threads = 2,
     .body = with_deadlines,
     .finish = finish_nothing},
    {.name = "spurious",
     .summary = "the pair; each thread may wake up spuriously once",
     .threads = 2,
     .suits = parks,
     .body = pair,
     .finish = finish_nothing,
     .spurious_wakeups = 1},
};
const unsigned shared_barrier_client_count =
    sizeof shared_barrier_clients / sizeof shared_barrier_clients[0];
