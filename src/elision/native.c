/* SPDX-License-Identifier: MIT */
/* Implements platform/htm.h natively by calling the back end. */
#include "elision/backend.h"
#include "elision/elide.h"
#include "elision/number.h"

#include <pthread.h>
#include <string.h>

static const struct elision_backend *backend = &elision_never;

static __thread struct {
    uint64_t words[HTM_THREAD_WORDS];
    unsigned depth; /* rolled back by an abort */
} own __attribute__((tls_model("initial-exec")));

bool htm_offered(void)
{
    return backend->offered;
}

uint32_t htm_begin(void)
{
    uint32_t status = backend->begin();
    own.depth = status == HTM_STARTED ? own.depth + 1 : 0;
    return status;
}

void htm_commit(void)
{
    own.depth--;
    backend->commit();
}

void htm_abort(uint8_t code)
{
    backend->abort(code);
    own.depth = 0; /* reached only if transactions are emulated */
}

unsigned htm_depth(void)
{
    return own.depth;
}

bool htm_emulated(void)
{
    return backend->emulated;
}

void *htm_thread(void)
{
    return own.words;
}

static pthread_key_t ending; /* not NULL: thread_ends() is called */
static bool ending_exists;

static void thread_ends(void *unused)
{
    (void)unused;
    elision_thread_ends();
}

void htm_thread_begins(void)
{
    if (ending_exists)
        pthread_setspecific(ending, &own);
}

const struct elision_backend *elision_backend(void)
{
    return backend;
}

const char *elision_choose(const char *text)
{
    const char *wrong = NULL;
    backend = &elision_never;
    if (!text || !*text || strcmp(text, "auto") == 0) {
        if (elision_probe().hardware == ELISION_RTM_WORKS)
            backend = &elision_rtm;
    } else if (strcmp(text, "rtm") == 0) {
        struct elision_probe probe = elision_probe();
        backend = &elision_rtm;
        if (probe.hardware != ELISION_RTM_WORKS)
            wrong = elision_hardware_text(probe.hardware);
    } else if (strncmp(text, "script:", 7) == 0) {
        backend = &elision_script;
        wrong = elision_script_read(text + 7);
    } else if (strncmp(text, "seed:", 5) == 0) {
        backend = &elision_script;
        wrong = elision_script_seed(text + 5);
    } else if (strncmp(text, "undo", 4) == 0 && (!text[4] || text[4] == ':')) {
        backend = &elision_undo;
        wrong = elision_undo_prepare(text[4] ? text + 5 : NULL);
    } else if (strcmp(text, "never") != 0) {
        wrong = "it takes auto, rtm, never, script:FILE, seed:NUMBER, undo or "
                "undo:SEED";
    }
    if (wrong)
        backend = &elision_never;
    else if (backend->offered && !ending_exists)
        ending_exists = pthread_key_create(&ending, thread_ends) == 0;
    return wrong;
}

/* Reads a number from `least` to `most`; returns false if it is not one. */
static bool number_of(const char **text, unsigned long least, unsigned long most,
                      unsigned long *value)
{
    const char *end = number_read(*text, 10, least, most, value);
    if (end)
        *text = end;
    return end != NULL;
}

static bool word_is(const char **text, const char *word)
{
    size_t length = strlen(word);
    if (strncmp(*text, word, length) != 0)
        return false;
    *text += length;
    return true;
}

/* Reads one setting; returns false if it is not one. */
static bool set_one(const char **text)
{
    enum { TRIES_MOST = 99, WATCHDOG_MOST = 3600000 };
    enum { SKIP_MOST = 255 }; /* the skips of a site fit its record */
    struct elision_settings *to = &elision_settings;
    const struct {
        const char *name;
        uint32_t *number;
        unsigned long least, most;
    } numbers[] = {{"tries=", &to->tries, 1, TRIES_MOST},
                   {"skip=", &to->skip, 0, SKIP_MOST},
                   {"watchdog=", &to->watchdog_ms, 0, WATCHDOG_MOST}};
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {{"wait=", &to->waits_first},
                 {"sites=", &to->by_site},
                 {"guard=", &to->guards_nests}};
    unsigned long value;
    if (word_is(text, "scope=")) {
        to->global = word_is(text, "global");
        return to->global || word_is(text, "fine");
    }
    if (word_is(text, "trylock=")) {
        to->trylock_nests = word_is(text, "nest");
        return to->trylock_nests || word_is(text, "abort");
    }
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
        if (word_is(text, numbers[i].name)) {
            if (!number_of(text, numbers[i].least, numbers[i].most, &value))
                return false;
            *numbers[i].number = (uint32_t)value;
            return true;
        }
    }
    for (unsigned i = 0; i < sizeof flags / sizeof flags[0]; i++) {
        if (word_is(text, flags[i].name)) {
            if (!number_of(text, 0, 1, &value))
                return false;
            *flags[i].flag = value;
            return true;
        }
    }
    return false;
}

const char *elision_set(const char *text)
{
    while (text && *text) {
        if (!set_one(&text) || (*text && *text != ','))
            return "it takes tries=1 to 99, skip=0 to 255, trylock=abort or nest, "
                   "scope=fine or global, watchdog=0 to 3600000 ms, and wait, sites or "
                   "guard=0 or 1, separated by commas";
        text += *text == ',';
    }
    return NULL;
}
