/*
 * Prints the layout of every structure in nvml_mirror.h as this compiler lays it out:
 *   struct TAB field TAB offset TAB size     (field "-" is sizeof)
 *   version TAB name TAB word
 * Compared with nvml-layout-13.3.tsv by `make audit`, and with the Java mirror by a Java test.
 */
#include <stddef.h>
#include <stdio.h>

#include "nvml_mirror.h"

#define STRUCT(type) printf("%s\t-\t0\t%zu\n", #type, sizeof(type));
#define FIELD(type, field) \
    printf("%s\t%s\t%zu\t%zu\n", #type, #field, offsetof(type, field), sizeof(((type *)0)->field));
#define VERSION(name) printf("version\t%s\t0x%08x\n", #name, name);

#define F1(t, a) FIELD(t, a)
#define F2(t, a, ...) FIELD(t, a) F1(t, __VA_ARGS__)
#define F3(t, a, ...) FIELD(t, a) F2(t, __VA_ARGS__)
#define F4(t, a, ...) FIELD(t, a) F3(t, __VA_ARGS__)
#define F5(t, a, ...) FIELD(t, a) F4(t, __VA_ARGS__)
#define F6(t, a, ...) FIELD(t, a) F5(t, __VA_ARGS__)
#define F7(t, a, ...) FIELD(t, a) F6(t, __VA_ARGS__)
#define F8(t, a, ...) FIELD(t, a) F7(t, __VA_ARGS__)
#define F9(t, a, ...) FIELD(t, a) F8(t, __VA_ARGS__)
#define F10(t, a, ...) FIELD(t, a) F9(t, __VA_ARGS__)
#define F11(t, a, ...) FIELD(t, a) F10(t, __VA_ARGS__)
#define F12(t, a, ...) FIELD(t, a) F11(t, __VA_ARGS__)
#define F13(t, a, ...) FIELD(t, a) F12(t, __VA_ARGS__)

int main(void)
{
    STRUCT(nvmlPciInfoExt_v1_t) F9(nvmlPciInfoExt_v1_t, version, domain, bus, device, pciDeviceId,
        pciSubSystemId, baseClass, subClass, busId)
    STRUCT(nvmlPciInfo_t) F7(nvmlPciInfo_t, busIdLegacy, domain, bus, device, pciDeviceId,
        pciSubSystemId, busId)
    STRUCT(nvmlUUID_v1_t) F3(nvmlUUID_v1_t, version, type, value)
    STRUCT(nvmlPlatformInfo_v1_t) F8(nvmlPlatformInfo_v1_t, version, ibGuid, rackGuid,
        chassisPhysicalSlotNumber, computeSlotIndex, nodeIndex, peerType, moduleId)
    STRUCT(nvmlPlatformInfo_v2_t) F8(nvmlPlatformInfo_v2_t, version, ibGuid, chassisSerialNumber,
        slotNumber, trayIndex, hostId, peerType, moduleId)
    STRUCT(nvmlExcludedDeviceInfo_t) F2(nvmlExcludedDeviceInfo_t, pciInfo, uuid)
    STRUCT(nvmlBridgeChipInfo_t) F2(nvmlBridgeChipInfo_t, type, fwVersion)
    STRUCT(nvmlBridgeChipHierarchy_t) F2(nvmlBridgeChipHierarchy_t, bridgeCount, bridgeChipInfo)
    STRUCT(nvmlSystemDriverBranchInfo_v1_t) F2(nvmlSystemDriverBranchInfo_v1_t, version, branch)
    STRUCT(nvmlDeviceCapabilities_v1_t) F2(nvmlDeviceCapabilities_v1_t, version, capMask)
    STRUCT(nvmlUtilization_t) F2(nvmlUtilization_t, gpu, memory)
    STRUCT(nvmlMemory_t) F3(nvmlMemory_t, total, free, used)
    STRUCT(nvmlMemory_v2_t) F5(nvmlMemory_v2_t, version, total, reserved, free, used)
    STRUCT(nvmlSetMemoryLimits_v1_t) F3(nvmlSetMemoryLimits_v1_t, nameSpace, softLimit, hardLimit)
    STRUCT(nvmlGetMemoryLimits_v1_t) F4(nvmlGetMemoryLimits_v1_t, nameSpace, softLimit, hardLimit, currentUsed)
    STRUCT(nvmlBAR1Memory_t) F3(nvmlBAR1Memory_t, bar1Total, bar1Free, bar1Used)
    STRUCT(nvmlGridLicenseExpiry_t) F7(nvmlGridLicenseExpiry_t, year, month, day, hour, min, sec,
        status)
    STRUCT(nvmlGridLicensableFeature_t) F6(nvmlGridLicensableFeature_t, featureCode, featureState,
        licenseInfo, productName, featureEnabled, licenseExpiry)
    STRUCT(nvmlGridLicensableFeatures_t) F3(nvmlGridLicensableFeatures_t, isGridLicenseSupported,
        licensableFeaturesCount, gridLicensableFeatures)
    STRUCT(nvmlProcessInfo_v1_t) F2(nvmlProcessInfo_v1_t, pid, usedGpuMemory)
    STRUCT(nvmlProcessInfo_v2_t) F4(nvmlProcessInfo_v2_t, pid, usedGpuMemory, gpuInstanceId,
        computeInstanceId)
    STRUCT(nvmlProcessDetail_v1_t) F5(nvmlProcessDetail_v1_t, pid, usedGpuMemory, gpuInstanceId,
        computeInstanceId, usedGpuCcProtectedMemory)
    STRUCT(nvmlProcessDetailList_v1_t) F4(nvmlProcessDetailList_v1_t, version, mode,
        numProcArrayEntries, procArray)
    STRUCT(nvmlProcessUtilizationSample_t) F6(nvmlProcessUtilizationSample_t, pid, timeStamp,
        smUtil, memUtil, encUtil, decUtil)
    STRUCT(nvmlProcessUtilizationInfo_v1_t) F8(nvmlProcessUtilizationInfo_v1_t, timeStamp, pid,
        smUtil, memUtil, encUtil, decUtil, jpgUtil, ofaUtil)
    STRUCT(nvmlProcessesUtilizationInfo_v1_t) F4(nvmlProcessesUtilizationInfo_v1_t, version,
        processSamplesCount, lastSeenTimeStamp, procUtilArray)
    STRUCT(nvmlAccountingStats_t) F7(nvmlAccountingStats_t, gpuUtilization, memoryUtilization,
        maxMemoryUsage, time, startTime, isRunning, reserved)
    STRUCT(nvmlTemperature_v1_t) F3(nvmlTemperature_v1_t, version, sensorType, temperature)
    STRUCT(nvmlMarginTemperature_v1_t) F2(nvmlMarginTemperature_v1_t, version, marginTemperature)
    STRUCT(nvmlGpuThermalSensor_t) F5(nvmlGpuThermalSensor_t, controller, defaultMinTemp,
        defaultMaxTemp, currentTemp, target)
    STRUCT(nvmlGpuThermalSettings_t) F2(nvmlGpuThermalSettings_t, count, sensor)
    STRUCT(nvmlClockOffset_v1_t) F6(nvmlClockOffset_v1_t, version, type, pstate, clockOffsetMHz,
        minClockOffsetMHz, maxClockOffsetMHz)
    STRUCT(nvmlFanSpeedInfo_v1_t) F3(nvmlFanSpeedInfo_v1_t, version, fan, speed)
    STRUCT(nvmlPowerValue_v2_t) F3(nvmlPowerValue_v2_t, version, powerScope, powerValueMw)
    STRUCT(nvmlViolationTime_t) F2(nvmlViolationTime_t, referenceTime, violationTime)
    STRUCT(nvmlPstateUtilization_t) F4(nvmlPstateUtilization_t, bIsPresent, percentage,
        incThreshold, decThreshold)
    STRUCT(nvmlGpuDynamicPstatesInfo_t) F2(nvmlGpuDynamicPstatesInfo_t, flags, utilization)
    STRUCT(nvmlEccErrorCounts_t) F4(nvmlEccErrorCounts_t, l1Cache, l2Cache, deviceMemory,
        registerFile)
    STRUCT(nvmlEccSramErrorStatus_v1_t) F13(nvmlEccSramErrorStatus_v1_t, version,
        aggregateUncParity, aggregateUncSecDed, aggregateCor, volatileUncParity, volatileUncSecDed,
        volatileCor, aggregateUncBucketL2, aggregateUncBucketSm, aggregateUncBucketPcie,
        aggregateUncBucketMcu, aggregateUncBucketOther, bThresholdExceeded)
    STRUCT(nvmlEccSramUniqueUncorrectedErrorEntry_v1_t)
        F7(nvmlEccSramUniqueUncorrectedErrorEntry_v1_t, unit, location, sublocation, extlocation,
        address, isParity, count)
    STRUCT(nvmlEccSramUniqueUncorrectedErrorCounts_v1_t)
        F3(nvmlEccSramUniqueUncorrectedErrorCounts_v1_t, version, entryCount, entries)
    STRUCT(nvmlRowRemapperHistogramValues_t) F5(nvmlRowRemapperHistogramValues_t, max, high,
        partial, low, none)
    STRUCT(nvmlRemappedRowsInfo_v2_t) F6(nvmlRemappedRowsInfo_v2_t, corrActiveRemaps,
        corrInactiveRemaps, uncActiveRemaps, uncInactiveRemaps, bPending, bFailureOccurred)
    STRUCT(nvmlUnrepairableMemory_v1_t) F2(nvmlUnrepairableMemory_v1_t, version, unrepairableMemory)
    STRUCT(nvmlRepairStatus_v1_t) F3(nvmlRepairStatus_v1_t, version, bChannelRepairPending,
        bTpcRepairPending)
    STRUCT(nvmlValue_t) F7(nvmlValue_t, dVal, siVal, uiVal, ulVal, ullVal, sllVal, usVal)
    STRUCT(nvmlFieldValue_t) F7(nvmlFieldValue_t, fieldId, scopeId, timestamp, latencyUsec,
        valueType, nvmlReturn, value)
    STRUCT(nvmlSample_t) F2(nvmlSample_t, timeStamp, sampleValue)
    STRUCT(nvmlEventData_t) F5(nvmlEventData_t, device, eventType, eventData, gpuInstanceId,
        computeInstanceId)
    STRUCT(nvmlEventData_v1_t) F3(nvmlEventData_v1_t, device, eventType, eventData)
    STRUCT(nvmlSystemEventSetCreateRequest_v1_t) F2(nvmlSystemEventSetCreateRequest_v1_t, version,
        set)
    STRUCT(nvmlSystemEventSetFreeRequest_v1_t) F2(nvmlSystemEventSetFreeRequest_v1_t, version, set)
    STRUCT(nvmlSystemRegisterEventRequest_v1_t) F3(nvmlSystemRegisterEventRequest_v1_t, version,
        eventTypes, set)
    STRUCT(nvmlSystemEventData_v1_t) F2(nvmlSystemEventData_v1_t, eventType, gpuId)
    STRUCT(nvmlSystemEventSetWaitRequest_v1_t) F6(nvmlSystemEventSetWaitRequest_v1_t, version,
        timeoutms, set, data, dataSize, numEvent)
    STRUCT(nvmlConfComputeSystemCaps_t) F2(nvmlConfComputeSystemCaps_t, cpuCaps, gpusCaps)
    STRUCT(nvmlConfComputeSystemState_t) F3(nvmlConfComputeSystemState_t, environment, ccFeature,
        devToolsMode)
    STRUCT(nvmlSystemConfComputeSettings_v1_t) F5(nvmlSystemConfComputeSettings_v1_t, version,
        environment, ccFeature, devToolsMode, multiGpuMode)
    STRUCT(nvmlConfComputeMemSizeInfo_t) F2(nvmlConfComputeMemSizeInfo_t, protectedMemSizeKib,
        unprotectedMemSizeKib)
    STRUCT(nvmlGpuFabricInfo_t) F4(nvmlGpuFabricInfo_t, clusterUuid, status, cliqueId, state)
    STRUCT(nvmlGpuFabricInfo_v2_t) F6(nvmlGpuFabricInfo_v2_t, version, clusterUuid, status,
        cliqueId, state, healthMask)
    STRUCT(nvmlGpuFabricInfo_v3_t) F7(nvmlGpuFabricInfo_v3_t, version, clusterUuid, status,
        cliqueId, state, healthMask, healthSummary)
    STRUCT(nvmlNvLinkInfo_v1_t) F2(nvmlNvLinkInfo_v1_t, version, isNvleEnabled)
    STRUCT(nvmlNvlinkFirmwareVersion_t) F4(nvmlNvlinkFirmwareVersion_t, ucodeType, major, minor,
        subMinor)
    STRUCT(nvmlNvlinkFirmwareInfo_t) F2(nvmlNvlinkFirmwareInfo_t, firmwareVersion, numValidEntries)
    STRUCT(nvmlNvLinkInfo_v2_t) F3(nvmlNvLinkInfo_v2_t, version, isNvleEnabled, firmwareInfo)
    STRUCT(nvmlC2cModeInfo_v1_t) F1(nvmlC2cModeInfo_v1_t, isC2cEnabled)
    STRUCT(nvmlDeviceAttributes_t) F9(nvmlDeviceAttributes_t, multiprocessorCount,
        sharedCopyEngineCount, sharedDecoderCount, sharedEncoderCount, sharedJpegCount,
        sharedOfaCount, gpuInstanceSliceCount, computeInstanceSliceCount, memorySizeMB)
    STRUCT(nvmlGpuInstancePlacement_t) F2(nvmlGpuInstancePlacement_t, start, size)
    STRUCT(nvmlGpuInstanceProfileInfo_t) F11(nvmlGpuInstanceProfileInfo_t, id, isP2pSupported,
        sliceCount, instanceCount, multiprocessorCount, copyEngineCount, decoderCount, encoderCount,
        jpegCount, ofaCount, memorySizeMB)
    STRUCT(nvmlGpuInstanceProfileInfo_v2_t) F13(nvmlGpuInstanceProfileInfo_v2_t, version, id,
        isP2pSupported, sliceCount, instanceCount, multiprocessorCount, copyEngineCount,
        decoderCount, encoderCount, jpegCount, ofaCount, memorySizeMB, name)
    STRUCT(nvmlGpuInstanceProfileInfo_v3_t) F13(nvmlGpuInstanceProfileInfo_v3_t, version, id,
        sliceCount, instanceCount, multiprocessorCount, copyEngineCount, decoderCount, encoderCount,
        jpegCount, ofaCount, memorySizeMB, name, capabilities)
    STRUCT(nvmlComputeInstanceProfileInfo_t) F9(nvmlComputeInstanceProfileInfo_t, id, sliceCount,
        instanceCount, multiprocessorCount, sharedCopyEngineCount, sharedDecoderCount,
        sharedEncoderCount, sharedJpegCount, sharedOfaCount)
    STRUCT(nvmlComputeInstanceProfileInfo_v2_t) F11(nvmlComputeInstanceProfileInfo_v2_t, version,
        id, sliceCount, instanceCount, multiprocessorCount, sharedCopyEngineCount,
        sharedDecoderCount, sharedEncoderCount, sharedJpegCount, sharedOfaCount, name)
    STRUCT(nvmlComputeInstanceProfileInfo_v3_t) F12(nvmlComputeInstanceProfileInfo_v3_t, version,
        id, sliceCount, instanceCount, multiprocessorCount, sharedCopyEngineCount,
        sharedDecoderCount, sharedEncoderCount, sharedJpegCount, sharedOfaCount, name, capabilities)
    STRUCT(nvmlGpuInstanceInfo_t) F4(nvmlGpuInstanceInfo_t, device, id, profileId, placement)
    STRUCT(nvmlComputeInstanceInfo_t) F5(nvmlComputeInstanceInfo_t, device, gpuInstance, id,
        profileId, placement)
    STRUCT(nvmlGpmMetricInfo_t) F3(nvmlGpmMetricInfo_t, shortName, longName, unit)
    STRUCT(nvmlGpmMetric_t) F4(nvmlGpmMetric_t, metricId, nvmlReturn, value, metricInfo)
    STRUCT(nvmlGpmMetricsGet_t) F5(nvmlGpmMetricsGet_t, version, numMetrics, sample1, sample2,
        metrics)
    STRUCT(nvmlGpmSupport_t) F2(nvmlGpmSupport_t, version, isSupportedDevice)
    STRUCT(nvmlProcessInfo_t)
    STRUCT(nvmlGpuFabricInfoV_t)
    STRUCT(nvmlComputeInstancePlacement_t)
    STRUCT(nvmlDevice_t)
    STRUCT(nvmlEnableState_t)
    VERSION(nvmlMemory_v2)
    VERSION(nvmlPciInfoExt_v1)
    VERSION(nvmlProcessDetailList_v1)
    VERSION(nvmlGpuFabricInfo_v2)
    VERSION(nvmlGpuFabricInfo_v3)
    VERSION(nvmlTemperature_v1)
    VERSION(nvmlMarginTemperature_v1)
    VERSION(nvmlEccSramErrorStatus_v1)
    VERSION(nvmlPlatformInfo_v1)
    VERSION(nvmlPlatformInfo_v2)
    VERSION(nvmlSystemConfComputeSettings_v1)
    VERSION(nvmlNvLinkInfo_v1)
    VERSION(nvmlNvLinkInfo_v2)
    VERSION(nvmlGpuInstanceProfileInfo_v2)
    VERSION(nvmlGpuInstanceProfileInfo_v3)
    VERSION(nvmlComputeInstanceProfileInfo_v2)
    VERSION(nvmlComputeInstanceProfileInfo_v3)
    VERSION(nvmlProcessesUtilizationInfo_v1)
    VERSION(nvmlUUID_v1)
    VERSION(nvmlRepairStatus_v1)
    VERSION(nvmlUnrepairableMemory_v1)
    VERSION(nvmlC2cModeInfo_v1)
    VERSION(nvmlSystemEventSetCreateRequest_v1)
    VERSION(nvmlSystemEventSetFreeRequest_v1)
    VERSION(nvmlSystemRegisterEventRequest_v1)
    VERSION(nvmlSystemEventSetWaitRequest_v1)
    VERSION(nvmlClockOffset_v1)
    VERSION(nvmlFanSpeedInfo_v1)
    VERSION(nvmlPowerValue_v2)
    VERSION(nvmlSystemDriverBranchInfo_v1)
    VERSION(nvmlEccSramUniqueUncorrectedErrorCounts_v1)
    VERSION(nvmlDeviceCapabilities_v1)
    return 0;
}
