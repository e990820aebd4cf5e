/* SPDX-License-Identifier: MIT */
/*
 * Scripted outcomes. Each line of a script is an outcome, and the number of
 * transactions in a row that have it, 1 if it is missing. After the last line, the
 * first one follows:
 *
 *   commit 3               # three transactions start
 *   conflict+retry         # one aborts with these bits
 *   explicit:0x1f          # one aborts with this code
 *
 * The words of an abort, joined by +: conflict, capacity, debug, nested, retry, busy
 * (explicit:0xff), explicit:CODE, zero (no bit).
 */
#include "elision/backend.h"
#include "elision/number.h"
#include "elision/policy.h"
#include "platform/native/small_file.h"
#include "platform/number_text.h"
#include "platform/platform.h"
#include "platform/xorshift.h"

#include <string.h>

enum { OUTCOMES = 4096, TIMES_MOST = 1000000 };

struct outcome {
    uint32_t status;
    uint32_t until; /* applies to the transactions of a round with smaller numbers */
};

static struct outcome outcomes[OUTCOMES];
static uint32_t outcome_count, round_length;
static struct atomic_u32 begun;
static uint32_t seed; /* 0: a script */

/* --- outcomes --- */

/* One in three aborts. A reason is as frequent as it is in the table. */
static uint32_t seeded(uint32_t number)
{
    enum { ABORTS = 8 };
    const uint32_t aborts[ABORTS] = {
        HTM_CONFLICT | HTM_RETRY, HTM_CONFLICT | HTM_RETRY,
        HTM_CONFLICT,             HTM_CAPACITY,
        htm_explicit(ELISION_BUSY), HTM_NESTED | HTM_CONFLICT,
        HTM_DEBUG,                0,
    };
    uint32_t state = seed ^ (number + 1) * UINT32_C(0x9e3779b9);
    for (int i = 0; i < 3; i++)
        state = xorshift32(state ? state : 1);
    return state % 3 ? HTM_STARTED : aborts[state / 3 % ABORTS];
}

static uint32_t outcome_of(uint32_t number)
{
    if (seed)
        return seeded(number);
    uint32_t turn = number % round_length, first = 0, last = outcome_count - 1;
    while (first < last) {
        uint32_t middle = (first + last) / 2;
        if (turn < outcomes[middle].until)
            last = middle;
        else
            first = middle + 1;
    }
    return outcomes[first].status;
}

static uint32_t begin(void)
{
    return outcome_of(fetch_add_relaxed(&begun, 1));
}

static void commit(void)
{
}

static void abort_with(uint8_t code)
{
    (void)code;
}

const struct elision_backend elision_script = {
    .name = "script",
    .offered = true,
    .emulated = true,
    .begin = begin,
    .commit = commit,
    .abort = abort_with,
};

/* --- reading --- */

enum { MAX_BYTES = 1 << 16 };
static char text[MAX_BYTES];
static char complaint[512];

static const char *refuse(const char *path, uint32_t line, const char *what,
                          const char *word)
{
    struct number_text number;
    complaint[0] = '\0';
    strncat(complaint, path, 256);
    if (line) {
        strcat(complaint, ", line ");
        strcat(complaint, number_text(line, &number));
    }
    strcat(complaint, ": ");
    strcat(complaint, what);
    strncat(complaint, word, 64);
    return complaint;
}

/* Adds the bits of one word of an abort to *status; returns false if it is unknown. */
static bool add_word(const char *word, uint32_t *status)
{
    const struct {
        const char *name;
        uint32_t bits;
    } words[] = {
        {"conflict", HTM_CONFLICT}, {"capacity", HTM_CAPACITY},
        {"debug", HTM_DEBUG},       {"nested", HTM_NESTED},
        {"retry", HTM_RETRY},       {"zero", 0},
        {"busy", htm_explicit(ELISION_BUSY)},
    };
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++) {
        if (strcmp(word, words[i].name) == 0) {
            *status |= words[i].bits;
            return true;
        }
    }
    if (strncmp(word, "explicit:", 9) != 0)
        return false;
    unsigned long code;
    const char *end = number_read(word + 9, 0, 0, UINT8_MAX, &code);
    if (!end || *end)
        return false;
    *status |= htm_explicit((uint8_t)code);
    return true;
}

static bool parse_outcome(char *words, uint32_t *status)
{
    *status = HTM_STARTED;
    if (strcmp(words, "commit") == 0)
        return true;
    *status = 0;
    for (char *word = words, *next; word; word = next) {
        next = strchr(word, '+');
        if (next)
            *next++ = '\0';
        if (!add_word(word, status))
            return false;
    }
    return true;
}

/* Removes the next word from the line; returns NULL at its end. */
static char *next_word(char **line)
{
    char *word = *line + strspn(*line, " \t");
    char *end = word + strcspn(word, " \t");
    *line = *end ? end + 1 : end;
    *end = '\0';
    return *word ? word : NULL;
}

static const char *parse_line(const char *path, uint32_t number, char *line)
{
    line[strcspn(line, "#\r")] = '\0';
    char *words = next_word(&line), *count = words ? next_word(&line) : NULL;
    if (!words)
        return NULL;
    char shown[65] = "";
    strncat(shown, words, sizeof shown - 1); /* parsing cuts it */
    if (outcome_count == OUTCOMES)
        return refuse(path, number, "too many lines", "");
    struct outcome *outcome = &outcomes[outcome_count++];
    if (!parse_outcome(words, &outcome->status))
        return refuse(path, number, "unknown outcome of a transaction: ", shown);
    unsigned long times = 1;
    if (count) {
        const char *end = number_read(count, 10, 1, TIMES_MOST, &times);
        if (!end || *end)
            return refuse(path, number, "not a number from 1 to 1000000: ", count);
    }
    char *more = next_word(&line);
    if (more)
        return refuse(path, number, "nothing may follow the number: ", more);
    outcome->until = round_length += (uint32_t)times;
    return NULL;
}

const char *elision_script_read(const char *path)
{
    long length = small_file_read(path, text, sizeof text);
    if (length < 0)
        return refuse(path, 0, "the script cannot be read", "");
    if (length == sizeof text - 1)
        return refuse(path, 0, "the script is too large", "");
    if (strlen(text) != (size_t)length)
        return refuse(path, 0, "the script contains a zero byte", "");
    uint32_t number = 1;
    for (char *line = text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        const char *wrong = parse_line(path, number, line);
        if (wrong)
            return wrong;
    }
    return outcome_count ? NULL : refuse(path, 0, "the script has no outcome", "");
}

const char *elision_script_seed(const char *number)
{
    return seed_read(number, &seed);
}
