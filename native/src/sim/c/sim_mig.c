/* MIG mode and MIG devices. */
#include <string.h>

#include "sim_call.h"

SIM_GET_U32_PAIR(nvmlDeviceGetMigMode, SIM_IDENTITY, gpu->mig_current, gpu->mig_pending)

/* 0 on a part without MIG, so that a caller's loop does nothing. */
SIM_GET_U32(nvmlDeviceGetMaxMigDeviceCount, SIM_IDENTITY, gpu->mig_current == SIM_NA ? 0 : SIM_MIG_MAX)

SIM_DEVICE(nvmlDeviceIsMigDeviceHandle, SIM_IDENTITY | SIM_MIG_TOO, (unsigned *is), (is))
{
    return sim_put_u32(call, call->mig != NULL, is);
}

/* NOT_FOUND is a hole: callers go on with the next index. */
SIM_DEVICE(nvmlDeviceGetMigDeviceHandleByIndex, SIM_IDENTITY, (unsigned index, nvmlDevice_t *mig),
           (index, mig))
{
    SIM_NEED(mig)
    if (call->gpu->mig_current == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    if (index >= SIM_MIG_MAX) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    if (call->gpu->mig_current != 1 || !call->gpu->mig[index].present) {
        return NVML_ERROR_NOT_FOUND;
    }
    *mig = sim_mig_handle(call->slot, (int)index);
    return NVML_SUCCESS;
}

#define MIG_ONLY (SIM_IDENTITY | SIM_MIG_TOO)

SIM_DEVICE(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, MIG_ONLY, (nvmlDevice_t * parent), (parent))
{
    SIM_NEED(parent)
    if (!call->mig) {
        return NVML_ERROR_INVALID_ARGUMENT;
    }
    *parent = sim_gpu_handle(call->slot);
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetGpuInstanceId, MIG_ONLY, (unsigned *id), (id))
{
    return call->mig ? sim_put_u32(call, call->mig->gi, id) : NVML_ERROR_NOT_SUPPORTED;
}

SIM_DEVICE(nvmlDeviceGetComputeInstanceId, MIG_ONLY, (unsigned *id), (id))
{
    return call->mig ? sim_put_u32(call, call->mig->ci, id) : NVML_ERROR_NOT_SUPPORTED;
}

static nvmlReturn_t attributes(const sim_call_t *call, nvmlDeviceAttributes_t *out)
{
    const sim_mig_t *mig = call->mig;
    SIM_NEED(out)
    if (!mig || mig->multiprocessors == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    memset(out, 0, sizeof *out);
    out->multiprocessorCount = sim_u32(call, mig->multiprocessors);
    out->sharedCopyEngineCount = sim_u32(call, mig->copy_engines);
    out->sharedDecoderCount = sim_u32(call, mig->decoders);
    out->sharedEncoderCount = sim_u32(call, mig->encoders);
    out->sharedJpegCount = sim_u32(call, mig->jpegs);
    out->sharedOfaCount = sim_u32(call, mig->ofas);
    out->gpuInstanceSliceCount = sim_u32(call, mig->gi_slices);
    out->computeInstanceSliceCount = sim_u32(call, mig->ci_slices);
    out->memorySizeMB = sim_u64(call, mig->attribute_mem_mb);
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetAttributes, MIG_ONLY, (nvmlDeviceAttributes_t * out), (out))
{
    return attributes(call, out);
}

SIM_DEVICE(nvmlDeviceGetAttributes_v2, MIG_ONLY, (nvmlDeviceAttributes_t * out), (out))
{
    return attributes(call, out);
}
