/* The repair of bad memory: retired pages before Ampere, remapped rows from Ampere on. */
#include "sim_call.h"

/* nvml.h 13.3, nvmlPageRetirementCause_t: 0 several single-bit errors, 1 a double-bit error. */
static int64_t retired(const sim_gpu_t *gpu, unsigned cause)
{
    return cause == 0 ? gpu->retired_sbe : gpu->retired_dbe;
}

/* Addresses are made up but stay the same: a page number per cause. Times as far as known: 0. */
static nvmlReturn_t pages(const sim_call_t *call, unsigned cause, unsigned *count,
                          unsigned long long *addresses, unsigned long long *times)
{
    SIM_NEED(count)
    if (cause > 1) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    int64_t total = retired(call->gpu, cause);
    if (total == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    *count = sim_list_count(call, (unsigned)total, call->capacity);
    if (call->capacity < total) {
        return NVML_ERROR_INSUFFICIENT_SIZE;
    }
    for (unsigned i = 0; i < (unsigned)total; i++) {
        addresses[i] = (cause + 1) * 0x100000ULL + i * 0x1000ULL;
        if (times) {
            times[i] = 0;
        }
    }
    return NVML_SUCCESS;
}

SIM_LIST(nvmlDeviceGetRetiredPages, 0, count ? *count : 0,
         (unsigned cause, unsigned *count, unsigned long long *addresses), (cause, count, addresses))
{
    return pages(call, cause, count, addresses, NULL);
}

SIM_LIST(nvmlDeviceGetRetiredPages_v2, 0, count ? *count : 0,
         (unsigned cause, unsigned *count, unsigned long long *addresses, unsigned long long *times),
         (cause, count, addresses, times))
{
    return pages(call, cause, count, addresses, times);
}

SIM_GET_U32(nvmlDeviceGetRetiredPagesPendingStatus, 0, gpu->retired_pending)

SIM_DEVICE(nvmlDeviceGetRemappedRows, 0,
           (unsigned *corrected, unsigned *uncorrected, unsigned *pending, unsigned *failure),
           (corrected, uncorrected, pending, failure))
{
    const sim_gpu_t *gpu = call->gpu;
    nvmlReturn_t result = sim_put_u32(call, gpu->remap_corr, corrected);
    if (result != NVML_SUCCESS) {
        return result;
    }
    SIM_NEED(uncorrected && pending && failure)
    *uncorrected = sim_u32(call, gpu->remap_unc);
    *pending = sim_u32(call, gpu->remap_pending);
    *failure = sim_u32(call, gpu->remap_failure);
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetRemappedRows_v2, 0, (nvmlRemappedRowsInfo_v2_t * info), (info))
{
    const sim_gpu_t *gpu = call->gpu;
    SIM_NEED(info)
    if (gpu->remap_corr == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    info->corrActiveRemaps = sim_u32(call, gpu->remap_corr);
    info->corrInactiveRemaps = sim_u32(call, gpu->remap_corr_inactive);
    info->uncActiveRemaps = sim_u32(call, gpu->remap_unc);
    info->uncInactiveRemaps = sim_u32(call, gpu->remap_unc_inactive);
    info->bPending = sim_u32(call, gpu->remap_pending);
    info->bFailureOccurred = sim_u32(call, gpu->remap_failure);
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetRowRemapperHistogram, 0, (nvmlRowRemapperHistogramValues_t * banks), (banks))
{
    const int64_t *histogram = call->gpu->remap_histogram;
    SIM_NEED(banks)
    if (histogram[0] == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    banks->max = sim_u32(call, histogram[0]);
    banks->high = sim_u32(call, histogram[1]);
    banks->partial = sim_u32(call, histogram[2]);
    banks->low = sim_u32(call, histogram[3]);
    banks->none = sim_u32(call, histogram[4]);
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetRepairStatus, 0, (nvmlRepairStatus_v1_t * status), (status))
{
    SIM_NEED(status)
    if (status->version != nvmlRepairStatus_v1) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    if (call->gpu->repair_channel_pending == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    status->bChannelRepairPending = sim_u32(call, call->gpu->repair_channel_pending);
    status->bTpcRepairPending = sim_u32(call, call->gpu->repair_tpc_pending);
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetUnrepairableMemoryFlag_v1, 0, (nvmlUnrepairableMemory_v1_t * flag), (flag))
{
    SIM_NEED(flag)
    if (flag->version != nvmlUnrepairableMemory_v1) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    return sim_put_u32(call, call->gpu->unrepairable_memory, &flag->unrepairableMemory);
}
