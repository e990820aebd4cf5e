/* SPDX-License-Identifier: MIT */
#include "simulator/machine.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct machine machine;

/* Keys with a single number. */
struct scalar {
    const char *key;
    size_t offset;
    uint64_t least, most;
};

enum { MUCH = 1u << 30 };
#define SCALAR(name, least, most)                                                      \
    {                                                                                  \
#name, offsetof(struct machine, name), (least), (most)                         \
    }

static const struct scalar scalars[] = {
    SCALAR(clock_khz, 1, 100000000),
    SCALAR(cpus, 1, CPUS_MAX),
    SCALAR(threads_per_core, 1, 64),
    SCALAR(places, 1, PLACES_MAX),
    SCALAR(nodes, 1, PLACES_MAX),
    SCALAR(cohorts, 0, 2),
    SCALAR(local.l1, 1, MUCH),
    SCALAR(local.l2, 1, MUCH),
    SCALAR(local.llc, 1, MUCH),
    SCALAR(local.ram, 1, MUCH),
    SCALAR(local.atomic, 1, MUCH),
    SCALAR(local.store, 1, MUCH),
    SCALAR(local.timer, 0, MUCH),
    SCALAR(local.pause, 1, MUCH),
    SCALAR(local.code, 0, MUCH),
    SCALAR(local.issue_millicycles, 0, MUCH),
    SCALAR(sharers.store_millicycles, 0, MUCH),
    SCALAR(model.occupancy_permille, 0, 1000),
    SCALAR(model.home_occupancy_permille, 0, 1000),
    SCALAR(model.occupancy_least, 0, MUCH),
    SCALAR(model.grace_permille, 0, 1000),
    SCALAR(model.store_buffer, 1, 64),
    SCALAR(model.misses_in_flight, 1, 32),
    SCALAR(model.migratory, 0, DISTANCES_MAX),
    SCALAR(model.hashed_home, 0, 1),
    SCALAR(model.cold_after, 0, UINT64_MAX),
    SCALAR(model.cold_start, 0, MUCH),
    SCALAR(scheduler.slice, 1, UINT64_MAX),
    {"scheduler.switch", offsetof(struct machine, scheduler.switch_), 0, MUCH},
    SCALAR(scheduler.migration, 0, MUCH),
    SCALAR(scheduler.futex_call, 1, MUCH),
    SCALAR(scheduler.waking, 0, MUCH),
    SCALAR(scheduler.futex_wake, 1, MUCH),
    SCALAR(scheduler.kernel_lock, 0, KERNEL_LOCK_QUEUE),
    SCALAR(scheduler.fairness, 0, FAIRNESS_LAG),
    SCALAR(power.active_mw, 0, MUCH),
    SCALAR(power.pausing_mw, 0, MUCH),
    SCALAR(power.parked_mw, 0, MUCH),
    SCALAR(power.base_mw, 0, MUCH),
    SCALAR(power.transfer_local_pj, 0, MUCH),
    SCALAR(power.transfer_remote_pj, 0, MUCH),
    SCALAR(transactions.read_lines, 0, MUCH),
    SCALAR(transactions.write_lines, 0, MUCH),
    SCALAR(transactions.nesting, 0, MUCH),
    SCALAR(transactions.begin, 0, MUCH),
    SCALAR(transactions.commit, 0, MUCH),
    SCALAR(transactions.abort, 0, MUCH),
    SCALAR(transactions.interrupt, 0, UINT64_MAX),
};
enum { SCALARS = sizeof scalars / sizeof scalars[0] };

static const char *const operations[MACHINE_OPERATIONS] = {
    "load", "store", "compare_exchange", "fetch_add", "test_and_set", "exchange"};
static const char *const states[MACHINE_STATES] = {"modified", "owned", "exclusive",
                                                   "shared", "invalid"};
static const char *const protocols[MACHINE_PROTOCOLS] = {
    "moesi-broadcast", "moesi-directory", "moesi-grouped", "mesif-inclusive", "home"};

