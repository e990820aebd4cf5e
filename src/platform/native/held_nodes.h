/* SPDX-License-Identifier: MIT */
/* The calling thread's cache of queue nodes through which it holds locks. */
#ifndef HASP_PLATFORM_NATIVE_HELD_NODES_H
#define HASP_PLATFORM_NATIVE_HELD_NODES_H

/* Initial-exec, as thread_id_cached: together they stay below the 64 bytes of static
 * TLS that Hasp allows itself. */
extern __thread struct held_nodes held_nodes_cached
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

_Static_assert(sizeof(struct held_nodes) + sizeof(uint32_t) <= 64,
               "static TLS is scarce");

static inline struct held_nodes *held_nodes(void)
{
    return &held_nodes_cached;
}

#endif
