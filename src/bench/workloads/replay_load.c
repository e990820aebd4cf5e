/* SPDX-License-Identifier: MIT */
/* Reads the description of a load; see replay.h for its form. */
#include "bench/workloads/replay.h"

#include <stdio.h>
#include <stdlib.h>

enum { ITEMS_MOST = 65536 };
static const uint64_t TIME_MOST = 3600000000000; /* ns */
/* A million sections inside one, or items put by one, in permille. */
static const uint64_t INSIDE_MOST = 1000000000;

struct reader {
    struct run *run;
    FILE *file;
    unsigned long numbers; /* read so far */
    bool failed;
};

/* Returns the next number, or 0 once anything was wrong. */
static uint64_t next_number(struct reader *reader, uint64_t most)
{
    unsigned long long number = 0;
    if (reader->failed)
        return 0;
    reader->numbers++;
    if (fscanf(reader->file, "%llu", &number) == 1 && number <= most)
        return number;
    reader->failed = true;
    explain(reader->run, "%s: number %lu is missing or exceeds %llu", reader->run->load,
            reader->numbers, (unsigned long long)most);
    return 0;
}

static unsigned next_count(struct reader *reader, uint64_t most)
{
    return (unsigned)next_number(reader, most);
}

/* Returns the next number, which must be less than `count`. */
static unsigned next_index(struct reader *reader, unsigned count)
{
    return (unsigned)next_number(reader, count ? count - 1 : 0);
}

/* Returns zeroed memory, at least one element. */
static void *made(struct reader *reader, size_t count, size_t bytes)
{
    void *memory = calloc(count ? count : 1, bytes);
    if (!memory && !reader->failed) {
        reader->failed = true;
        explain(reader->run, "out of memory");
    }
    return memory;
}

static void read_site(struct reader *reader, struct replay_load *load, unsigned index)
{
    struct replay_site *site = &load->sites[index];
    site->rwlock = next_number(reader, 1);
    site->each_worker = next_number(reader, 1);
    site->locks = next_number(reader, REPLAY_LOCKS_MOST);
    site->lines = next_number(reader, 64);
    site->parts = next_number(reader, REPLAY_PARTS_MOST);
    site->shape = next_index(reader, load->shape_count);
    site->calls = next_number(reader, 1000);
    site->tries = next_number(reader, 1000);
    site->meets = next_number(reader, 1);
    site->queues = next_number(reader, 1);
    site->weighed = next_count(reader, site->locks);
    site->sums = made(reader, site->weighed, sizeof *site->sums);
    uint64_t sum = 0;
    for (unsigned i = 0; i < site->weighed && !reader->failed; i++)
        site->sums[i] = sum += next_number(reader, 1 << 22);
    site->tail = next_number(reader, 1 << 22);
    site->inner_count = next_count(reader, ITEMS_MOST);
    site->inner = made(reader, site->inner_count, sizeof *site->inner);
    for (unsigned i = 0; i < site->inner_count && !reader->failed; i++) {
        site->inner[i].site = next_index(reader, load->site_count);
        site->inner[i].times = next_number(reader, INSIDE_MOST);
        if (site->inner[i].site <= index && !reader->failed) {
            reader->failed = true;
            explain(reader->run, "%s: site %u contains an earlier one",
                    reader->run->load, index);
        }
    }
    if ((site->meets || site->queues) &&
        (site->rwlock || site->each_worker || site->locks > 1) && !reader->failed) {
        reader->failed = true;
        explain(reader->run, "%s: threads %s one mutex, but site %u is not one",
                reader->run->load, site->meets ? "meet at" : "share a queue under",
                index);
    }
    bool empty = !site->locks || !site->parts || (!sum && !site->tail);
    if (empty && !reader->failed) {
        reader->failed = true;
        explain(reader->run, "%s: site %u has no lock", reader->run->load, index);
    }
}

