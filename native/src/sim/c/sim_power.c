/* Power in milliwatts, energy in millijoules. */
#include "sim_power.h"

SIM_GET_U32(nvmlDeviceGetPowerUsage, 0, gpu->power_usage)
SIM_GET_U32(nvmlDeviceGetPowerManagementLimit, 0, gpu->power_limit)
SIM_GET_U32(nvmlDeviceGetEnforcedPowerLimit, 0, gpu->power_enforced)
SIM_GET_U32(nvmlDeviceGetPowerManagementDefaultLimit, 0, gpu->power_default)
SIM_GET_U32_PAIR(nvmlDeviceGetPowerManagementLimitConstraints, 0, gpu->power_min, gpu->power_max)
SIM_GET_U32(nvmlDeviceGetPowerManagementMode, 0, gpu->power_limit == SIM_NA ? SIM_NA : 1)
SIM_GET_U32(nvmlDeviceGetPowerSource, 0, gpu->power_usage == SIM_NA ? SIM_NA : 0)
SIM_GET_U32(nvmlDeviceGetPowerState, 0, gpu->pstate)
SIM_GET_U64(nvmlDeviceGetTotalEnergyConsumption, 0, sim_energy_mj(call->table, gpu))

int64_t sim_energy_mj(const sim_table_t *table, const sim_gpu_t *gpu)
{
    if (gpu->energy_mj == SIM_NA || gpu->energy_epoch_ns == 0 || gpu->power_usage == SIM_NA
        || table->header->frozen_time_ns != 0) {
        return gpu->energy_mj;
    }
    int64_t elapsed_ms = (sim_now_ns(table) - gpu->energy_epoch_ns) / 1000000;
    return gpu->energy_mj + gpu->power_usage * elapsed_ms / 1000;
}
