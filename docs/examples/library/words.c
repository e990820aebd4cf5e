/* SPDX-License-Identifier: MIT */
/* Threads find the squares modulo a prime. Keys and values are words. */
#include <hasp/map.h>

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 2, PRIME = 10007, AHEAD = 16 };

static struct hasp_map *roots; /* a square -> a number that it is the square of */

static void *work(void *argument)
{
    uint64_t *found = argument;
    for (uint64_t number = 0; number < PRIME; number++)
        if (hasp_map_insert_word(roots, number * number % PRIME, number) ==
            HASP_MAP_CREATED)
            ++*found; /* by no other thread */
    return NULL;
}

/* Looks up all residues. Hints of several keys fetch their lines at the same time. */
static uint64_t count_squares(void)
{
    uint64_t squares = 0, root;
    for (uint64_t first = 0; first < PRIME; first += AHEAD) {
        for (uint64_t i = 0; i < AHEAD; i++)
            hasp_map_prefetch_word(roots, first + i);
        for (uint64_t i = 0; i < AHEAD && first + i < PRIME; i++)
            if (hasp_map_get_word(roots, first + i, &root) == HASP_MAP_OK)
                squares += root * root % PRIME == first + i;
    }
    return squares;
}

int main(void)
{
    struct hasp_map_options options = {.key_bytes = 8, .value_bytes = 8};
    int result = hasp_map_create(&roots, &options);
    if (result != HASP_MAP_OK) {
        fprintf(stderr, "%s\n", hasp_map_explain(result));
        return 2;
    }
    pthread_t threads[THREADS];
    uint64_t found[THREADS] = {0};
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &found[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);

    uint64_t root = 1;
    printf("%d found, %d looked up; ", (int)(found[0] + found[1]),
           (int)count_squares());
    hasp_map_put_word(roots, 0,
                      PRIME); /* 0 is an ordinary key; the value is replaced */
    hasp_map_get_word(roots, 0, &root);
    hasp_map_remove_word(roots, 0);
    printf("the root of 0 was %d; then %d\n", (int)root, (int)hasp_map_count(roots));
    hasp_map_destroy(roots);
    return 0;
}
