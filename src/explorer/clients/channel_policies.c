/* SPDX-License-Identifier: MIT */
/* The ways in which the waiters of channels and rings wait. */
#include "explorer/clients/clients.h"

#include "structures/channel/channel.h"

static const struct lock_descriptor policies[] = {
    {.name = ""},
    {.name = "spin"},
    {.name = "park", .parks = true},
    {.name = "park-fenced", .parks = true}};
static const uint32_t flags[] = {0, 0, CHANNEL_PARKS, CHANNEL_PARKS | CHANNEL_FENCED};

const unsigned channel_policies = sizeof policies / sizeof policies[0];

int channel_policy_find(const char *name)
{
    for (unsigned i = 1; i < channel_policies; i++)
        if (strcmp(policies[i].name, name) == 0)
            return (int)i;
    return -1;
}

const struct lock_descriptor *channel_policy(unsigned policy)
{
    return &policies[policy];
}

uint32_t channel_policy_flags(unsigned policy)
{
    return flags[policy];
}
