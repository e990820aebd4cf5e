/* SPDX-License-Identifier: MIT */
/* Checks that the measure of patience (locks/waiting/patience.h) finds the better way,
 * stays with it, and spends little time on trials. */
#include "check.h"

#include "locks/waiting/patience.h"

enum { EPOCHS = 2000, WORTHWHILE = 32 };

/* Uses in an epoch, by the way in use. */
struct load {
    uint32_t eager, patient;
};

/* Returns the number of ns, of EPOCHS epochs, that were spent patiently. */
static uint64_t patient_ns(struct patience_record *record, struct load load,
                           uint32_t step_ns)
{
    uint64_t patient = 0, total = 0;
    uint32_t ns = 0;
    while (total < (uint64_t)EPOCHS * PATIENCE_EPOCH_NS) {
        ns += step_ns;
        total += step_ns;
        patient += record->patient ? step_ns : 0;
        uint64_t uses = record->patient ? load.patient : load.eager;
        if (patience_look(record, ns, (uint32_t)(uses * ns / PATIENCE_EPOCH_NS),
                          WORTHWHILE))
            ns = 0;
    }
    return patient;
}

static void expect_percent(struct load load, uint32_t least, uint32_t most)
{
    for (uint32_t step_ns = 1000; step_ns < PATIENCE_EPOCH_NS * 4; step_ns *= 2) {
        struct patience_record record = {0};
        patient_ns(&record, load, step_ns); /* to settle */
        uint64_t percent = patient_ns(&record, load, step_ns) * 100 /
                           ((uint64_t)EPOCHS * PATIENCE_EPOCH_NS);
        CHECK(percent >= least && percent <= most);
    }
}

/* The load has changed: does the record follow? */
static void expect_change(void)
{
    struct patience_record record = {0};
    patient_ns(&record, (struct load){100, 300}, 4000);
    CHECK(record.patient);
    patient_ns(&record, (struct load){300, 100}, 4000);
    CHECK(patient_ns(&record, (struct load){300, 100}, 4000) <
          (uint64_t)EPOCHS * PATIENCE_EPOCH_NS / 50);
}

int main(void)
{
    expect_percent((struct load){100, 300}, 97, 100);
    expect_percent((struct load){300, 100}, 0, 4);
    expect_percent((struct load){300, 1}, 0, 4);
    expect_percent((struct load){200, 200}, 0, 4); /* no gain: as it was */
    expect_percent((struct load){WORTHWHILE / 2, WORTHWHILE * 2}, 0, 0);
    expect_change();
    return 0;
}
