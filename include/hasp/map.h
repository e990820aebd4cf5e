/* SPDX-License-Identifier: MIT */
/**
 * @file
 * A hash table that many threads use at once.
 *
 * Keys and values are any bytes, zeroes included, and may be empty. A put replaces the
 * value of a key that is present. The table grows and shrinks while it is used, a few
 * buckets at a time.
 *
 * READERS (hasp_map_get, hasp_map_read, hasp_map_iterate) take no lock, never wait for
 * a writer, and write no memory that other threads read. Writers of the same bucket
 * exclude each other, by a bit in the bucket or by any lock of `hasp list`, chosen when
 * the map is created. With `servers` in its options, server threads carry out all
 * changes, and the other threads send them messages.
 *
 * ORDER. get, read, put, insert, remove and update are linearizable: each takes effect
 * at one moment between its call and its return. What a thread did before it stored a
 * value happens before everything that a thread does after it has found that value.
 *
 * MEMORY. What a removed or replaced entry occupied is given back once no reader can
 * hold it: after some hundred more changes by the same thread, or in hasp_map_settle().
 * A thread that stays inside a function called by hasp_map_read() or
 * hasp_map_iterate(), or that waits for a lock inside a writing operation, delays that
 * for all maps.
 *
 * THREADS need no registration. What a thread keeps for the maps of the process is used
 * again after it has ended. SIGNAL HANDLERS may call hasp_map_get() and hasp_map_read()
 * if the thread that they interrupt has used a map before; they must not write to a
 * map. In the child of a FORK a map can be read, and also written if no other thread
 * was writing to it when the process forked. Do not cancel a thread asynchronously, or
 * longjmp() out of a function that a map calls.
 *
 * ERRORS are negative results; a failed operation has changed nothing.
 */
#ifndef HASP_MAP_H
#define HASP_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/linkage.h"
#include "structures/map/words_anyhow.h"

C_LINKAGE_BEGIN

struct hasp_map;

enum hasp_map_result {
    HASP_MAP_OK = 0,       /**< done; the key was present */
    HASP_MAP_ABSENT = 1,   /**< the key is absent */
    HASP_MAP_CREATED = 2,  /**< done; the key was absent, and is present now */
    HASP_MAP_BAD_KEY = -1, /**< the key is too long, or not as long as the map's keys */
    HASP_MAP_BAD_VALUE = -2,    /**< the same for the value */
    HASP_MAP_NO_MEMORY = -3,    /**< the system has no memory left */
    HASP_MAP_OVER_BUDGET = -4,  /**< the map has used up its budget */
    HASP_MAP_SMALL_BUFFER = -5, /**< the value is longer than the caller's buffer */
    HASP_MAP_BAD_OPTIONS =
        -6, /**< the options contradict each other or are too large */
    HASP_MAP_UNKNOWN_LOCK = -7 /**< there is no lock of this name */
};

enum {
    HASP_MAP_KEY_MOST = 65535,          /**< bytes of a key */
    HASP_MAP_BUCKETS_MOST = 1073741824, /**< buckets of a map */
    HASP_MAP_SERVERS_MOST = 8           /**< servers of a map */
};

/** Where a map gets its memory. Both functions may be called by any thread that uses
 * the map, also at the same time. */
struct hasp_map_memory {
    /** Returns `bytes` of zeroed memory, or NULL. `alignment` is a power of 2. */
    void *(*allocate)(void *context, size_t bytes, size_t alignment);
    void (*release)(void *context, void *memory, size_t bytes);
    void *context;
};

