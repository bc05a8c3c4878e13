/* The functions of libnvidia-ml.so.1 that the baseline calls, as it exports them without their "nvml". */
#ifndef GPUWARDEN_LIBRARY_H
#define GPUWARDEN_LIBRARY_H

#include "nvml_mirror.h"

#define OUT(type) (nvmlDevice_t, type *)
#define FUNCTIONS(X) \
    X(DeviceGetMemoryInfo_v2, OUT(nvmlMemory_v2_t)) X(DeviceGetMemoryInfo, OUT(nvmlMemory_t)) \
    X(DeviceGetTemperatureV, OUT(nvmlTemperature_v1_t)) X(DeviceGetTemperature, (nvmlDevice_t, unsigned, unsigned *)) \
    X(DeviceGetPowerUsage, OUT(unsigned)) X(DeviceGetUtilizationRates, OUT(nvmlUtilization_t)) \
    X(DeviceGetCurrentClocksEventReasons, OUT(unsigned long long)) \
    X(DeviceGetCurrentClocksThrottleReasons, OUT(unsigned long long)) X(DeviceGetPerformanceState, OUT(unsigned)) \
    X(DeviceGetFieldValues, (nvmlDevice_t, int, nvmlFieldValue_t *)) \
    X(DeviceGetTotalEccErrors, (nvmlDevice_t, unsigned, unsigned, unsigned long long *)) \
    X(DeviceGetRemappedRows_v2, OUT(nvmlRemappedRowsInfo_v2_t)) \
    X(DeviceGetRemappedRows, (nvmlDevice_t, unsigned *, unsigned *, unsigned *, unsigned *)) \
    X(DeviceGetEccMode, (nvmlDevice_t, unsigned *, unsigned *)) \
    X(DeviceGetSramEccErrorStatus, OUT(nvmlEccSramErrorStatus_v1_t)) \
    X(DeviceGetMemoryErrorCounter, (nvmlDevice_t, unsigned, unsigned, unsigned, unsigned long long *)) \
    X(DeviceGetRetiredPages, (nvmlDevice_t, unsigned, unsigned *, unsigned long long *)) \
    X(DeviceGetRetiredPagesPendingStatus, OUT(unsigned)) \
    X(DeviceGetRowRemapperHistogram, OUT(nvmlRowRemapperHistogramValues_t)) \
    X(DeviceGetMarginTemperature, OUT(nvmlMarginTemperature_v1_t)) \
    X(DeviceGetTemperatureThreshold, (nvmlDevice_t, unsigned, unsigned *)) \
    X(DeviceGetClockInfo, (nvmlDevice_t, unsigned, unsigned *)) \
    X(DeviceGetMaxClockInfo, (nvmlDevice_t, unsigned, unsigned *)) X(DeviceGetEnforcedPowerLimit, OUT(unsigned)) \
    X(DeviceGetPowerManagementDefaultLimit, OUT(unsigned)) \
    X(DeviceGetTotalEnergyConsumption, OUT(unsigned long long)) X(DeviceGetFanSpeed, OUT(unsigned)) \
    X(DeviceGetBAR1MemoryInfo, OUT(nvmlBAR1Memory_t)) \
    X(DeviceGetEncoderUtilization, (nvmlDevice_t, unsigned *, unsigned *)) \
    X(DeviceGetDecoderUtilization, (nvmlDevice_t, unsigned *, unsigned *)) \
    X(DeviceGetCurrPcieLinkGeneration, OUT(unsigned)) X(DeviceGetMaxPcieLinkGeneration, OUT(unsigned)) \
    X(DeviceGetCurrPcieLinkWidth, OUT(unsigned)) X(DeviceGetMaxPcieLinkWidth, OUT(unsigned)) \
    X(DeviceGetPcieReplayCounter, OUT(unsigned)) \
    X(DeviceGetViolationStatus, (nvmlDevice_t, unsigned, nvmlViolationTime_t *)) \
    X(DeviceGetNvLinkState, (nvmlDevice_t, unsigned, unsigned *)) \
    X(DeviceGetNvLinkVersion, (nvmlDevice_t, unsigned, unsigned *)) \
    X(DeviceGetNvLinkErrorCounter, (nvmlDevice_t, unsigned, unsigned, unsigned long long *)) \
    X(DeviceGetGpuFabricInfoV, OUT(void)) X(DeviceGetGpuFabricInfo, OUT(nvmlGpuFabricInfo_t)) \
    X(DeviceGetPersistenceMode, OUT(unsigned)) X(DeviceGetComputeMode, OUT(unsigned)) \
    X(DeviceGetVirtualizationMode, OUT(unsigned)) \
    X(DeviceGetGridLicensableFeatures_v4, OUT(nvmlGridLicensableFeatures_t)) \
    X(DeviceGetMigMode, (nvmlDevice_t, unsigned *, unsigned *))
#define START_FUNCTIONS(X) \
    X(Init_v2, (void)) X(InitWithFlags, (unsigned)) X(DeviceGetCount_v2, (unsigned *)) \
    X(DeviceGetHandleByIndex_v2, (unsigned, nvmlDevice_t *))

#define DECLARE(name, arguments) extern nvmlReturn_t(*name) arguments;
FUNCTIONS(DECLARE)
START_FUNCTIONS(DECLARE)
#undef DECLARE

/* Returns what is missing, or NULL. Functions that only some drivers have stay NULL. */
const char *load_functions(const char *library);
nvmlReturn_t start_driver(void);

#endif
