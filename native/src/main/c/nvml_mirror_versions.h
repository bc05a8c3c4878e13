/* Version words: sizeof | version << 24. A plain 2 is refused by the library. */
#ifndef GPUWARDEN_NVML_MIRROR_VERSIONS_H
#define GPUWARDEN_NVML_MIRROR_VERSIONS_H

#define NVML_VERSION_WORD(type, version) ((unsigned)(sizeof(type) | ((unsigned)(version) << 24)))


#define nvmlMemory_v2 NVML_VERSION_WORD(nvmlMemory_v2_t, 2)
#define nvmlPciInfoExt_v1 NVML_VERSION_WORD(nvmlPciInfoExt_v1_t, 1)
#define nvmlProcessDetailList_v1 NVML_VERSION_WORD(nvmlProcessDetailList_v1_t, 1)
#define nvmlGpuFabricInfo_v2 NVML_VERSION_WORD(nvmlGpuFabricInfo_v2_t, 2)
#define nvmlGpuFabricInfo_v3 NVML_VERSION_WORD(nvmlGpuFabricInfo_v3_t, 3)
#define nvmlTemperature_v1 NVML_VERSION_WORD(nvmlTemperature_v1_t, 1)
#define nvmlMarginTemperature_v1 NVML_VERSION_WORD(nvmlMarginTemperature_v1_t, 1)
#define nvmlEccSramErrorStatus_v1 NVML_VERSION_WORD(nvmlEccSramErrorStatus_v1_t, 1)
#define nvmlPlatformInfo_v1 NVML_VERSION_WORD(nvmlPlatformInfo_v1_t, 1)
#define nvmlPlatformInfo_v2 NVML_VERSION_WORD(nvmlPlatformInfo_v2_t, 2)
#define nvmlSystemConfComputeSettings_v1 NVML_VERSION_WORD(nvmlSystemConfComputeSettings_v1_t, 1)
#define nvmlNvLinkInfo_v1 NVML_VERSION_WORD(nvmlNvLinkInfo_v1_t, 1)
#define nvmlNvLinkInfo_v2 NVML_VERSION_WORD(nvmlNvLinkInfo_v2_t, 2)
#define nvmlGpuInstanceProfileInfo_v2 NVML_VERSION_WORD(nvmlGpuInstanceProfileInfo_v2_t, 2)
#define nvmlGpuInstanceProfileInfo_v3 NVML_VERSION_WORD(nvmlGpuInstanceProfileInfo_v3_t, 3)
#define nvmlComputeInstanceProfileInfo_v2 NVML_VERSION_WORD(nvmlComputeInstanceProfileInfo_v2_t, 2)
#define nvmlComputeInstanceProfileInfo_v3 NVML_VERSION_WORD(nvmlComputeInstanceProfileInfo_v3_t, 3)
#define nvmlProcessesUtilizationInfo_v1 NVML_VERSION_WORD(nvmlProcessesUtilizationInfo_v1_t, 1)
#define nvmlUUID_v1 NVML_VERSION_WORD(nvmlUUID_v1_t, 1)
#define nvmlRepairStatus_v1 NVML_VERSION_WORD(nvmlRepairStatus_v1_t, 1)
#define nvmlUnrepairableMemory_v1 NVML_VERSION_WORD(nvmlUnrepairableMemory_v1_t, 1)
#define nvmlC2cModeInfo_v1 NVML_VERSION_WORD(nvmlC2cModeInfo_v1_t, 1)
#define nvmlSystemEventSetCreateRequest_v1 NVML_VERSION_WORD(nvmlSystemEventSetCreateRequest_v1_t, 1)
#define nvmlSystemEventSetFreeRequest_v1 NVML_VERSION_WORD(nvmlSystemEventSetFreeRequest_v1_t, 1)
#define nvmlSystemRegisterEventRequest_v1 NVML_VERSION_WORD(nvmlSystemRegisterEventRequest_v1_t, 1)
#define nvmlSystemEventSetWaitRequest_v1 NVML_VERSION_WORD(nvmlSystemEventSetWaitRequest_v1_t, 1)
#define nvmlClockOffset_v1 NVML_VERSION_WORD(nvmlClockOffset_v1_t, 1)
#define nvmlFanSpeedInfo_v1 NVML_VERSION_WORD(nvmlFanSpeedInfo_v1_t, 1)
#define nvmlPowerValue_v2 NVML_VERSION_WORD(nvmlPowerValue_v2_t, 2)
#define nvmlSystemDriverBranchInfo_v1 NVML_VERSION_WORD(nvmlSystemDriverBranchInfo_v1_t, 1)
#define nvmlEccSramUniqueUncorrectedErrorCounts_v1 \
    NVML_VERSION_WORD(nvmlEccSramUniqueUncorrectedErrorCounts_v1_t, 1)
#define nvmlDeviceCapabilities_v1 NVML_VERSION_WORD(nvmlDeviceCapabilities_v1_t, 1)

#endif
