/* SPDX-License-Identifier: MIT */
/*
 * The hash of a key: each step folds the 128-bit product of two mixed words. The
 * construction is that of Wang Yi's wyhash (2019). Each map has a secret seed, so that
 * whoever chooses the keys cannot choose the buckets.
 */
#ifndef HASP_STRUCTURES_MAP_HASH_H
#define HASP_STRUCTURES_MAP_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_FIRST 0xa0761d6478bd642full
#define HASH_SECOND 0xe7037ed1a0b428dbull

__extension__ typedef unsigned __int128 hash_product;

static inline uint64_t hash_fold(uint64_t a, uint64_t b)
{
    hash_product product = (hash_product)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/* Returns the hash of a key of at most 8 bytes that fills `word`. */
static inline uint64_t hash_word(uint64_t word, uint64_t seed)
{
    return hash_fold(word ^ seed, HASH_FIRST ^ word);
}

/* Returns `length` bytes, at most 8, as a word whose other bytes are 0. */
static inline uint64_t hash_read(const unsigned char *bytes, size_t length)
{
    uint64_t word = 0;
    if (length == sizeof word)
        memcpy(&word, bytes, sizeof word); /* no call */
    else
        memcpy(&word, bytes, length);
    return word;
}

static inline uint64_t hash_bytes(const void *key, size_t length, uint64_t seed)
{
    const unsigned char *at = (const unsigned char *)key;
    uint64_t state = seed ^ HASH_SECOND;
    size_t left = length;
    for (; left > 16; left -= 16, at += 16)
        state = hash_fold(hash_read(at, 8) ^ HASH_FIRST, hash_read(at + 8, 8) ^ state);
    size_t low = left < 8 ? left : 8;
    uint64_t last = hash_fold(hash_read(at, low) ^ HASH_FIRST,
                              hash_read(at + low, left - low) ^ state);
    return hash_fold(last ^ HASH_SECOND, length ^ HASH_FIRST ^ seed);
}

#endif
