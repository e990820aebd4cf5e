/* SPDX-License-Identifier: MIT */
/*
 * The back ends that implement platform/htm.h natively:
 *
 *   rtm     the processor's transactions
 *   never   none: transactions are not offered, and elided locks are only locks
 *   script  the outcomes that a file lists, one for each begin; emulated
 *   seed    outcomes in a pseudorandom order; emulated
 *   undo    rolled back by software, one at a time
 */
#ifndef HASP_ELISION_BACKEND_H
#define HASP_ELISION_BACKEND_H

#include "platform/htm.h"

struct elision_backend {
    const char *name;
    bool offered, emulated;
    uint32_t (*begin)(void);
    void (*commit)(void);
    void (*abort)(uint8_t code);
};

extern const struct elision_backend elision_rtm, elision_never, elision_script,
    elision_undo;

enum { ELISION_PROBES = 1000 };

/* Whether the processor's transactions can be used and, if not, the reason. */
enum elision_hardware {
    ELISION_NO_RTM,       /* not listed by CPUID, or not an x86-64 processor */
    ELISION_RTM_DISABLED, /* CPUID: every transaction aborts */
    ELISION_RTM_FAILS,    /* listed, but none of ELISION_PROBES empty ones commits */
    ELISION_RTM_WORKS,
};

struct elision_probe {
    enum elision_hardware hardware;
    uint32_t commits;    /* of ELISION_PROBES transactions */
    uint32_t last_abort; /* its status */
};

/* Begins and commits ELISION_PROBES empty transactions, if the processor lists RTM. */
struct elision_probe elision_probe(void);

/* Returns a sentence for messages. */
const char *elision_hardware_text(enum elision_hardware hardware);

/* Chooses the back end: "auto" or NULL, "rtm", "never", "script:FILE", "seed:NUMBER",
 * "undo" or "undo:SEED". Called while there is one thread. Returns NULL, or what is
 * wrong with the text, in static memory. */
const char *elision_choose(const char *text);

/* The back end in use. */
const struct elision_backend *elision_backend(void);

/* Reads "NAME=VALUE,..." into elision_settings: tries, skip, trylock (abort or nest),
 * scope (fine or global), watchdog (ms), wait, sites, guard (0 or 1). Returns the same
 * as elision_choose(). */
const char *elision_set(const char *text);

/* Prepare elision_script, and return the same as elision_choose(). */
const char *elision_script_read(const char *path);
const char *elision_script_seed(const char *number);

/* Prepares elision_undo. Without a seed (NULL), no transaction aborts without a
 * reason. */
const char *elision_undo_prepare(const char *seed);

#endif
