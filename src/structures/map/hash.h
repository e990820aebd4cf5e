/* SPDX-License-Identifier: MIT */
/*
 * The hash of a key. The bucket of a key depends on the upper bits most.
 *
 * A key of at most 8 bytes is mixed with the map's seed, and multiplied. The upper bits
 * of the product spread keys at equal distances evenly (Knuth, "The Art of Computer
 * Programming", volume 3, section 6.4), if the multiplier, as a fraction of 2^64, is
 * far from all fractions with small denominators. So are these, and their products with
 * powers of 2: no partial quotient of the continued fraction of 2^k times one of them,
 * k from 0 to 40, is above 29 while the denominator is below 2^22.
 *
 * In the hash of a longer key, each step folds the 128-bit product of two mixed words,
 * as in Wang Yi's wyhash (2019). Both words are mixed with the seed: otherwise one word
 * of a key could make the product 0, whatever the other one is.
 *
 * Each map has a secret seed, so that keys that collide in one map do not in another.
 * No way is known to find longer keys that collide without knowing the seed. With
 * shorter keys, an attacker who knows the multipliers can make collisions likelier.
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

/* Of a map. */
struct hash_secret {
    uint64_t seed, multiplier;
};

static inline struct hash_secret hash_secret(uint64_t seed)
{
    static const uint64_t multipliers[] = {0xa1769a16a29ec6c9u, 0xc36f5a3b98951397u,
                                           0x4d0b96574b8ff14bu, 0x3dd4c56cf1e30b43u};
    struct hash_secret secret = {seed, multipliers[seed >> 62]};
    return secret;
}

/* Returns the hash of a key of at most 8 bytes that fills `word`. */
static inline uint64_t hash_word(uint64_t word, const struct hash_secret *secret)
{
    return (word ^ secret->seed) * secret->multiplier;
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
    const uint64_t first = (seed << 32 | seed >> 32) ^ HASH_FIRST;
    uint64_t state = seed ^ HASH_SECOND;
    size_t left = length;
    for (; left > 16; left -= 16, at += 16)
        state = hash_fold(hash_read(at, 8) ^ first, hash_read(at + 8, 8) ^ state);
    size_t low = left < 8 ? left : 8;
    uint64_t last = hash_fold(hash_read(at, low) ^ first,
                              hash_read(at + low, left - low) ^ state);
    return hash_fold(last ^ HASH_SECOND, length ^ HASH_FIRST ^ seed);
}

#endif
