#ifndef GPUWARDEN_SIM_PROCESS_H
#define GPUWARDEN_SIM_PROCESS_H

#include "sim_call.h"

/* Returns whether the process runs on the call's GPU or MIG device with this type. */
bool sim_process_belongs(const sim_call_t *call, const sim_process_t *process, int64_t type);

/*
 * The next process from place `*at` on, and the place after it: the table's first, then those that use libcuda.
 * `room` receives the latter. NULL at the end.
 */
const sim_process_t *sim_next_process(const sim_table_t *table, int *at, sim_process_t *room);

#endif