/** Zero is the default of every field. */
struct hasp_map_options {
    /** The length of every key and of every value in bytes; 0: each has its own. Keys
     * and values of at most 8 bytes stand in the bucket itself; all others cost an
     * allocation for each entry, and a cache line for each lookup. With 8 for both, the
     * functions for words can be used, hasp_map_get_word() and so on. */
    uint32_t key_bytes, value_bytes;
    /** The lock that excludes writers, as `hasp list` names it; NULL: a bit of each
     * bucket, which is fastest. It guards a stripe: an equal part of all hashes. */
    const char *lock_name;
    uint64_t stripes; /**< at most 65536; 0: 64, or fewer if there are fewer buckets */
    /** Bounds of the number of buckets, of three entries each; 0: 16, and as many as
     * there are. Equal bounds: the map is never resized, and searches get longer. With
     * a lock, the lower bound is rounded up to a multiple of `stripes`. */
    uint64_t least_buckets, most_buckets;
    /** The number of threads that carry out the changes of all others, each for an
     * equal part of all hashes; 0: none. At most 8, and no `lock_name`. They are the
     * servers of ffwd in hasp/delegate.h, and other maps and objects share them. A
     * thread that asks spins until it has the answer; idle servers sleep. serve_reads:
     * hasp_map_get() asks them, too, so that the lines of the table stay in their
     * caches; it then waits, and signal handlers must not call it. Servers pay where
     * many threads change few buckets and CPUs are to spare (docs/maps.md). */
    uint32_t servers;
    bool serve_reads;
    uint64_t budget; /**< bytes for everything except this structure; 0: no limit */
    /** Seed of the hash; 0 selects a random one. Set it only in tests. Keys of up to 8
     * bytes are hashed by one multiplication: an attacker who chooses many of them can
     * make more of them collide than chance would. If that matters, append constant
     * bytes, so that keys are longer than that. */
    uint64_t seed;
    const struct hasp_map_memory *memory; /**< NULL: the C library's */
};

/** Creates an empty map.
 * @param m receives the map
 * @param options NULL for all defaults
 * @return HASP_MAP_OK, BAD_OPTIONS, UNKNOWN_LOCK, NO_MEMORY (also if a server cannot
 * start) or OVER_BUDGET. */
MUST_CHECK int hasp_map_create(struct hasp_map **m,
                               const struct hasp_map_options *options);

/** Destroys the map and gives its memory back. No thread may be using it. Does nothing
 * for NULL. */
void hasp_map_destroy(struct hasp_map *m);

/** Stores the value, whether the key is present or not.
 * @return OK if it has replaced a value, CREATED, BAD_KEY, BAD_VALUE, NO_MEMORY or
 * OVER_BUDGET. */
int hasp_map_put(struct hasp_map *m, const void *key, size_t key_bytes,
                 const void *value, size_t value_bytes);

/** Stores the value if the key is absent.
 * @return CREATED; OK if the key was present, and nothing has changed; or an error of
 * hasp_map_put(). */
int hasp_map_insert(struct hasp_map *m, const void *key, size_t key_bytes,
                    const void *value, size_t value_bytes);

/** Copies the value of the key.
 * @param value the buffer
 * @param value_bytes the size of the buffer in bytes; receives the length of the value
 * @return OK, ABSENT, BAD_KEY, NO_MEMORY (only in the first call of a thread); or
 * SMALL_BUFFER, and then only the length is stored */
int hasp_map_get(struct hasp_map *m, const void *key, size_t key_bytes, void *value,
                 size_t *value_bytes);

/** Gets a value where it stands; the bytes are valid, and do not change, until the
 * function returns.
 * @param value_bytes length of the value */
typedef void hasp_map_reader(void *argument, const void *value, size_t value_bytes);

/** Calls the function with the value of the key, if it is present.
 * @return OK, ABSENT, BAD_KEY or NO_MEMORY */
int hasp_map_read(struct hasp_map *m, const void *key, size_t key_bytes,
                  hasp_map_reader *reader, void *argument);

/** Removes the key.
 * @return OK, ABSENT, BAD_KEY or NO_MEMORY. */
int hasp_map_remove(struct hasp_map *m, const void *key, size_t key_bytes);

/** The following four functions are hasp_map_get(), put(), insert() and remove() for a
 * map whose keys and values are words: `key_bytes` and `value_bytes` are 8. They may be
 * mixed with all others. They are compiled into the caller, and call the library only
 * where that is not enough: if the table is being resized, if another thread changes
 * the same bucket, to change a bucket with more than three entries, if the map has a
 * lock or servers, inside a function that a map calls, and where the system has no
 * membarrier. The first call of a thread, too.
 *
 * Gets the value of a word.
 * @param value receives the value, or 0 if there is none
 * @return OK, ABSENT, NO_MEMORY (only in the first call of a thread); BAD_KEY if the
 * map's entries are not words */
static inline int hasp_map_get_word(struct hasp_map *m, uint64_t key, uint64_t *value)
{
    struct words_found found =
        words_get(map_within(m), &threads_epochs, threads_own, key);
    if (unlikely(found.result == WORDS_ELSEWHERE))
        found = words_get_anyhow(m, key);
    *value = found.value;
    return (int)found.result;
}

