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

enum { TEXT = 96 };

struct description {
    char operation[TEXT], outcome[TEXT];
};

static void describe_access(const struct counterexample_step *step,
                            struct description *into)
{
    const char *order = order_name(step->order), *stale = "";
    switch (step->operation) {
    case OP_LOAD:
        stale = step->stale ? "  (not the newest)" : "";
        snprintf(into->operation, TEXT, "load_%s", order);
        snprintf(into->outcome, TEXT, "%s%s", value(step->before), stale);
        break;
    case OP_STORE:
        stale = step->stale ? "  (before a newer one)" : "";
        snprintf(into->operation, TEXT, "store_%s", order);
        snprintf(into->outcome, TEXT, "= %s%s", value(step->after), stale);
        break;
    case OP_CHANGE:
        snprintf(into->operation, TEXT, "%s_%s", change_name(step->change), order);
        snprintf(into->outcome, TEXT, "%s -> %s", value(step->before),
                 value(step->after));
        break;
    default:
        stale = step->stale ? "  (not the newest)" : "";
        snprintf(into->operation, TEXT, "compare_exchange_%s", order);
        if (step->succeeded)
            snprintf(into->outcome, TEXT, "%s -> %s", value(step->before),
                     value(step->after));
        else
            snprintf(into->outcome, TEXT, "fails: %s%s", value(step->before), stale);
    }
}

static void describe_waiting(const struct counterexample_step *step,
                             struct description *into)
{
    char list[64];
    list_threads(list, sizeof list, step->threads);
    switch (step->operation) {
    case OP_DEADLINE:
        snprintf(into->operation, TEXT, "deadline_passed");
        snprintf(into->outcome, TEXT, "%s", step->succeeded ? "yes" : "no");
        break;
    case OP_PARK:
        snprintf(into->operation, TEXT, "park");
        if (step->succeeded)
            snprintf(into->outcome, TEXT, "sleeps: still %s", value(step->before));
        else
            snprintf(into->outcome, TEXT, "returns: it is %s", value(step->before));
        break;
    case OP_ASLEEP:
        snprintf(into->operation, TEXT, "(asleep)");
        snprintf(into->outcome, TEXT, "%s",
                 step->succeeded ? "the deadline has passed" : "a spurious wake-up");
        break;
    case OP_UNPARK:
        snprintf(into->operation, TEXT, "unpark");
        snprintf(into->outcome, TEXT, "wakes %s", list);
        break;
    default:
        snprintf(into->operation, TEXT, "requeue");
        snprintf(into->outcome, TEXT, "moves %s to %s", list, cell_name(step->other));
    }
}

static void describe_barrier(const struct counterexample_step *step,
                             struct description *into)
{
    char list[64];
    list_threads(list, sizeof list, step->threads);
    switch (step->operation) {
    case OP_FENCE:
        snprintf(into->operation, TEXT, "fence_seq_cst");
        break;
    case OP_LIGHT:
        snprintf(into->operation, TEXT, "light_barrier");
        break;
    case OP_REACHED:
        snprintf(into->operation, TEXT, "(fenced)");
        snprintf(into->outcome, TEXT, "by the heavy barrier of %s", list);
        break;
    default:
        snprintf(into->operation, TEXT, "heavy_barrier");
        snprintf(into->outcome, TEXT, "%s",
                 step->operation == OP_HEAVY ? "begins" : "ends");
    }
}

/* Describes the operation and its outcome; returns false if the step is not worth a
 * line. */
static bool describe(const struct counterexample_step *step, struct description *into)
{
    static const char *const others[] = {[OP_READ] = "(reads)",
                                         [OP_WRITE] = "(writes)",
                                         [OP_TAKE] = "(takes)",
                                         [OP_GIVE] = "(gives back)"};
    into->operation[0] = into->outcome[0] = 0;
    switch (step->operation) {
    case OP_LOAD:
    case OP_STORE:
    case OP_CHANGE:
    case OP_COMPARE:
        describe_access(step, into);
        return true;
    case OP_DEADLINE:
    case OP_PARK:
    case OP_ASLEEP:
    case OP_UNPARK:
    case OP_REQUEUE:
        describe_waiting(step, into);
        return true;
    case OP_FENCE:
    case OP_LIGHT:
    case OP_HEAVY:
    case OP_HEAVY_END:
    case OP_REACHED:
        describe_barrier(step, into);
        return true;
    case OP_FORK:
        snprintf(into->operation, TEXT, "%s",
                 step->succeeded ? "fork: the other threads vanish"
                                 : "(no fork: a thread has moved)");
        return true;
    case OP_READ:
    case OP_WRITE:
    case OP_TAKE:
    case OP_GIVE:
        snprintf(into->operation, TEXT, "%s", others[step->operation]);
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
    case OP_LIGHT:
    case OP_HEAVY:
    case OP_HEAVY_END:
    case OP_REACHED:
    case OP_DEADLINE:
        return false;
    default:
        return step->address != NULL;
    }
}

void counterexample_print(FILE *to)
{
    struct description text;
    for (unsigned i = 0; i < length; i++) {
        const struct counterexample_step *step = &steps[i];
        if (!describe(step, &text))
            continue;
        fprintf(to, "  %u  %-20s %-25s %-20s %s\n", (unsigned)step->thread,
                step->function ? step->function : "", text.operation,
                has_cell(step) ? cell_name(step->address) : "", text.outcome);
    }
}

void counterexample_print_json(FILE *to)
{
    struct description text;
    const char *comma = "";
    for (unsigned i = 0; i < length; i++) {
        const struct counterexample_step *step = &steps[i];
        if (!describe(step, &text))
            continue;
        fprintf(to,
                "%s{\"thread\":%d,\"function\":\"%s\",\"operation\":\"%s\","
                "\"cell\":\"%s\",\"outcome\":\"%s\"}",
                comma, step->thread, step->function ? step->function : "",
                text.operation, has_cell(step) ? cell_name(step->address) : "",
                text.outcome);
        comma = ",";
    }
}
