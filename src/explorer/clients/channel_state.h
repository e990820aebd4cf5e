/* SPDX-License-Identifier: MIT */
/* The channels under check, and what threads do with them. */
#ifndef HASP_EXPLORER_CLIENTS_CHANNEL_STATE_H
#define HASP_EXPLORER_CLIENTS_CHANNEL_STATE_H

#include "structures/channel/receivers.h"

/* The channels of a set, and two more. All have two lines except LONG, which therefore
 * announces every second message that is taken; so does IN_TWOS. */
enum { SETS = 2, LONG = SETS, IN_TWOS, CHANNELS, LONG_SLOTS = 8 };

extern struct atomic_u32 common_bell;

struct channel *channel_of(unsigned index);

void open_sender(struct sender *sender, unsigned index);
void open_receiver(struct receiver *receiver, unsigned index, struct atomic_u32 *bell);
void close_sender(struct sender *sender);

/* As sender_send() and receiver_receive(). */
int send_value(struct sender *sender, uint32_t value, const struct deadline *deadline);
int receive_value(struct receiver *receiver, uint32_t *value,
                  const struct deadline *deadline);

/* Takes the message out of the line. */
uint32_t take_value(struct receiver *receiver, struct message_line *line);

#endif
