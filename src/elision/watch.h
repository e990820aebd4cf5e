/* SPDX-License-Identifier: MIT */
/* Reports the outcome of elided sections to a recorder in front of the locks, whose
 * functions are called outside transactions only. */
#ifndef HASP_ELISION_WATCH_H
#define HASP_ELISION_WATCH_H

#include "elision/counts.h"
#include "locks/lock.h"

enum elision_side { ELISION_MUTEX, ELISION_READERS, ELISION_WRITERS };

/* A commit, or an acquisition and the attempts before it; in emulation, also an
 * abort. The locks may be destroyed already: only their addresses are known. */
struct elision_outcome {
    const struct lock *lock; /* the outermost one; of a rwlock, its address */
    enum elision_side side;
    bool committed;
    bool emulated;                   /* aborted; the section kept its locks */
    unsigned inner_count;
    const struct lock *const *inner; /* ended with it; at most ELISION_LEVELS */
    const uint8_t *inner_sides;      /* enum elision_side */
    const struct elision_counts *counts;
};

struct elision_watcher {
    /* The thread is about to acquire a lock that it does not elide. */
    void (*acquires)(const struct lock *lock, bool busy);
    void (*ended)(const struct elision_outcome *outcome);
};

/* The functions that the recorder may call. */
struct elision_watched {
    unsigned (*open)(void);                         /* locks that the caller elides */
    bool (*elides)(const struct lock *lock);        /* whether it is one of them */
    bool (*covers)(const struct lock *lock);        /* whether it may be elided */
    bool (*covers_rwlock)(const struct lock *lock); /* the same for a rwlock */
    const char *(*back_end)(void);                  /* its name */
    bool (*is_emulated)(void);
};

/* Set before there is a second thread. NULL: nobody watches. */
extern const struct elision_watcher *elision_watcher
    __attribute__((visibility("hidden")));

#endif
