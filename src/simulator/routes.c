/* SPDX-License-Identifier: MIT */
/*
 * With home directories on the path (MOESI), a request travels from the requester to
 * the line's home, on to the holder, and back. Published tables are measured with the
 * home beside the requester or the holder, so one of the three legs is zero, and each
 * of the other two is half of the difference to the figure for the nearest distance.
 *
 * With MOESI_GROUPED, a request to a holder in its own place does not leave it. Homes
 * are at the memory controllers, equally far from all places of a socket, so the figure
 * for the nearest distance between two places includes the way to the home.
 */
#include "simulator/routes.h"
#include "simulator/holders.h"

#include <stdlib.h>
#include <string.h>

/* For each place and distance, the set of places at that distance. */
static uint64_t *places_at;

/* The nearest distance between two places. */
static unsigned between_neighbours;

static const uint64_t *places_so_far(unsigned place, unsigned distance)
{
    return places_at + (place * machine.distances + distance) * set_sizes.place_words;
}

void routes_start(void)
{
    size_t words = machine.places * machine.distances * set_sizes.place_words;
    places_at = calloc(words, sizeof *places_at);
    if (!places_at)
        simulated_die("out of memory for the distances between places");
    for (unsigned from = 0; from < machine.places; from++)
        for (unsigned to = 0; to < machine.places; to++)
            add_to((uint64_t *)places_so_far(from, machine.between_places[from][to]),
                   to);
    between_neighbours = (unsigned)machine.distances - 1;
    for (unsigned to = 1; to < machine.places; to++)
        if (machine.between_places[0][to] < between_neighbours)
            between_neighbours = machine.between_places[0][to];
}

static unsigned distance(unsigned from, unsigned to)
{
    return machine.between_places[from][to];
}

/* Returns the distance of a transfer via a home to which no leg is far. */
static unsigned near_home(unsigned place)
{
    return machine.protocol == MOESI_GROUPED ? between_neighbours
                                             : distance(place, place);
}

/* Returns twice the latency of a leg, beyond that of a transfer via a near home. */
static uint32_t leg(const uint32_t *row, unsigned from, unsigned to)
{
    if (from == to)
        return 0;
    uint32_t near = row[near_home(from)], cost = row[distance(from, to)];
    return cost > near ? cost - near : 0;
}

static uint32_t via_home(const uint32_t *row, unsigned requester, unsigned home,
                         unsigned holder)
{
    if (machine.protocol == MOESI_GROUPED && holder == requester)
        return row[distance(requester, requester)];
    return row[near_home(requester)] +
           (leg(row, requester, home) + leg(row, home, holder) +
            leg(row, holder, requester)) /
               2;
}

/* Returns the place nearest to `place` that holds the line. */
static unsigned nearest(struct line *line, unsigned place)
{
    uint64_t space[PLACE_WORDS_MAX];
    const uint64_t *holding = holding_places(line, space);
    for (unsigned away = 0; away < machine.distances; away++) {
        const uint64_t *there = places_so_far(place, away);
        for (unsigned i = 0; i < set_sizes.place_words; i++)
            if (holding[i] & there[i])
                return i * 64 + (unsigned)__builtin_ctzll(holding[i] & there[i]);
    }
    return place;
}

/* Returns the distance of the place furthest from `place` that holds the line. */
static unsigned furthest(struct line *line, unsigned place)
{
    uint64_t space[PLACE_WORDS_MAX];
    const uint64_t *holding = holding_places(line, space);
    const unsigned near = distance(place, place);
    for (unsigned away = (unsigned)machine.distances - 1; away > near; away--) {
        const uint64_t *there = places_so_far(place, away);
        for (unsigned i = 0; i < set_sizes.place_words; i++)
            if (holding[i] & there[i])
                return away;
    }
    return near;
}

