/* SPDX-License-Identifier: MIT */
#include "platform/native/rtm.h"

#include "elision/backend.h"
#include "elision/policy.h"

static uint32_t begin(void)
{
    return rtm_begin();
}

static void commit(void)
{
    rtm_commit();
}

static void abort_with(uint8_t code)
{
    switch (code) {
    case ELISION_BUSY:
        rtm_abort(ELISION_BUSY);
        break;
    case ELISION_TRYLOCK:
        rtm_abort(ELISION_TRYLOCK);
        break;
    case ELISION_WAIT:
        rtm_abort(ELISION_WAIT);
        break;
    default:
        rtm_abort(ELISION_RELOCK);
    }
}

const struct elision_backend elision_rtm = {
    .name = "rtm",
    .offered = true,
    .begin = begin,
    .commit = commit,
    .abort = abort_with,
};

const struct elision_backend elision_never = {.name = "never"};

/* Virtual machines and emulators may list RTM and abort every transaction. */
struct elision_probe elision_probe(void)
{
    struct elision_probe probe = {.hardware = ELISION_NO_RTM};
    enum rtm_listing listing = rtm_listed();
    if (listing != RTM_LISTED) {
        if (listing == RTM_ALWAYS_ABORT)
            probe.hardware = ELISION_RTM_DISABLED;
        return probe;
    }
    for (int i = 0; i < ELISION_PROBES; i++) {
        uint32_t status = rtm_begin();
        if (status == HTM_STARTED) {
            rtm_commit();
            probe.commits++;
        } else {
            probe.last_abort = status;
        }
    }
    probe.hardware = probe.commits ? ELISION_RTM_WORKS : ELISION_RTM_FAILS;
    return probe;
}

const char *elision_hardware_text(enum elision_hardware hardware)
{
    static const char *const texts[] = {
        [ELISION_NO_RTM] = "this processor offers no hardware transactions (RTM)",
        [ELISION_RTM_DISABLED] = "hardware transactions (RTM) are disabled: this "
                                 "processor aborts all of them",
        [ELISION_RTM_FAILS] = "this processor lists hardware transactions (RTM), but "
                              "aborts all of them",
        [ELISION_RTM_WORKS] = "hardware transactions (RTM) work",
    };
    return texts[hardware];
}
