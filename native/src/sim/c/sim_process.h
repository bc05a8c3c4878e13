#ifndef GPUWARDEN_SIM_PROCESS_H
#define GPUWARDEN_SIM_PROCESS_H

#include "sim_call.h"

/* Returns whether the process runs on the call's GPU or MIG device with this type. */
bool sim_process_belongs(const sim_call_t *call, const sim_process_t *process, int64_t type);

#endif
