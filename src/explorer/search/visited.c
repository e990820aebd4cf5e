/* SPDX-License-Identifier: MIT */
#include "explorer/search/visited.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    uint64_t low, high; /* low: 0 in an empty entry, else odd; lowest byte of high:
                            preemptions */
};

static struct entry *table;
static size_t capacity, count;

static uint64_t mix(uint64_t a, uint64_t b)
{
    __extension__ unsigned __int128 product = (unsigned __int128)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

static void hash(const unsigned char *bytes, size_t size, uint64_t *low, uint64_t *high)
{
    const uint64_t a = 0x9e3779b97f4a7c15, b = 0xd6e8feb86659fd93;
    uint64_t x = a ^ size, y = b, words[2];
    for (; size >= sizeof words; size -= sizeof words, bytes += sizeof words) {
        memcpy(words, bytes, sizeof words);
        x = mix(x ^ words[0], words[1] ^ b);
        y = mix(y ^ words[1] ^ a, words[0] ^ 0xa0761d6478bd642f) + x;
    }
    words[0] = words[1] = 0;
    memcpy(words, bytes, size);
    x = mix(x ^ words[0], words[1] ^ b);
    y = mix(y ^ words[1] ^ a, words[0] ^ 0xa0761d6478bd642f) + x;
    *low = mix(x ^ a, y ^ b);
    *high = mix(y ^ a, x ^ 0xe7037ed1a0b428db);
}

static struct entry *entry_of(uint64_t low, uint64_t high)
{
    size_t at = low & (capacity - 1);
    while (table[at].low && (table[at].low != low || (table[at].high ^ high) >> 8 != 0))
        at = (at + 1) & (capacity - 1);
    return &table[at];
}

static void grow(void)
{
    struct entry *old = table;
    size_t before = capacity;
    capacity = before ? 2 * before : 1 << 14;
    table = calloc(capacity, sizeof *table);
    if (!table)
        abort();
    for (size_t i = 0; i < before; i++)
        if (old[i].low)
            *entry_of(old[i].low, old[i].high) = old[i];
    free(old);
}

void visited_clear(void)
{
    free(table);
    table = NULL;
    capacity = count = 0;
    grow();
}

size_t visited_count(void)
{
    return count;
}

bool visit(const unsigned char *bytes, size_t size, uint8_t preemptions)
{
    uint64_t low, high;
    hash(bytes, size, &low, &high);
    low |= 1; /* 0 marks an empty entry */
    if (3 * count > 2 * capacity)
        grow();
    struct entry *entry = entry_of(low, high);
    if (entry->low && (uint8_t)entry->high <= preemptions)
        return false;
    count += !entry->low;
    *entry = (struct entry){low, (high & ~UINT64_C(0xff)) | preemptions};
    return true;
}
