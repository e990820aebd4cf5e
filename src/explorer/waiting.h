/* SPDX-License-Identifier: MIT */
/* The steps by which a thread waits, and by which it is woken. */
#ifndef HASP_EXPLORER_WAITING_H
#define HASP_EXPLORER_WAITING_H

#include "explorer/model.h"
#include "explorer/trail.h"

enum { WAKE_NOW, WAKE_TIMEOUT, WAKE_SPURIOUS };

unsigned relax_choices(const struct thread *thread, uint16_t *choices);
unsigned parking_choices(const struct thread *thread, uint16_t cell, uint16_t *choices);
unsigned unpark_choices(const struct request *request, uint16_t *choices);
unsigned requeue_choices(const struct thread *thread, uint16_t *choices);

void perform_relax(int index, uint16_t choice);
bool perform_park(struct thread *thread, uint16_t choice, struct trail_step *step);
void perform_unpark(struct thread *thread, uint16_t choice, struct trail_step *step);
void perform_requeue(struct thread *thread, uint16_t choice, struct trail_step *step);

#endif
