/* SPDX-License-Identifier: MIT */
/* Replaces the lock list (locks/list/descriptor.h) by published forms of locks. */
#include "bench/published/adaptive.h"
#include "bench/published/array.h"
#include "bench/published/backoff.h"
#include "bench/published/clh.h"
#include "bench/published/cna.h"
#include "bench/published/cohort.h"
#include "bench/published/fc_mcs.h"
#include "bench/published/fissile.h"
#include "bench/published/flexguard.h"
#include "bench/published/hapax.h"
#include "bench/published/hclh.h"
#include "bench/published/hemlock.h"
#include "bench/published/hmcs.h"
#include "bench/published/hticket.h"
#include "bench/published/malthusian.h"
#include "bench/published/mcs.h"
#include "bench/published/mcs_timepub.h"
#include "bench/published/mutex.h"
#include "bench/published/mutexee.h"
#include "bench/published/partitioned.h"
#include "bench/published/queue.h"
#include "bench/published/reciprocating.h"
#include "bench/published/shfl.h"
#include "bench/published/study_cohort.h"
#include "bench/published/study_spin.h"
#include "bench/published/tas.h"
#include "bench/published/ticket.h"
#include "bench/published/twa.h"
#include "locks/list/descriptor.h"
#include "simulator/thread.h"

#include <stdlib.h>
#include <string.h>

/* The bodies in order of creation; a lock's `count` is 1 + the index of its body. */
static void **bodies;
static uint32_t body_count, body_room;

void *published_body(struct lock *lock, size_t bytes)
{
    if (lock->count)
        return bodies[lock->count - 1];
    if (body_count == body_room) {
        body_room = 2 * body_room + 16;
        bodies = realloc(bodies, body_room * sizeof *bodies);
    }
    void *body = map_pages(bytes);
    if (!bodies || !body)
        die("no memory for a lock");
    bodies[body_count] = body;
    lock->count = ++body_count;
    return body;
}

uint32_t published_threads(void)
{
    return thread_count > cpu_count() ? thread_count : cpu_count();
}

/* FORM(name, title, function prefix, trylock, argument): `argument` is passed to the
 * functions after the lock. */
