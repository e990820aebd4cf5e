/* SPDX-License-Identifier: MIT */
/*
 * Checks that locks have the properties that their entries in the list declare.
 *
 *   properties NAME...      these locks do; without names, all
 *   properties wrong CLAIM  exit status 1 if this false claim is detected, 0 if it is
 *                           not; `wrong` alone lists the claims
 *   properties --rounds=N ...  the same with N new locks in check_space(), not 1500
 */
#include "check.h"
#include "properties.h"
#include "wrong_claims.h"

#include "platform/platform.h"

#include <string.h>

static void check_all(const struct lock_descriptor *descriptor)
{
    check_space(descriptor);
    check_order(descriptor);
    check_sleep(descriptor);
    check_hardened(descriptor);
}

static void check_claim(const char *title)
{
    unsigned number = sizeof wrong_claims / sizeof wrong_claims[0];
    for (unsigned i = 0; i < number; i++) {
        if (!title) {
            puts(wrong_claims[i].title);
        } else if (strcmp(title, wrong_claims[i].title) == 0) {
            int lock = lock_find(wrong_claims[i].lock);
            if (lock < 0)
                exit(77); /* not in this list */
            struct lock_descriptor claim = lock_list[lock];
            wrong_claims[i].make(&claim);
            check_all(&claim);
            return;
        }
    }
    CHECK(!title || !"a claim of this title");
}

int main(int count, char **words)
{
    barrier_register(); /* before any thread starts, as in the interposer */
    if (count > 1 && sscanf(words[1], "--rounds=%u", &space_rounds) == 1) {
        count--;
        words++;
    }
    if (count > 1 && strcmp(words[1], "wrong") == 0) {
        check_claim(count > 2 ? words[2] : NULL);
        return 0;
    }
    for (int i = 1; i < count; i++) {
        int found = lock_find(words[i]);
        CHECK(found > 0);
        const struct lock_descriptor lock = lock_at((unsigned)found);
        check_all(&lock);
    }
    for (unsigned i = 1; count == 1 && i < lock_list_length; i++) {
        fprintf(stderr, "%s\n", lock_list[i].name);
        check_all(&lock_list[i]);
    }
    return 0;
}
