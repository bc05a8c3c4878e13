#ifndef GPUWARDEN_SIM_POWER_H
#define GPUWARDEN_SIM_POWER_H

#include "sim_call.h"

/* The counter as it stands now: it grows with the power draw, unless time is frozen. */
int64_t sim_energy_mj(const sim_table_t *table, const sim_gpu_t *gpu);

#endif
