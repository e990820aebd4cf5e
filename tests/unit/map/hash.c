/* SPDX-License-Identifier: MIT */
/* Keys that an attacker builds from the public constants have different hashes. */
#include <stdio.h>
#include <stdlib.h>

#include "structures/map/hash.h"

enum { KEYS = 512, LONGEST = 32 };
static const uint64_t SEED = 0x243f6a8885a308d3; /* any but 0 */

/* Returns the hash of a key of `length` bytes: one word is `chosen`, all others are
 * `number`. */
static uint64_t hash_chosen(size_t length, size_t place, uint64_t chosen,
                            uint64_t number)
{
    uint64_t words[LONGEST / sizeof(uint64_t)];
    for (size_t i = 0; i < LONGEST / sizeof(uint64_t); i++)
        words[i] = i == place ? chosen : number;
    return hash_bytes(words, length, SEED);
}

static void test_chosen_word(size_t length, size_t place, uint64_t chosen)
{
    static uint64_t hashes[KEYS];
    for (uint64_t i = 0; i < KEYS; i++) {
        hashes[i] = hash_chosen(length, place, chosen, i);
        for (uint64_t j = 0; j < i; j++)
            if (hashes[i] == hashes[j]) {
                fprintf(stderr, "keys %u and %u of %zu bytes meet: word %zu is %#llx\n",
                        (unsigned)i, (unsigned)j, length, place,
                        (unsigned long long)chosen);
                exit(1);
            }
    }
}

int main(void)
{
    static const uint64_t chosen[] = {0, HASH_FIRST, HASH_SECOND,
                                      HASH_FIRST ^ HASH_SECOND};
    static const size_t lengths[] = {16, 24, LONGEST};
    for (size_t i = 0; i < sizeof chosen / sizeof *chosen; i++)
        for (size_t j = 0; j < sizeof lengths / sizeof *lengths; j++)
            for (size_t place = 0; place < lengths[j] / sizeof(uint64_t); place++)
                test_chosen_word(lengths[j], place, chosen[i]);
    return 0;
}