enum { LINE_LENGTH = 32 << 10 };

struct reader {
    struct machine *machine;
    const char *file_name;
    unsigned line;
    char *rest; /* unread part of the line */
    char *error;
    size_t error_size;
    bool has_name, has_protocol, has_distances, has_cpu_places, has_place_nodes;
    bool has_scalar[SCALARS], has_row[PLACES_MAX];
    bool has_latency[MACHINE_OPERATIONS][MACHINE_STATES];
};

static __attribute__((format(printf, 2, 3))) bool refuse(struct reader *reader,
                                                         const char *format, ...)
{
    size_t used = 0;
    if (reader->line)
        used = (size_t)snprintf(reader->error, reader->error_size,
                                "%s:%u: ", reader->file_name, reader->line);
    else
        used = (size_t)snprintf(reader->error, reader->error_size,
                                "%s: ", reader->file_name);
    va_list arguments;
    va_start(arguments, format);
    if (used < reader->error_size)
        vsnprintf(reader->error + used, reader->error_size - used, format, arguments);
    va_end(arguments);
    return false;
}

static char *word(struct reader *reader)
{
    char *start = reader->rest + strspn(reader->rest, " \t\r\n");
    reader->rest = start + strcspn(start, " \t\r\n");
    if (*reader->rest)
        *reader->rest++ = '\0';
    return *start ? start : NULL;
}

static bool number(struct reader *reader, const char *key, uint64_t least,
                   uint64_t most, uint64_t *value)
{
    const char *text = word(reader);
    if (!text)
        return refuse(reader, "%s: a number is missing", key);
    char *end;
    errno = 0;
    *value = strtoull(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || errno || *value < least || *value > most)
        return refuse(reader,
                      "%s is \"%s\"; it should be a whole number from %llu to "
                      "%llu",
                      key, text, (unsigned long long)least, (unsigned long long)most);
    return true;
}

static bool once(struct reader *reader, const char *key, bool *seen)
{
    if (*seen)
        return refuse(reader, "%s is given twice", key);
    *seen = true;
    return true;
}

static int find_word(const char *text, const char *const *words, int count)
{
    for (int i = 0; text && i < count; i++)
        if (strcmp(text, words[i]) == 0)
            return i;
    return -1;
}

/* Checks that the key with the length of a list precedes the list. */
static bool known(struct reader *reader, const char *key, uint64_t count,
                  const char *what)
{
    return count ? true : refuse(reader, "%s must come after %s", key, what);
}

static bool read_name(struct reader *reader)
{
    char *start = reader->rest + strspn(reader->rest, " \t");
    start[strcspn(start, "\r\n")] = '\0';
    reader->rest = start + strlen(start);
    if (!*start || strlen(start) >= sizeof reader->machine->name)
        return refuse(reader, "name should have 1 to %zu characters",
                      sizeof reader->machine->name - 1);
    strcpy(reader->machine->name, start);
    return once(reader, "name", &reader->has_name);
}

static bool read_protocol(struct reader *reader)
{
    const char *name = word(reader);
    int found = find_word(name, protocols, MACHINE_PROTOCOLS);
    if (found < 0)
        return refuse(reader,
                      "protocol is \"%s\"; it should be moesi-broadcast, "
                      "moesi-directory, moesi-grouped, mesif-inclusive or home",
                      name ? name : "");
    reader->machine->protocol = (enum machine_protocol)found;
    return once(reader, "protocol", &reader->has_protocol);
}

static bool read_distance_names(struct reader *reader)
{
    struct machine *machine = reader->machine;
    for (const char *name; (name = word(reader)); machine->distances++) {
        if (machine->distances == DISTANCES_MAX)
            return refuse(reader, "more than %d distances", DISTANCES_MAX);
        if (strlen(name) >= sizeof machine->distance_name[0])
            return refuse(reader, "distance_names: \"%s\" is too long", name);
        strcpy(machine->distance_name[machine->distances], name);
    }
    if (!machine->distances)
        return refuse(reader, "distance_names: one at least is needed");
    return once(reader, "distance_names", &reader->has_distances);
}