#define WITH(argument) , argument
#define NOTHING
#define FORMS(FORM)                                                                    \
    FORM(tas, "tas", tas, HAS_TRYLOCK, NOTHING)                                        \
    FORM(spinlock, "spinlock", cas, HAS_TRYLOCK, NOTHING)                              \
    FORM(ttas, "ttas-backoff", ttas, HAS_TRYLOCK, WITH(false))                         \
    FORM(ttas_prefetch, "ttas-backoff-prefetch", ttas, HAS_TRYLOCK, WITH(true))        \
    FORM(ttas_plain, "ttas", plain_ttas, HAS_TRYLOCK, NOTHING)                         \
    FORM(ticket, "ticket", ticket, HAS_TRYLOCK, WITH(PUBLISHED_PLAIN))                 \
    FORM(ticket_backoff, "ticket-backoff", ticket, HAS_TRYLOCK,                        \
         WITH(PUBLISHED_BACK_OFF))                                                     \
    FORM(ticket_prefetch, "ticket-backoff-prefetch", ticket, HAS_TRYLOCK,              \
         WITH(PUBLISHED_BACK_OFF | PUBLISHED_PREFETCH))                                \
    FORM(array, "alock", array, NO_TRYLOCK, WITH(PUBLISHED_PLAIN))                     \
    FORM(array_prefetch, "alock-prefetch", array, NO_TRYLOCK,                          \
         WITH(PUBLISHED_PREFETCH))                                                     \
    FORM(mcs, "mcs", mcs, HAS_TRYLOCK, WITH(PUBLISHED_PLAIN))                          \
    FORM(mcs_prefetch, "mcs-prefetch", mcs, HAS_TRYLOCK,                               \
         WITH(PUBLISHED_PREFETCH))                                                     \
    FORM(clh, "clh", clh, NO_TRYLOCK, WITH(PUBLISHED_PLAIN))                           \
    FORM(clh_prefetch, "clh-prefetch", clh, NO_TRYLOCK, WITH(PUBLISHED_PREFETCH))      \
    FORM(mutex, "futex", mutex, HAS_TRYLOCK, NOTHING)                                  \
    FORM(hticket, "hticket", hticket, NO_TRYLOCK, WITH(PUBLISHED_BACK_OFF))            \
    FORM(hticket_prefetch, "hticket-prefetch", hticket, NO_TRYLOCK,                    \
         WITH(PUBLISHED_BACK_OFF | PUBLISHED_PREFETCH))                                \
    FORM(cohort_ticket, "c-tkt-tkt", hticket, HAS_TRYLOCK, WITH(PUBLISHED_PLAIN))      \
    FORM(hclh, "hclh", hclh, NO_TRYLOCK, WITH(false))                                  \
    FORM(hclh_prefetch, "hclh-prefetch", hclh, NO_TRYLOCK, WITH(true))                 \
    FORM(twa, "twa", twa, HAS_TRYLOCK, NOTHING)                                        \
    FORM(hapax, "hapax", hapax, HAS_TRYLOCK, NOTHING)                                  \
    FORM(cna, "cna", cna, NO_TRYLOCK, NOTHING)                                         \
    FORM(hemlock, "hemlock", hemlock, HAS_TRYLOCK, NOTHING)                            \
    FORM(reciprocating, "reciprocating", reciprocating, NO_TRYLOCK, NOTHING)           \
    FORM(hmcs, "hmcs", hmcs, HAS_TRYLOCK, WITH(PUBLISHED_PLAIN))                       \
    FORM(ahmcs, "ahmcs", hmcs, NO_TRYLOCK, WITH(PUBLISHED_ADAPTIVE))                   \
    FORM(c_bo_mcs, "c-bo-mcs", c_bo_mcs, HAS_TRYLOCK, NOTHING)                         \
    FORM(c_ptl_tkt, "c-ptl-tkt", c_ptl_tkt, HAS_TRYLOCK, WITH(PUBLISHED_PLAIN))        \
    FORM(fc_mcs, "fc-mcs", fc_mcs, NO_TRYLOCK, NOTHING)                                \
    FORM(shfl, "shfl", shfl, HAS_TRYLOCK, NOTHING)                                     \
    FORM(fissile, "fissile", fissile, HAS_TRYLOCK, NOTHING)                            \
    FORM(malthusian, "malthusian", malthusian, NO_TRYLOCK, WITH(PUBLISHED_PLAIN))      \
    FORM(flexguard, "flexguard", flexguard, HAS_TRYLOCK, NOTHING)

#define HAS_TRYLOCK(name, prefix, ...)                                                 \
    static bool name##_trylock(struct lock *lock)                                      \
    {                                                                                  \
        return published_##prefix##_trylock(lock __VA_ARGS__);                         \
    }
#define NO_TRYLOCK(name, prefix, ...)                                                  \
    static bool name##_trylock(struct lock *lock)                                      \
    {                                                                                  \
        (void)lock;                                                                    \
        die("the published form of this lock has no trylock");                         \
    }
#define FUNCTIONS(name, title, prefix, trylock, ...)                                   \
    static int name##_lock(struct lock *lock)                                          \
    {                                                                                  \
        published_##prefix##_lock(lock __VA_ARGS__);                                   \
        return 0;                                                                      \
    }                                                                                  \
    static int name##_unlock(struct lock *lock)                                        \
    {                                                                                  \
        published_##prefix##_unlock(lock __VA_ARGS__);                                 \
        return 0;                                                                      \
    }                                                                                  \
    trylock(name, prefix, __VA_ARGS__)
FORMS(FUNCTIONS)

