/* SPDX-License-Identifier: MIT */
#include "bench/machine/states.h"

/* Every script begins with a store, which removes the state of the previous sample and
 * writes the word that later steps check. A load after an eviction makes the line
 * exclusive; a second load makes it shared. Protocols without an Owned state write the
 * line back in that state's script, and share it. */
const struct state states[] = {
    {"modified", 2, 1, {{HOLDER, STORE}}, MEASURER},
    {"owned", 3, 2, {{HOLDER, STORE}, {SHARERS, LOAD}}, MEASURER},
    {"exclusive", 2, 3, {{HOLDER, STORE}, {HOLDER, EVICT}, {HOLDER, LOAD}}, MEASURER},
    {"shared",
     3,
     4,
     {{HOLDER, STORE}, {HOLDER, EVICT}, {HOLDER, LOAD}, {SHARERS, LOAD}},
     MEASURER},
    {"invalid", 2, 2, {{HOLDER, STORE}, {HOLDER, EVICT}}, MEASURER},
    /* The measuring CPU also has a copy. */
    {"mine", 1, 1, {{MEASURER, STORE}}, MEASURER},
    {"owned_mine", 2, 2, {{MEASURER, STORE}, {HOLDER, LOAD}}, MEASURER},
    {"shared_mine",
     2,
     4,
     {{MEASURER, STORE}, {MEASURER, EVICT}, {MEASURER, LOAD}, {HOLDER, LOAD}},
     MEASURER},
    /* The measuring CPU has loaded a line that the other had modified. If the protocol
     * gave it the only copy, a store is as fast as to an own line. */
    {"taken", 2, 2, {{HOLDER, STORE}, {MEASURER, LOAD}}, MEASURER},
    /* Probes: the intended holder itself executes the operation. If that is fast, it
     * has a copy, and for a store, the only one. */
    {"probe_modified", 2, 2, {{MEASURER, STORE}, {HOLDER, STORE}}, HOLDER},
    {"probe_owned", 2, 2, {{HOLDER, STORE}, {MEASURER, LOAD}}, HOLDER},
    {"probe_exclusive",
     2,
     3,
     {{HOLDER, STORE}, {HOLDER, EVICT}, {HOLDER, LOAD}},
     HOLDER},
    {"probe_shared",
     2,
     4,
     {{HOLDER, STORE}, {HOLDER, EVICT}, {HOLDER, LOAD}, {MEASURER, LOAD}},
     HOLDER},
    {"probe_invalid", 2, 2, {{HOLDER, STORE}, {HOLDER, EVICT}}, HOLDER},
    /* The CPU that took the line has a copy even after the other has read it again. */
    {"probe_taken",
     2,
     3,
     {{HOLDER, STORE}, {MEASURER, LOAD}, {HOLDER, LOAD}},
     MEASURER},
};
const unsigned state_count = sizeof states / sizeof states[0];

const char *const operation_names[OPERATIONS] = {
    [LOAD] = "load",     [STORE] = "store",      [COMPARE_EXCHANGE] = "cas",
    [FETCH_ADD] = "fai", [TEST_AND_SET] = "tas", [EXCHANGE] = "swap",
};
