/* SPDX-License-Identifier: MIT */
/* The list of clients. */
#ifndef HASP_EXPLORER_CLIENTS_CLIENTS_H
#define HASP_EXPLORER_CLIENTS_CLIENTS_H

#include "explorer/base/client.h"

extern const struct client clients[];
extern const unsigned client_count;

#endif
