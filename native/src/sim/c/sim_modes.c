/* Modes and small switches. */
#include "sim_call.h"

SIM_GET_U32(nvmlDeviceGetPersistenceMode, SIM_IDENTITY, gpu->persistence)
SIM_GET_U32(nvmlDeviceGetDisplayMode, 0, gpu->display_mode)
SIM_GET_U32(nvmlDeviceGetDisplayActive, 0, gpu->display_active)
SIM_GET_U32(nvmlDeviceGetComputeMode, 0, gpu->compute_mode)
SIM_GET_U32(nvmlDeviceGetAccountingMode, 0, gpu->accounting)
SIM_GET_U32(nvmlDeviceGetAccountingBufferSize, 0,
            gpu->accounting == SIM_NA ? SIM_NA : gpu->accounting_buffer)
SIM_GET_U64(nvmlDeviceGetSupportedEventTypes, 0, gpu->events_supported)

SIM_GET_U32(nvmlDeviceGetVirtualizationMode, 0, gpu->virtualization)

SIM_DEVICE(nvmlDeviceGetGridLicensableFeatures_v4, 0, (nvmlGridLicensableFeatures_t * features), (features))
{
    const sim_gpu_t *gpu = call->gpu;
    SIM_NEED(features)
    features->isGridLicenseSupported = gpu->vgpu_licensable > 0;
    features->licensableFeaturesCount = sim_u32(call, gpu->vgpu_licensable);
    /* Entries beyond the count stay as the caller had them. */
    for (int i = 0; i < 3 && i < gpu->vgpu_licensable; i++) {
        features->gridLicensableFeatures[i].featureCode = 1; /* vGPU */
        features->gridLicensableFeatures[i].featureState = i < gpu->vgpu_licensed;
    }
    return NVML_SUCCESS;
}

SIM_DEVICE(nvmlDeviceGetC2cModeInfoV, 0, (nvmlC2cModeInfo_v1_t * info), (info))
{
    SIM_NEED(info)
    return sim_put_u32(call, call->gpu->c2c_enabled, &info->isC2cEnabled);
}

/* Drain state is asked for by PCI address, for a GPU that may have no handle any more. */
SIM_SYSTEM(nvmlDeviceQueryDrainState, (const nvmlPciInfo_t *pci, unsigned *state), (pci, state))
{
    SIM_NEED(pci)
    for (int slot = 0; slot < SIM_GPU_MAX && slot < call->table->header->gpu_count; slot++) {
        const sim_gpu_t *gpu = &call->table->gpu[slot];
        if (gpu->pci_domain == pci->domain && gpu->pci_bus == pci->bus
            && gpu->pci_device == pci->device) {
            return sim_put_u32(call, gpu->drain_state, state);
        }
    }
    return NVML_ERROR_NOT_FOUND;
}

SIM_DEVICE(nvmlDeviceGetPlatformInfo, SIM_IDENTITY, (nvmlPlatformInfo_v2_t * info), (info))
{
    const sim_gpu_t *gpu = call->gpu;
    SIM_NEED(info)
    if (info->version != nvmlPlatformInfo_v2 && info->version != nvmlPlatformInfo_v1) {
        return NVML_ERROR_ARGUMENT_VERSION_MISMATCH;
    }
    if (gpu->platform_slot == SIM_NA) {
        return NVML_ERROR_NOT_SUPPORTED;
    }
    sim_parse_hex(gpu->platform_ib_guid, info->ibGuid);
    for (size_t i = 0; i < sizeof info->chassisSerialNumber; i++) {
        info->chassisSerialNumber[i] = (unsigned char)gpu->platform_chassis[i];
    }
    info->slotNumber = (unsigned char)gpu->platform_slot;
    info->trayIndex = (unsigned char)gpu->platform_tray;
    info->hostId = (unsigned char)gpu->platform_host;
    info->peerType = (unsigned char)gpu->platform_peer;
    info->moduleId = (unsigned char)gpu->platform_module;
    return NVML_SUCCESS;
}
