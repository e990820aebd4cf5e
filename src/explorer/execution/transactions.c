/* SPDX-License-Identifier: MIT */
/*
 * Hardware transactions (platform/htm.h) on the checked platform. One that commits is
 * indivisible, between two full fences, which Intel's have; one that aborts has no
 * effect. So the search chooses at the beginning: commit, or abort with a status. A
 * transaction that was to commit and aborts explicitly is a run that cannot be; another
 * run has its abort.
 *
 * An indivisible transaction reads any value that weak memory allows. So it may find
 * the word of a held lock to be 0 unless the holder has executed a full fence after its
 * store, just as a store of an x86-64 processor may still be in the store buffer.
 */
#include "explorer/base/coroutine.h"
#include "explorer/base/model.h"
#include "explorer/base/verdict.h"
#include "explorer/execution/services.h"
#include "explorer/memory/locations.h"
#include "platform/htm.h"

#include <string.h>

static const uint32_t statuses[] = {HTM_STARTED, HTM_CAPACITY,
                                    HTM_CONFLICT | HTM_RETRY};
enum { STATUSES = sizeof statuses / sizeof statuses[0] };

static uint64_t words[THREADS][HTM_THREAD_WORDS];

static uint8_t *depth_of_running(void)
{
    return &model.thread[model.running].transaction;
}

bool htm_offered(void)
{
    return true;
}

bool htm_emulated(void)
{
    return false;
}

void *htm_thread(void)
{
    return words[model.running];
}

void htm_thread_begins(void)
{
}

unsigned htm_depth(void)
{
    return *depth_of_running();
}

uint32_t htm_begin(void)
{
    if (*depth_of_running()) {
        ++*depth_of_running();
        return HTM_STARTED;
    }
    uint32_t status = statuses[choose(STATUSES)];
    if (status == HTM_STARTED) {
        *depth_of_running() = 1;
        checked_fence(__func__);
    }
    return status;
}

void htm_commit(void)
{
    if (!*depth_of_running())
        fail("transaction", "a thread commits outside a transaction");
    if (*depth_of_running() == 1)
        checked_fence(__func__);
    --*depth_of_running();
}

void htm_abort(uint8_t code)
{
    (void)code;
    if (!*depth_of_running())
        fail("transaction", "a thread aborts outside a transaction");
    verdict.pruned = true;
    while (true)
        coroutine_yield();
}
