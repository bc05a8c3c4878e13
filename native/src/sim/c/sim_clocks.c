/* Clocks in MHz, performance state, and why clocks are low. Unknown on a MIG device. */
#include "sim_call.h"

static nvmlReturn_t pick(const sim_call_t *call, const int64_t *clocks, unsigned type, unsigned *mhz)
{
    return type < NVML_CLOCK_COUNT ? sim_put_u32(call, clocks[type], mhz)
                                   : NVML_ERROR_INVALID_ARGUMENT;
}

#define CLOCK(name, member)                                                \
    SIM_DEVICE(name, 0, (unsigned type, unsigned *mhz), (type, mhz))       \
    {                                                                      \
        return pick(call, call->gpu->member, type, mhz);                   \
    }

CLOCK(nvmlDeviceGetClockInfo, clock)
CLOCK(nvmlDeviceGetMaxClockInfo, clock_max)
CLOCK(nvmlDeviceGetApplicationsClock, clock_app)
CLOCK(nvmlDeviceGetDefaultApplicationsClock, clock_app_default)
CLOCK(nvmlDeviceGetMaxCustomerBoostClock, clock_boost)

SIM_DEVICE(nvmlDeviceGetClock, 0, (unsigned type, unsigned id, unsigned *mhz), (type, id, mhz))
{
    const sim_gpu_t *gpu = call->gpu;
    const int64_t *clocks[] = {gpu->clock, gpu->clock_app, gpu->clock_app_default, gpu->clock_boost};
    return id <= NVML_CLOCK_ID_BOOST ? pick(call, clocks[id], type, mhz)
                                     : NVML_ERROR_INVALID_ARGUMENT;
}

SIM_GET_U32(nvmlDeviceGetPerformanceState, 0, gpu->pstate)
SIM_GET_U64(nvmlDeviceGetCurrentClocksEventReasons, 0, gpu->clock_reasons)
SIM_GET_U64(nvmlDeviceGetCurrentClocksThrottleReasons, 0, gpu->clock_reasons)
SIM_GET_U64(nvmlDeviceGetSupportedClocksEventReasons, 0, gpu->clock_reasons_supported)
SIM_GET_U64(nvmlDeviceGetSupportedClocksThrottleReasons, 0, gpu->clock_reasons_supported)

/* Reference time is when the counter was read, in microseconds; the counter is nanoseconds. */
SIM_DEVICE(nvmlDeviceGetViolationStatus, 0, (unsigned policy, nvmlViolationTime_t *time),
           (policy, time))
{
    SIM_NEED(time)
    if (policy >= NVML_PERF_POLICY_COUNT) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if (call->gpu->violation_ns[policy] == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    time->referenceTime = (unsigned long long)(sim_now_ns(call->table) / 1000);
    time->violationTime = sim_u64(call, call->gpu->violation_ns[policy]);
    return NVML_SUCCESS;
}

/* ---- clocks to choose from --------------------------------------------------------------------- */

/* A part has its highest memory clock to choose; slower ones are not in the table. */
SIM_LIST(nvmlDeviceGetSupportedMemoryClocks, 0, count ? *count : 0, (unsigned *count, unsigned *mhz), (count, mhz))
{
    SIM_NEED(count)
    if (call->gpu->clock_max[NVML_CLOCK_MEM] == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    *count = 1;
    if (call->capacity < 1 || !mhz) {
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    return sim_put_u32(call, call->gpu->clock_max[NVML_CLOCK_MEM], mhz);
}

enum { STEP_MHZ = 15 };

SIM_LIST(nvmlDeviceGetSupportedGraphicsClocks, 0, count ? *count : 0,
         (unsigned memory_mhz, unsigned *count, unsigned *mhz), (memory_mhz, count, mhz))
{
    const sim_gpu_t *gpu = call->gpu;
    int64_t highest = gpu->clock_max[NVML_CLOCK_GRAPHICS], lowest = gpu->clock_min;
    SIM_NEED(count)
    if (highest == SIM_NA || lowest == SIM_NA || lowest > highest) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    if (memory_mhz != gpu->clock_max[NVML_CLOCK_MEM]) {
        return NVML_ERROR_NOT_FOUND;
    }
    *count = (unsigned)((highest - lowest) / STEP_MHZ) + 1;
    if (call->capacity < *count || !mhz) {
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    for (unsigned i = 0; i < *count; i++) {
        mhz[i] = (unsigned)highest - i * STEP_MHZ;
    }
    return NVML_SUCCESS;
}
