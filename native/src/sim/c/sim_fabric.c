/* Membership in an NVLink fabric. A part without one returns SUCCESS and state 0 NOT_SUPPORTED. */
#include "sim_call.h"

static unsigned char fabric_state(const sim_gpu_t *gpu)
{
    return gpu->fabric_state == SIM_NA ? NVML_FABRIC_STATE_NOT_SUPPORTED : (unsigned char)gpu->fabric_state;
}

SIM_DEVICE(nvmlDeviceGetGpuFabricInfo, 0, (nvmlGpuFabricInfo_t * info), (info))
{
    const sim_gpu_t *gpu = call->gpu;
    SIM_NEED(info)
    sim_parse_hex(gpu->fabric_cluster_uuid, info->clusterUuid);
    info->status = (nvmlReturn_t)gpu->fabric_status;
    info->cliqueId = sim_u32(call, gpu->fabric_clique);
    info->state = fabric_state(gpu);
    return NVML_SUCCESS;
}

/* Version 2 came with the call in 550, version 3 after it. Only version 3 has room for a summary. */
SIM_DEVICE(nvmlDeviceGetGpuFabricInfoV, 0, (nvmlGpuFabricInfo_v3_t * info), (info))
{
    const sim_gpu_t *gpu = call->gpu;
    SIM_NEED(info)
    bool third = info->version == nvmlGpuFabricInfo_v3 && sim_driver_major() >= 580;
    if (!third && info->version != nvmlGpuFabricInfo_v2) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    sim_parse_hex(gpu->fabric_cluster_uuid, info->clusterUuid);
    info->status = (nvmlReturn_t)gpu->fabric_status;
    info->cliqueId = sim_u32(call, gpu->fabric_clique);
    info->state = fabric_state(gpu);
    info->healthMask = sim_u32(call, gpu->fabric_health_mask);
    if (third) {
        info->healthSummary = (unsigned char)gpu->fabric_health_summary;
    }
    return NVML_SUCCESS;
}
