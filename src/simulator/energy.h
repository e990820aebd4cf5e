/* SPDX-License-Identifier: MIT */
#ifndef HASP_SIMULATOR_ENERGY_H
#define HASP_SIMULATOR_ENERGY_H

/* Adds the energy of a finished run to the total. */
void energy_close_run(void);

#endif