/** Starts to fetch the cache line in which a word is looked for, and does not wait. For
 * maps larger than the caches: hint some keys, at best about 16, then get them. Does
 * nothing where the other functions for words would call the library. */
static inline void hasp_map_prefetch_word(struct hasp_map *m, uint64_t key)
{
    words_prefetch(map_within(m), &threads_epochs, threads_own, key);
}

/** Stores a word.
 * @return OK if it has replaced a value, CREATED, BAD_KEY, NO_MEMORY or OVER_BUDGET */
static inline int hasp_map_put_word(struct hasp_map *m, uint64_t key, uint64_t value)
{
    int result = words_put(map_within(m), &threads_epochs, threads_own, key, value);
    if (unlikely(result == WORDS_ELSEWHERE))
        result = words_put_anyhow(m, key, value);
    return result;
}

/** Stores a word if the key is absent.
 * @return CREATED; OK if the key was present, and nothing has changed; BAD_KEY,
 * NO_MEMORY or OVER_BUDGET */
static inline int hasp_map_insert_word(struct hasp_map *m, uint64_t key, uint64_t value)
{
    int result = words_insert(map_within(m), &threads_epochs, threads_own, key, value);
    if (unlikely(result == WORDS_ELSEWHERE))
        result = words_insert_anyhow(m, key, value);
    return result;
}

/** Removes the key.
 * @return OK, ABSENT, BAD_KEY or NO_MEMORY */
static inline int hasp_map_remove_word(struct hasp_map *m, uint64_t key)
{
    int result = words_remove(map_within(m), &threads_epochs, threads_own, key);
    if (unlikely(result == WORDS_ELSEWHERE))
        result = words_remove_anyhow(m, key);
    return result;
}

/** What becomes of an entry. */
enum hasp_map_change { HASP_MAP_KEEP, HASP_MAP_STORE, HASP_MAP_REMOVE };

/** A value, to be stored. */
struct hasp_map_value {
    const void *bytes;
    size_t length; /**< of the value in bytes */
};

/** Decides about an entry while nobody else changes it. Called once, with the bucket
 * locked: it must not use the map. With servers, a server's thread calls it while
 * others wait: it must not block, use another map that has servers, or use what
 * belongs to the calling thread.
 * @param value the value, or NULL if the key is absent
 * @param fresh receives the value to store, with HASP_MAP_STORE
 * @return what becomes of the entry */
typedef enum hasp_map_change hasp_map_decide(void *argument, const void *value,
                                             size_t value_bytes,
                                             struct hasp_map_value *fresh);

/** Calls the function, and keeps, stores or removes the entry as it decides.
 * @return OK if the key was present, CREATED if it was absent and is present now,
 * ABSENT if it was and is absent, or an error of hasp_map_put() */
int hasp_map_update(struct hasp_map *m, const void *key, size_t key_bytes,
                    hasp_map_decide *decide, void *argument);

/** Visits an entry. It may use the map, and change it.
 * @return whether to go on */
typedef bool hasp_map_visitor(void *argument, const void *key, size_t key_bytes,
                              const void *value, size_t value_bytes);

/** Calls the function for each entry until it returns false. A key that is present from
 * the call to the return is visited exactly once, even if the map is resized meanwhile;
 * a key that is inserted or removed meanwhile is visited once or not at all. The value
 * was the key's at some moment between call and return.
 * @return true if the function never returned false; false also if there is no memory
 * for the first call of a thread */
bool hasp_map_iterate(struct hasp_map *m, hasp_map_visitor *visitor, void *argument);

/** Counts the entries by iterating: takes time in proportion to the buckets.
 * @return their number */
uint64_t hasp_map_count(struct hasp_map *m);

/** @return the number of buckets. */
uint64_t hasp_map_buckets(struct hasp_map *m);

/** Finishes resizing, shrinks the map as far as its entries allow, and gives back all
 * retired memory. Takes time in proportion to the buckets.
 * @return false if something was left because other threads are using the map, or for
 * want of memory. */
bool hasp_map_settle(struct hasp_map *m);

/** @return what a result means, as a phrase in English. */
const char *hasp_map_explain(int result);

C_LINKAGE_END

#endif
