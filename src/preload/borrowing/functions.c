/* SPDX-License-Identifier: MIT */
/*
 * The functions of functions.def: each hands a borrowed stretch back and then jumps to
 * the C library's function of the same name (entries.S).
 */
#include "preload/borrowing/functions.h"

#include "preload/borrowing/thread.h"

#include <dlfcn.h>

_Static_assert(offsetof(struct borrow_thread, registers.runner) == 16,
               "read by entries.S");

enum number {
#define HAND_BACK(name) AT_##name,
#define STOP(name) AT_##name,
#include "preload/borrowing/functions.def"
#undef HAND_BACK
#undef STOP
    FUNCTIONS,
};

static const struct {
    const char *name;
    bool stops;
} functions[] = {
#define HAND_BACK(name) {#name, false},
#define STOP(name) {#name, true},
#include "preload/borrowing/functions.def"
#undef HAND_BACK
#undef STOP
};

/* The C library's functions; NULL if not looked up yet, or if it has none. */
void *borrow_real[FUNCTIONS] __attribute__((visibility("hidden")));

/* Some functions are only there for programs that were linked long ago. */
static void *look_up(const char *name)
{
    void *real = dlsym(RTLD_NEXT, name);
    return real ? real : dlvsym(RTLD_NEXT, name, FIRST_VERSION);
}

static void *find(unsigned number)
{
    void *real = __atomic_load_n(&borrow_real[number], __ATOMIC_ACQUIRE);
    if (!real) {
        real = look_up(functions[number].name);
        __atomic_store_n(&borrow_real[number], real, __ATOMIC_RELEASE);
    }
    return real;
}

/* The functions of STOP stay NULL, so that each call of them enters borrow_before(). */
void borrow_find_functions(void)
{
    for (unsigned i = 0; i < FUNCTIONS; i++)
        if (!functions[i].stops)
            find(i);
}

void *borrow_before(unsigned number) __attribute__((used, visibility("hidden")));
void *borrow_before(unsigned number)
{
    borrow_hand_back();
    if (functions[number].stops)
        borrow_stop();
    void *real =
        functions[number].stops ? look_up(functions[number].name) : find(number);
    if (!real) {
        complain("the C library does not have ", functions[number].name);
        die("it was called all the same");
    }
    return real;
}