/*
 * The lock study's locks as in its library, LiTL, which interposes them and also takes
 * a mutex of glibc's, for the sake of condition variables. That is so for glibc's own
 * mutexes, too, which the study measured with the same library. The mutex is on a line
 * of its own, or for CLH before the lock, on its line.
 *
 * STUDY(name, title, function prefix, trylock, which line, argument): as in FORMS; a
 * lock of which a program uses the trylock has one.
 */
#define STUDY(FORM)                                                                    \
    FORM(study_spinlock, "spinlock", study_spinlock, HAS_TRYLOCK, apart, NOTHING)      \
    FORM(study_tas, "tas", tas, HAS_TRYLOCK, apart, NOTHING)                           \
    FORM(study_ttas, "ttas", study_ttas, HAS_TRYLOCK, apart, NOTHING)                  \
    FORM(study_ttas_ls, "ttas-backoff", study_ttas_ls, HAS_TRYLOCK, apart, NOTHING)    \
    FORM(study_backoff, "backoff", backoff, HAS_TRYLOCK, apart, NOTHING)               \
    FORM(study_mutexee, "mutexee", mutexee, HAS_TRYLOCK, apart, NOTHING)               \
    FORM(study_mutex, "futex", mutex, HAS_TRYLOCK, apart, NOTHING)                     \
    FORM(study_adaptive, "adaptive", adaptive, HAS_TRYLOCK, apart, NOTHING)            \
    FORM(study_ticket, "ticket", ticket, HAS_TRYLOCK, apart, WITH(PUBLISHED_STUDY))    \
    FORM(study_ticket_ls, "ticket-backoff", ticket, HAS_TRYLOCK, apart,                \
         WITH(PUBLISHED_STUDY | PUBLISHED_BACK_OFF | PUBLISHED_PREFETCH))              \
    FORM(study_partitioned, "partitioned", partitioned, HAS_TRYLOCK, apart, NOTHING)   \
    FORM(study_alock, "alock", array, HAS_TRYLOCK, apart,                              \
         WITH(PUBLISHED_STUDY | PUBLISHED_PREFETCH))                                   \
    FORM(study_mcs, "mcs", study_mcs, HAS_TRYLOCK, apart, WITH(PUBLISHED_STUDY))       \
    FORM(study_mcs_park, "mcs-park", study_mcs, HAS_TRYLOCK, apart,                    \
         WITH(PUBLISHED_STUDY | PUBLISHED_PARKS))                                      \
    FORM(study_mcs_ls, "mcs-prefetch", mcs, HAS_TRYLOCK, apart,                        \
         WITH(PUBLISHED_PREFETCH))                                                     \
    FORM(study_clh, "clh", clh, NO_TRYLOCK, beside, WITH(PUBLISHED_STUDY))             \
    FORM(study_clh_park, "clh-park", clh, NO_TRYLOCK, beside,                          \
         WITH(PUBLISHED_STUDY | PUBLISHED_PARKS))                                      \
    FORM(study_clh_ls, "clh-prefetch", clh, NO_TRYLOCK, beside,                        \
         WITH(PUBLISHED_STUDY | PUBLISHED_PREFETCH))                                   \
    FORM(study_c_tkt_tkt, "c-tkt-tkt", hticket, HAS_TRYLOCK, apart,                    \
         WITH(PUBLISHED_STUDY))                                                        \
    FORM(study_c_ptl_tkt, "c-ptl-tkt", c_ptl_tkt, HAS_TRYLOCK, apart,                  \
         WITH(PUBLISHED_STUDY))                                                        \
    FORM(study_c_bo_mcs, "c-bo-mcs", study_c_bo_mcs, HAS_TRYLOCK, apart,               \
         WITH(PUBLISHED_STUDY))                                                        \
    FORM(study_c_bo_mcs_park, "c-bo-mcs-park", study_c_bo_mcs, HAS_TRYLOCK, apart,     \
         WITH(PUBLISHED_STUDY | PUBLISHED_PARKS))                                      \
    FORM(study_hticket, "hticket", hticket, NO_TRYLOCK, apart,                         \
         WITH(PUBLISHED_BACK_OFF | PUBLISHED_PREFETCH))                                \
    FORM(study_hmcs, "hmcs", hmcs, HAS_TRYLOCK, apart, WITH(PUBLISHED_STUDY))          \
    FORM(study_ahmcs, "ahmcs", hmcs, HAS_TRYLOCK, apart,                               \
         WITH(PUBLISHED_STUDY | PUBLISHED_ADAPTIVE))                                   \
    FORM(study_malthusian, "malthusian", malthusian, HAS_TRYLOCK, apart,               \
         WITH(PUBLISHED_STUDY))                                                        \
    FORM(study_malthusian_park, "malthusian-park", malthusian, HAS_TRYLOCK, apart,     \
         WITH(PUBLISHED_STUDY | PUBLISHED_PARKS))                                      \
    FORM(study_mcs_timepub, "mcs-timepub", mcs_tp, HAS_TRYLOCK, apart, NOTHING)