/* Items are put into queues only, and taken from them. */
static void refuse_wrong_use(struct reader *reader, const struct replay_load *load,
                             const struct replay_role *role, unsigned site)
{
    const struct replay_use *use = &role->uses[site];
    if (load->sites[site].queues || !(use->puts || use->takes) || reader->failed)
        return;
    reader->failed = true;
    explain(reader->run, "%s: site %u has no queue", reader->run->load, site);
}

static void read_role(struct reader *reader, struct replay_load *load,
                      struct replay_role *role)
{
    role->threads = next_count(reader, 4096);
    role->aside = next_number(reader, 1);
    role->gap = cycles_of_ns(next_number(reader, TIME_MOST));
    role->gap_shape = next_index(reader, load->shape_count);
    role->idle = next_number(reader, TIME_MOST);
    role->idle_shape = next_index(reader, load->shape_count);
    role->idle_ppm = next_number(reader, 1000000);
    role->visit_count = next_count(reader, ITEMS_MOST);
    role->visits = made(reader, role->visit_count, sizeof *role->visits);
    uint64_t sum = 0;
    for (unsigned i = 0; i < role->visit_count && !reader->failed; i++) {
        role->visits[i].site = next_index(reader, load->site_count);
        role->visits[i].sum = sum += next_number(reader, 1 << 22);
    }
    role->uses = made(reader, load->site_count, sizeof *role->uses);
    for (unsigned i = 0; i < load->site_count && !reader->failed; i++) {
        role->uses[i].hold = cycles_of_ns(next_number(reader, TIME_MOST));
        role->uses[i].reads = next_number(reader, 1000);
        role->uses[i].puts = next_number(reader, INSIDE_MOST);
        role->uses[i].takes = next_number(reader, 1);
        role->takes |= role->uses[i].takes;
        refuse_wrong_use(reader, load, role, i);
    }
    if (!sum && !reader->failed) {
        reader->failed = true;
        explain(reader->run, "%s: a role acquires no lock", reader->run->load);
    }
}

static void read_all(struct reader *reader, struct replay_load *load)
{
    if (next_number(reader, REPLAY_VERSION) != REPLAY_VERSION && !reader->failed) {
        reader->failed = true;
        explain(reader->run, "%s: unknown version", reader->run->load);
    }
    load->one_lock = next_number(reader, 1);
    load->trylock_nests = next_number(reader, 1);
    load->nesting = next_count(reader, 16);
    load->shape_count = next_count(reader, ITEMS_MOST);
    load->shapes = made(reader, load->shape_count, sizeof *load->shapes);
    for (unsigned i = 0; i < load->shape_count && !reader->failed; i++)
        for (unsigned n = 0; n < SHAPE_VALUES; n++)
            load->shapes[i][n] = next_number(reader, 1000000000);
    load->site_count = next_count(reader, ITEMS_MOST);
    load->sites = made(reader, load->site_count, sizeof *load->sites);
    for (unsigned i = 0; i < load->site_count && !reader->failed; i++)
        read_site(reader, load, i);
    load->role_count = next_count(reader, ITEMS_MOST);
    load->roles = made(reader, load->role_count, sizeof *load->roles);
    for (unsigned i = 0; i < load->role_count && !reader->failed; i++)
        read_role(reader, load, &load->roles[i]);
    bool all_take = load->role_count;
    for (unsigned i = 0; i < load->role_count; i++)
        all_take = all_take && load->roles[i].takes;
    if (all_take && !reader->failed) {
        reader->failed = true;
        explain(reader->run, "%s: all roles wait for others", reader->run->load);
    }
}

bool replay_load_read(struct run *run, struct replay_load *load)
{
    struct reader reader = {.run = run, .file = fopen(run->load, "r")};
    if (!reader.file) {
        explain(run, "cannot read %s", run->load);
        return false;
    }
    read_all(&reader, load);
    fclose(reader.file);
    return !reader.failed;
}
