/* SPDX-License-Identifier: MIT */
#ifndef HASP_SIMULATOR_ENERGY_H
#define HASP_SIMULATOR_ENERGY_H

/* The threads of a run have ended: their energy goes to the account. */
void energy_close_run(void);

#endif