struct interposed_apart {
    struct lock lock PUBLISHED_ALONE;
    struct lock mutex PUBLISHED_ALONE;
};

struct interposed_beside {
    struct lock mutex PUBLISHED_ALONE;
    struct lock lock;
};

/* Only the holder of the lock takes the mutex, so it is free. */
static void take_free_mutex(struct lock *mutex)
{
    if (!mutex_trylock(mutex))
        die("this form of a lock does not exclude");
}

#define STUDY_FUNCTIONS(name, title, prefix, trylock, line, ...)                       \
    trylock(name, prefix, __VA_ARGS__)                                                 \
    static struct interposed_##line *name##_of(struct lock *lock)                      \
    {                                                                                  \
        return published_body(lock, sizeof(struct interposed_##line));                 \
    }                                                                                  \
    static int name##_interposed_lock(struct lock *lock)                               \
    {                                                                                  \
        published_##prefix##_lock(&name##_of(lock)->lock __VA_ARGS__);                 \
        take_free_mutex(&name##_of(lock)->mutex);                                      \
        return 0;                                                                      \
    }                                                                                  \
    static bool name##_interposed_trylock(struct lock *lock)                           \
    {                                                                                  \
        if (!name##_trylock(&name##_of(lock)->lock))                                   \
            return false;                                                              \
        take_free_mutex(&name##_of(lock)->mutex);                                      \
        return true;                                                                   \
    }                                                                                  \
    static int name##_interposed_unlock(struct lock *lock)                             \
    {                                                                                  \
        mutex_unlock(&name##_of(lock)->mutex);                                         \
        published_##prefix##_unlock(&name##_of(lock)->lock __VA_ARGS__);               \
        return 0;                                                                      \
    }
STUDY(STUDY_FUNCTIONS)

static const struct {
    const char *title;
    struct lock_operations operations;
} forms[] = {{NULL, {0}}, /* entry 0 of the lock list is glibc's mutex */
#define ENTRY(name, title)                                                             \
    {title, {.lock = name##_lock, .trylock = name##_trylock, .unlock = name##_unlock}},
#define FORM_ENTRY(name, title, ...) ENTRY(name, title)
#define STUDY_ENTRY(name, title, ...) ENTRY(name##_interposed, "litl-" title)
             FORMS(FORM_ENTRY) STUDY(STUDY_ENTRY)};

int lock_find(const char *name)
{
    for (unsigned i = 1; i < sizeof forms / sizeof *forms; i++)
        if (strcmp(forms[i].title, name) == 0)
            return (int)i;
    return -1;
}

const struct lock_operations *lock_operations_at(unsigned index)
{
    return &forms[index].operations;
}

struct lock_descriptor lock_at(unsigned index)
{
    return (struct lock_descriptor){.name = forms[index].title};
}
