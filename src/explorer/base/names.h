/* SPDX-License-Identifier: MIT */
/* Names of addresses and memory orders, for messages. */
#ifndef HASP_EXPLORER_BASE_NAMES_H
#define HASP_EXPLORER_BASE_NAMES_H

/* The returned names are valid until a few more have been made. */
const char *cell_name(const void *address);
const char *order_name(int order);

#endif
