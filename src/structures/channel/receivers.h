/* SPDX-License-Identifier: MIT */
/*
 * Receiving from any of several channels, or from a subset of them, in turn: the search
 * begins after the channel that the last message came from, so none is starved.
 *
 * All receivers of a set that may sleep must have been opened with the same bell.
 */
#ifndef HASP_STRUCTURES_CHANNEL_RECEIVERS_H
#define HASP_STRUCTURES_CHANNEL_RECEIVERS_H

#include "structures/channel/channel.h"

/* Public headers declare such a pointer with the type of their wrapper. */
typedef struct receiver *receiver_pointer __attribute__((may_alias));

struct receivers {
    receiver_pointer const *all; /* NULL: removed */
    uint32_t count, next;
};

#define NO_RECEIVER UINT32_MAX

/* `subset`: NULL for all, or a bit for each channel. */
static inline bool in_subset(const uint64_t *subset, uint32_t index)
{
    return !subset || (subset[index / 64] >> index % 64 & 1);
}

/* Returns the index of a channel that has a message, or NO_RECEIVER. */
static inline uint32_t receivers_ready(const struct receivers *set,
                                       const uint64_t *subset)
{
    uint32_t index = set->next;
    for (uint32_t left = set->count; left; left--) {
        if (index >= set->count)
            index = 0;
        if (set->all[index] && in_subset(subset, index) &&
            receiver_peek(set->all[index]))
            return index;
        index++;
    }
    return NO_RECEIVER;
}

/* Waits for a message from any channel of the subset. Stores the index of the channel
 * that has one (0), or that has ended (EPIPE, EOWNERDEAD). Returns EINVAL if the subset
 * is empty, or as receiver_wait(). */
int receivers_wait(struct receivers *set, const uint64_t *subset, uint32_t *from,
                   const struct deadline *deadline);

static inline int receivers_receive(struct receivers *set, const uint64_t *subset,
                                    uint32_t *from, void *data, size_t room,
                                    size_t *length, const struct deadline *deadline)
{
    uint32_t index = receivers_ready(set, subset);
    if (unlikely(index == NO_RECEIVER)) {
        int result = receivers_wait(set, subset, &index, deadline);
        if (result) {
            *from = index;
            return result;
        }
    }
    *from = index;
    set->next = index + 1;
    struct receiver *receiver = set->all[index];
    return receiver_take(receiver, receiver_peek(receiver), data, room, length);
}

#endif