static bool read_list(struct reader *reader, const char *key, uint64_t length,
                      uint64_t limit, uint16_t *list)
{
    for (uint64_t i = 0, value; i < length; i++) {
        if (!number(reader, key, 0, limit - 1, &value))
            return false;
        list[i] = (uint16_t)value;
    }
    return true;
}

static bool read_row(struct reader *reader)
{
    struct machine *machine = reader->machine;
    const char *key = "between_places";
    uint64_t place, distance;
    if (!known(reader, key, machine->places, "places") ||
        !known(reader, key, machine->distances, "distance_names") ||
        !number(reader, key, 0, machine->places - 1, &place))
        return false;
    for (uint64_t i = 0; i < machine->places; i++) {
        if (!number(reader, key, 0, machine->distances - 1, &distance))
            return false;
        machine->between_places[place][i] = (uint8_t)distance;
    }
    return once(reader, "this row of between_places", &reader->has_row[place]);
}

static bool read_latency(struct reader *reader)
{
    struct machine *machine = reader->machine;
    const char *name = word(reader), *state_name = word(reader);
    int operation = find_word(name, operations, MACHINE_OPERATIONS);
    int state = find_word(state_name, states, MACHINE_STATES);
    if (operation < 0)
        return refuse(reader,
                      "latency of \"%s\"; it should be load, store, "
                      "compare_exchange, fetch_add, test_and_set or exchange",
                      name ? name : "");
    if (state < 0)
        return refuse(reader,
                      "latency %s of a line that was \"%s\"; it should be modified, "
                      "owned, exclusive, shared or invalid",
                      name, state_name ? state_name : "");
    if (!known(reader, "latency", machine->distances, "distance_names"))
        return false;
    char key[64];
    snprintf(key, sizeof key, "latency %s %s", name, state_name);
    for (uint64_t i = 0, value; i < machine->distances; i++) {
        if (!number(reader, key, 1, MUCH, &value))
            return false;
        machine->latency[operation][state][i] = (uint32_t)value;
    }
    return once(reader, key, &reader->has_latency[operation][state]);
}

static bool read_wakeup(struct reader *reader)
{
    struct wakeup wakeup;
    const char *key = "wakeup";
    if (!number(reader, key, 0, UINT64_MAX, &wakeup.idle) ||
        !number(reader, key, 1, MUCH, &wakeup.futex_wake) ||
        !number(reader, key, 0, MUCH, &wakeup.waking))
        return false;
    const char *problem = wakeups_add(&reader->machine->wakeups, wakeup);
    return problem ? refuse(reader, "%s: %s", key, problem) : true;
}

static bool read_scalar(struct reader *reader, const char *key)
{
    for (int i = 0; i < SCALARS; i++)
        if (strcmp(key, scalars[i].key) == 0) {
            uint64_t *field = (uint64_t *)((char *)reader->machine + scalars[i].offset);
            return number(reader, key, scalars[i].least, scalars[i].most, field) &&
                   once(reader, key, &reader->has_scalar[i]);
        }
    return refuse(reader, "unknown key %s", key);
}

