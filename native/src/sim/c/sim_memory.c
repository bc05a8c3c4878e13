/* Frame buffer, BAR1 and protected memory, of a GPU or of a MIG device. */
#include "sim_call.h"
#include "sim_client.h"

static sim_memory_t frame_buffer(const sim_call_t *call)
{
    int mig = call->mig ? (int)(call->mig - call->gpu->mig) : SIM_ALL;
    return sim_gpu_memory(call->table, call->slot, mig);
}

SIM_DEVICE(nvmlDeviceGetMemoryInfo, SIM_MIG_TOO, (nvmlMemory_t * memory), (memory))
{
    sim_memory_t fb = frame_buffer(call);
    SIM_NEED(memory)
    if (fb.total == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    memory->total = sim_u64(call, fb.total);
    memory->free = sim_u64(call, fb.free);
    memory->used = sim_u64(call, fb.used + fb.reserved);
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetMemoryInfo_v2, SIM_MIG_TOO, (nvmlMemory_v2_t * memory), (memory))
{
    sim_memory_t fb = frame_buffer(call);
    SIM_NEED(memory)
    if (memory->version != nvmlMemory_v2) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    if (fb.total == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    memory->total = sim_u64(call, fb.total);
    memory->reserved = sim_u64(call, fb.reserved);
    memory->free = sim_u64(call, fb.free);
    memory->used = sim_u64(call, fb.used);
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetBAR1MemoryInfo, SIM_MIG_TOO, (nvmlBAR1Memory_t * memory), (memory))
{
    int64_t total = call->mig ? call->mig->bar1_total : call->gpu->bar1_total;
    int64_t used = call->mig ? call->mig->bar1_used : call->gpu->bar1_used;
    SIM_NEED(memory)
    if (total == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    memory->bar1Total = sim_u64(call, total);
    memory->bar1Free = sim_u64(call, total - used);
    memory->bar1Used = sim_u64(call, used);
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetConfComputeProtectedMemoryUsage, 0, (nvmlMemory_t * memory), (memory))
{
    const sim_gpu_t *gpu = call->gpu;
    SIM_NEED(memory)
    if (gpu->cc_protected_total == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    memory->total = sim_u64(call, gpu->cc_protected_total);
    memory->free = sim_u64(call, gpu->cc_protected_total - gpu->cc_protected_used);
    memory->used = sim_u64(call, gpu->cc_protected_used);
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetConfComputeMemSizeInfo, 0, (nvmlConfComputeMemSizeInfo_t * info), (info))
{
    const sim_gpu_t *gpu = call->gpu;
    SIM_NEED(info)
    if (gpu->cc_protected_total == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    info->protectedMemSizeKib = sim_u64(call, gpu->cc_protected_total / 1024);
    info->unprotectedMemSizeKib =
        sim_u64(call, (gpu->mem_total - gpu->cc_protected_total) / 1024);
    return NVML_SUCCESS;
}
