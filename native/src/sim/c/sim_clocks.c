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
