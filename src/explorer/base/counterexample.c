/* SPDX-License-Identifier: MIT */
#include "explorer/base/counterexample.h"

#include "explorer/base/limits.h"
#include "explorer/base/names.h"
#include "explorer/base/verdict.h"

#include <inttypes.h>
#include <string.h>

enum { STEPS = 1 << 16 };

static struct counterexample_step steps[STEPS];
static unsigned length;

void counterexample_add(const struct counterexample_step *step)
{
    if (length == STEPS)
        fail("limit", "a run of more than %d steps", STEPS);
    else
        steps[length++] = *step;
}

unsigned counterexample_length(void)
{
    return length;
}

void counterexample_truncate(unsigned shorter)
{
    length = shorter;
}

static const char *change_name(int change)
{
    static const char *const names[] = {"exchange", "fetch_add", "fetch_or",
                                        "fetch_and"};
    return names[change];
}

/* Small numbers in decimal, as the algorithms use them. */
static const char *value(uint64_t number)
{
    static char text[4][32];
    static unsigned used;
    char *into = text[used++ % 4];
    if (number == UINT32_MAX)
        snprintf(into, sizeof text[0], "-1");
    else
        snprintf(into, sizeof text[0], number < 100000 ? "%" PRIu64 : "0x%" PRIx64,
                 number);
    return into;
}

static void list_threads(char *into, size_t size, unsigned threads)
{
    size_t used = 0;
    into[0] = 0;
    for (unsigned t = 0; t < THREADS && used < size; t++)
        if (threads & 1u << t)
            used += (size_t)snprintf(into + used, size - used, "%s%u",
                                     used ? ", " : "thread ", t);
    if (!used)
        snprintf(into, size, "nobody");
}

/* The operation and what came of it; false: not worth a line. */
static bool describe(const struct counterexample_step *step, char *operation,
                     char *outcome, size_t size)
{
    const char *order = order_name(step->order);
    char list[64];
    outcome[0] = 0;
    switch (step->operation) {
    case OP_LOAD:
        snprintf(operation, size, "load_%s", order);
        snprintf(outcome, size, "%s%s", value(step->before),
                 step->stale ? "  (not the newest)" : "");
        return true;
    case OP_STORE:
        snprintf(operation, size, "store_%s", order);
        snprintf(outcome, size, "= %s%s", value(step->after),
                 step->stale ? "  (before a newer one)" : "");
        return true;
    case OP_CHANGE:
        snprintf(operation, size, "%s_%s", change_name(step->change), order);
        snprintf(outcome, size, "%s -> %s", value(step->before), value(step->after));
        return true;
    case OP_COMPARE:
        snprintf(operation, size, "compare_exchange_%s", order);
        if (step->succeeded)
            snprintf(outcome, size, "%s -> %s", value(step->before),
                     value(step->after));
        else
            snprintf(outcome, size, "fails: %s%s", value(step->before),
                     step->stale ? "  (not the newest)" : "");
        return true;
    case OP_FENCE:
        snprintf(operation, size, "fence_seq_cst");
        return true;
    case OP_FORK:
        snprintf(operation, size, "fork: the others vanish");
        if (!step->succeeded)
            snprintf(operation, size, "(no fork: somebody has gone on)");
        return true;
    case OP_HEAVY:
        snprintf(operation, size, "heavy_barrier");
        return true;
    case OP_DEADLINE:
        snprintf(operation, size, "deadline_passed");
        snprintf(outcome, size, "%s", step->succeeded ? "yes" : "no");
        return true;
    case OP_PARK:
        snprintf(operation, size, "park");
        if (step->succeeded)
            snprintf(outcome, size, "still %s: sleeps", value(step->before));
        else
            snprintf(outcome, size, "returns: it is %s", value(step->before));
        return true;
    case OP_ASLEEP:
        snprintf(operation, size, "(asleep)");
        snprintf(outcome, size, "%s",
                 step->succeeded ? "the deadline has passed" : "a spurious wake-up");
        return true;
    case OP_UNPARK:
        list_threads(list, sizeof list, step->threads);
        snprintf(operation, size, "unpark");
        snprintf(outcome, size, "wakes %s", list);
        return true;
    case OP_REQUEUE:
        list_threads(list, sizeof list, step->threads);
        snprintf(operation, size, "requeue");
        snprintf(outcome, size, "moves %s to %s", list, cell_name(step->other));
        return true;
    case OP_READ:
    case OP_WRITE:
        snprintf(operation, size, step->operation == OP_READ ? "(reads)" : "(writes)");
        return true;
    case OP_TAKE:
    case OP_GIVE:
        snprintf(operation, size,
                 step->operation == OP_TAKE ? "(takes)" : "(gives back)");
        return true;
    default:
        return false;
    }
}

static bool has_cell(const struct counterexample_step *step)
{
    switch (step->operation) {
    case OP_FENCE:
    case OP_FORK:
    case OP_HEAVY:
    case OP_DEADLINE:
        return false;
    default:
        return step->address != NULL;
    }
}

void counterexample_print(FILE *to)
{
    char operation[96], outcome[96];
    for (unsigned i = 0; i < length; i++) {
        const struct counterexample_step *step = &steps[i];
        if (!describe(step, operation, outcome, sizeof operation))
            continue;
        fprintf(to, "  %u  %-20s %-25s %-20s %s\n", (unsigned)step->thread,
                step->function ? step->function : "", operation,
                has_cell(step) ? cell_name(step->address) : "", outcome);
    }
}

void counterexample_print_json(FILE *to)
{
    char operation[96], outcome[96];
    const char *comma = "";
    for (unsigned i = 0; i < length; i++) {
        const struct counterexample_step *step = &steps[i];
        if (!describe(step, operation, outcome, sizeof operation))
            continue;
        fprintf(to,
                "%s{\"thread\":%d,\"function\":\"%s\",\"operation\":\"%s\","
                "\"cell\":\"%s\",\"outcome\":\"%s\"}",
                comma, step->thread, step->function ? step->function : "", operation,
                has_cell(step) ? cell_name(step->address) : "", outcome);
        comma = ",";
    }
}