static bool read_key(struct reader *reader, const char *key)
{
    struct machine *machine = reader->machine;
    if (strcmp(key, "name") == 0)
        return read_name(reader);
    if (strcmp(key, "protocol") == 0)
        return read_protocol(reader);
    if (strcmp(key, "distance_names") == 0)
        return read_distance_names(reader);
    if (strcmp(key, "place_of_cpu") == 0)
        return known(reader, key, machine->cpus, "cpus") &&
               known(reader, key, machine->places, "places") &&
               read_list(reader, key, machine->cpus, machine->places,
                         machine->place_of_cpu) &&
               once(reader, key, &reader->has_cpu_places);
    if (strcmp(key, "node_of_place") == 0)
        return known(reader, key, machine->nodes, "nodes") &&
               known(reader, key, machine->places, "places") &&
               read_list(reader, key, machine->places, machine->nodes,
                         machine->node_of_place) &&
               once(reader, key, &reader->has_place_nodes);
    if (strcmp(key, "between_places") == 0)
        return read_row(reader);
    if (strcmp(key, "latency") == 0)
        return read_latency(reader);
    if (strcmp(key, "wakeup") == 0)
        return read_wakeup(reader);
    return read_scalar(reader, key);
}

static bool read_line(struct reader *reader, char *line)
{
    reader->rest = line;
    if (!strchr(line, '\n') && strlen(line) == LINE_LENGTH - 1)
        return refuse(reader, "the line is too long");
    const char *key = word(reader);
    if (!key || *key == '#')
        return true;
    if (!read_key(reader, key))
        return false;
    const char *extra = word(reader);
    return extra ? refuse(reader, "\"%s\" follows the value of %s", extra, key) : true;
}

static bool missing(struct reader *reader, const char *key)
{
    return refuse(reader, "the key %s is missing", key);
}

static bool check_complete(struct reader *reader)
{
    const struct machine *machine = reader->machine;
    reader->line = 0;
    for (int i = 0; i < SCALARS; i++)
        if (!reader->has_scalar[i])
            return missing(reader, scalars[i].key);
    if (!reader->has_name || !reader->has_protocol || !reader->has_distances)
        return missing(reader, !reader->has_name       ? "name"
                               : !reader->has_protocol ? "protocol"
                                                       : "distance_names");
    if (!reader->has_cpu_places || !reader->has_place_nodes)
        return missing(reader,
                       reader->has_cpu_places ? "node_of_place" : "place_of_cpu");
    for (uint64_t i = 0; i < machine->places; i++)
        if (!reader->has_row[i])
            return refuse(reader, "the key between_places %llu is missing",
                          (unsigned long long)i);
    for (int i = 0; i < MACHINE_OPERATIONS; i++)
        for (int j = 0; j < MACHINE_STATES; j++)
            if (!reader->has_latency[i][j])
                return refuse(reader, "the key latency %s %s is missing", operations[i],
                              states[j]);
    return true;
}

static bool check_sense(struct reader *reader)
{
    const struct machine *machine = reader->machine;
    if (machine->cpus % machine->threads_per_core)
        return refuse(reader, "cpus is not a multiple of threads_per_core");
    for (uint64_t i = 0; i < machine->cpus; i++)
        if (machine->place_of_cpu[i] !=
            machine->place_of_cpu[i - i % machine->threads_per_core])
            return refuse(reader,
                          "place_of_cpu: the threads of CPU %llu's core are in "
                          "several places",
                          (unsigned long long)i);
    for (uint64_t i = 0; i < machine->places; i++)
        for (uint64_t j = 0; j < i; j++)
            if (machine->between_places[i][j] != machine->between_places[j][i])
                return refuse(reader,
                              "between_places: from %llu to %llu is not as far "
                              "as back",
                              (unsigned long long)i, (unsigned long long)j);
    return true;
}

bool machine_read(struct machine *machine, FILE *file, const char *file_name,
                  char *error, size_t error_size)
{
    *machine = (struct machine){0};
    struct reader reader = {.machine = machine,
                            .file_name = file_name,
                            .error = error,
                            .error_size = error_size};
    static char line[LINE_LENGTH];
    while (fgets(line, sizeof line, file)) {
        reader.line++;
        if (!read_line(&reader, line))
            return false;
    }
    reader.line = 0;
    if (ferror(file))
        return refuse(&reader, "cannot be read: %s", strerror(errno));
    return check_complete(&reader) && check_sense(&reader);
}
