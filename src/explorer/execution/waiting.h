/* SPDX-License-Identifier: MIT */
/* The steps by which a thread waits, and by which others wake it. */
#ifndef HASP_EXPLORER_EXECUTION_WAITING_H
#define HASP_EXPLORER_EXECUTION_WAITING_H

#include "explorer/base/counterexample.h"
#include "explorer/base/model.h"

/* Ways in which a waiting loop may continue. */
enum { PASS_CHANGED, PASS_SPIN, PASS_DEADLINE, PASS_CLOCK, PASS_FORCED };

/* Ways in which a sleep may end without an unpark. */
enum { WAKE_NONE, WAKE_TIMEOUT, WAKE_SPURIOUS };

unsigned relax_choices(const struct thread *thread, uint16_t *choices);
unsigned parking_choices(const struct thread *thread, uint16_t cell, uint16_t *choices);
unsigned sleep_choices(const struct thread *thread, uint16_t *choices);
unsigned unpark_choices(const struct request *request, uint16_t *choices);
unsigned requeue_choices(const struct thread *thread, uint16_t *choices);

void perform_relax(int index, uint16_t choice);
/* Returns whether the thread continues; otherwise it sleeps. */
bool perform_park(struct thread *thread, uint16_t choice,
                  struct counterexample_step *step);
void perform_wakeup(struct thread *thread, uint16_t choice,
                    struct counterexample_step *step);
void perform_unpark(struct thread *thread, uint16_t choice,
                    struct counterexample_step *step);
void perform_requeue(struct thread *thread, uint16_t choice,
                     struct counterexample_step *step);

#endif