/* Returns the latency of the longest path via the home to any holder. */
static uint32_t via_home_to_all(struct line *line, const uint32_t *row,
                                unsigned requester)
{
    uint64_t space[PLACE_WORDS_MAX];
    const uint64_t *holding = holding_places(line, space);
    uint32_t longest = 0;
    for (unsigned i = 0; i < set_sizes.place_words; i++)
        for (uint64_t left = holding[i]; left; left &= left - 1) {
            unsigned holder = i * 64 + (unsigned)__builtin_ctzll(left);
            uint32_t cycles = via_home(row, requester, line->home, holder);
            if (cycles > longest)
                longest = cycles;
        }
    return longest;
}

/* Cycles that sharers add to an invalidation; the table has the cost with one. */
static uint32_t sharers_cost(struct line *line, const struct thread *thread)
{
    unsigned others = line->sharers - line_is_held(line, thread->core);
    return others > 1
               ? (uint32_t)((others - 1) * machine.sharers.store_millicycles / 1000)
               : 0;
}

static bool only_in(struct line *line, unsigned place)
{
    uint64_t space[PLACE_WORDS_MAX];
    const uint64_t *holding = holding_places(line, space);
    for (unsigned i = 0; i < set_sizes.place_words; i++)
        if (holding[i] & ~(i == place / 64 ? UINT64_C(1) << place % 64 : 0))
            return false;
    return true;
}

/* The route of a store or an atomic to a line that several cores may hold. */
static struct route invalidation(struct line *line, const struct thread *thread,
                                 const uint32_t *row)
{
    const unsigned place = thread->place;
    struct route route = {0, !only_in(line, place)};
    switch (machine.protocol) {
    case MOESI_BROADCAST: /* every place is probed, whether or not it holds the line */
        route.cycles = row[distance(place, line->home)];
        route.remote = true;
        break;
    case MOESI_DIRECTORY:
    case MOESI_GROUPED:
        route.cycles = via_home_to_all(line, row, place);
        break;
    default:
        route.cycles = row[furthest(line, place)];
    }
    route.cycles += sharers_cost(line, thread);
    return route;
}

static struct route owner_route(struct line *line, const struct thread *thread,
                                enum machine_operation operation)
{
    const uint32_t *row = machine.latency[operation][line->state];
    const unsigned place = thread->place;
    if (line->state == MACHINE_INVALID)
        return (struct route){row[distance(place, line->home)], place != line->home};
    const bool shared = line->state == MACHINE_SHARED || line->state == MACHINE_OWNED;
    if (shared && operation != MACHINE_LOAD)
        return invalidation(line, thread, row);
    const bool any = line->state == MACHINE_SHARED ||
                     (shared && machine.protocol == MOESI_GROUPED);
    unsigned holder = any ? nearest(line, place) : place_of(line->owner);
    uint32_t cycles = machine.protocol == MESIF_INCLUSIVE
                          ? row[distance(place, holder)]
                          : via_home(row, place, line->home, holder);
    return (struct route){cycles, holder != place};
}

/* All requests go to the home. On cores with several threads, the nearest distance in
 * the table is that to a thread of the same core. */
static struct route home_route(struct line *line, const struct thread *thread,
                               enum machine_operation operation)
{
    const uint32_t *row = machine.latency[operation][line->state];
    unsigned away = distance(thread->place, line->home);
    if (machine.threads_per_core > 1 && line->state != MACHINE_INVALID &&
        (line_is_held(line, thread->core) ||
         line->writer / machine.threads_per_core == thread->core))
        away = 0;
    uint32_t cycles = row[away];
    if (operation != MACHINE_LOAD && line->state == MACHINE_SHARED)
        cycles += sharers_cost(line, thread);
    return (struct route){cycles, thread->place != line->home};
}

struct route route_of(struct line *line, const struct thread *thread,
                      enum machine_operation operation)
{
    return machine.protocol == HOME_EXECUTED ? home_route(line, thread, operation)
                                             : owner_route(line, thread, operation);
}
