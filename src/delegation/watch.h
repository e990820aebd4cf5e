/* SPDX-License-Identifier: MIT */
/* Reports sections of delegates to a recorder in front of the program. */
#ifndef HASP_DELEGATION_WATCH_H
#define HASP_DELEGATION_WATCH_H

#include <stdint.h>

/* A section that has ended, with what its object and server have counted so far. */
struct delegation_report {
    uint64_t asked, began, ended; /* ticks */
    uint64_t bytes;               /* of its context; 0: not known */
    uint64_t stands_for;          /* so many sections, this one included */
    uint64_t sections, holds, longest; /* struct delegate_counts */
    const char *server_executor; /* NULL: no server; the rest is not set then */
    uint32_t server_place;       /* in server_table */
    uint32_t server_number;      /* among those of the executor */
    uint64_t server_sections, rounds, lines, serialised, replaced; /* server_counts */
};

struct delegation_watcher {
    /* An object is ready. Returns its number for the others; 0: it is not recorded. */
    uint32_t (*created)(const void *object, const char *executor, void *caller);
    /* The calling thread still has the object. Returns how many sections the next
     * report of one shall stand for, at a mean. */
    uint32_t (*executed)(uint32_t number, const struct delegation_report *report);
    /* `report` has no section; the counts are final. */
    void (*destroyed)(uint32_t number, const struct delegation_report *report);
};

/* The function of the recorder, if there is one, that returns its watcher. The number
 * is that of this interface. */
#define DELEGATION_WATCHER "hasp_delegation_watcher_2"

#endif
