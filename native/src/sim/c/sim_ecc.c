/* ECC mode and error counters. */
#include <string.h>

#include "sim_call.h"

SIM_GET_U32_PAIR(nvmlDeviceGetEccMode, 0, gpu->ecc_current, gpu->ecc_pending)
SIM_GET_U32(nvmlDeviceGetDefaultEccMode, 0, gpu->ecc_current == SIM_NA ? SIM_NA : gpu->ecc_default)

/* Counters exist only while ECC is on. */
static bool off(const sim_gpu_t *gpu)
{
    return gpu->ecc_current != 1;
}

SIM_DEVICE(nvmlDeviceGetTotalEccErrors, 0,
           (unsigned type, unsigned counter, unsigned long long *count), (type, counter, count))
{
    if (type >= NVML_ERROR_TYPE_COUNT || counter >= NVML_ECC_COUNTER_COUNT) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    return off(call->gpu) ? NVML_ERROR_NOT_SUPPORTED
                          : sim_put_u64(call, call->gpu->ecc_total[type * 2 + counter], count);
}

SIM_DEVICE(nvmlDeviceGetMemoryErrorCounter, 0,
           (unsigned type, unsigned counter, unsigned location, unsigned long long *count),
           (type, counter, location, count))
{
    if (type >= NVML_ERROR_TYPE_COUNT || counter >= NVML_ECC_COUNTER_COUNT
        || location >= NVML_LOCATION_COUNT) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    return off(call->gpu)
               ? NVML_ERROR_NOT_SUPPORTED
               : sim_put_u64(call, call->gpu->ecc_location[(type * 2 + counter) * 8 + location],
                             count);
}

SIM_DEVICE(nvmlDeviceGetDetailedEccErrors, 0,
           (unsigned type, unsigned counter, nvmlEccErrorCounts_t *counts), (type, counter, counts))
{
    SIM_NEED(counts)
    if (type >= NVML_ERROR_TYPE_COUNT || counter >= NVML_ECC_COUNTER_COUNT) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    const int64_t *at = &call->gpu->ecc_location[(type * 2 + counter) * 8];
    if (off(call->gpu) || at[NVML_LOCATION_DRAM] == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    counts->l1Cache = sim_u64(call, at[NVML_LOCATION_L1]);
    counts->l2Cache = sim_u64(call, at[NVML_LOCATION_L2]);
    counts->deviceMemory = sim_u64(call, at[NVML_LOCATION_DRAM]);
    counts->registerFile = sim_u64(call, at[NVML_LOCATION_REGISTER_FILE]);
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetSramEccErrorStatus, 0, (nvmlEccSramErrorStatus_v1_t * status), (status))
{
    const sim_gpu_t *gpu = call->gpu;
    SIM_NEED(status)
    if (status->version != nvmlEccSramErrorStatus_v1) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    if (gpu->sram_aggregate[0] == SIM_NA || off(gpu)) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    status->aggregateUncParity = sim_u64(call, gpu->sram_aggregate[0]);
    status->aggregateUncSecDed = sim_u64(call, gpu->sram_aggregate[1]);
    status->aggregateCor = sim_u64(call, gpu->sram_aggregate[2]);
    status->volatileUncParity = sim_u64(call, gpu->sram_volatile[0]);
    status->volatileUncSecDed = sim_u64(call, gpu->sram_volatile[1]);
    status->volatileCor = sim_u64(call, gpu->sram_volatile[2]);
    status->aggregateUncBucketL2 = sim_u64(call, gpu->sram_bucket[0]);
    status->aggregateUncBucketSm = sim_u64(call, gpu->sram_bucket[1]);
    status->aggregateUncBucketPcie = sim_u64(call, gpu->sram_bucket[2]);
    status->aggregateUncBucketMcu = sim_u64(call, gpu->sram_bucket[3]);
    status->aggregateUncBucketOther = sim_u64(call, gpu->sram_bucket[4]);
    status->bThresholdExceeded = sim_u32(call, gpu->sram_threshold_exceeded);
    return NVML_SUCCESS;
}
