/*
 * The file of a GPU, which a process holds open while it uses the GPU: `nvidiaN` beside the table, N the minor number, as /dev/nvidiaN
 * of a real GPU. The kernel closes it with the process, however that ends. A child of fork has it too until it calls exec or ends, as
 * with real drivers.
 */
#ifndef GPUWARDEN_SIM_HELD_H
#define GPUWARDEN_SIM_HELD_H

#include "sim_state.h"

/* The descriptors of one library in a process, as measured with NVML of 580.159.04: one by init, two more by the first handle. */
enum { SIM_HELD_BY_INIT = 1, SIM_HELD_MAX = 3 };

/*
 * Opens the GPU's file until this library has it open so many times. Nothing is held where the file is missing, as in pods without it.
 * Returns false if this thread may not open it.
 */
bool sim_hold(const sim_table_t *table, int slot, int times);
/* Closes all files of GPUs that this library holds. */
void sim_let_go(void);

#endif
