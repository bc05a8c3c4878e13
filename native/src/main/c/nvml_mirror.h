/*
 * Our mirror of the NVML structures that a health daemon reads. C names, no logic.
 *
 * Written from measured sizes and offsets (public header 13.3.29, x86-64 LP64), not from NVIDIA's
 * text. src/audit/nvml-layout-13.3.tsv holds the same numbers typed a second time, and `make audit`
 * compares the two, so a slip in either is seen at build time.
 */
#ifndef GPUWARDEN_NVML_MIRROR_H
#define GPUWARDEN_NVML_MIRROR_H

#include <stdint.h>

#include "nvml_mirror_enums.h"

/* Handles are opaque 8-byte pointers. */
typedef struct nvml_device *nvmlDevice_t;
typedef struct nvml_event_set *nvmlEventSet_t;
typedef struct nvml_system_event_set *nvmlSystemEventSet_t;
typedef struct nvml_unit *nvmlUnit_t;
typedef struct nvml_gpu_instance *nvmlGpuInstance_t;
typedef struct nvml_compute_instance *nvmlComputeInstance_t;
typedef struct nvml_gpm_sample *nvmlGpmSample_t;
typedef unsigned nvmlEnableState_t; /* nvml.h 13.3: 0 disabled, 1 enabled */

/* Version words: sizeof | version << 24. A plain 2 is refused by the library. */
#define NVML_VERSION_WORD(type, version) ((unsigned)(sizeof(type) | ((unsigned)(version) << 24)))

/* ---- identity ---------------------------------------------------------------------------- */

typedef struct {
    unsigned version, domain, bus, device, pciDeviceId, pciSubSystemId, baseClass, subClass;
    char busId[32];
} nvmlPciInfoExt_v1_t;

typedef struct {
    char busIdLegacy[16]; /* first, although busId is what callers want */
    unsigned domain, bus, device, pciDeviceId, pciSubSystemId;
    char busId[32];
} nvmlPciInfo_t;

typedef struct {
    unsigned version, type;
    union {
        char str[41];
        unsigned char bytes[16];
    } value;
} nvmlUUID_v1_t;

typedef struct {
    unsigned version;
    unsigned char ibGuid[16], rackGuid[16], chassisPhysicalSlotNumber, computeSlotIndex, nodeIndex,
        peerType, moduleId;
} nvmlPlatformInfo_v1_t;

typedef struct {
    unsigned version;
    unsigned char ibGuid[16], chassisSerialNumber[16], slotNumber, trayIndex, hostId, peerType,
        moduleId;
} nvmlPlatformInfo_v2_t;

typedef struct {
    nvmlPciInfo_t pciInfo;
    char uuid[80];
} nvmlExcludedDeviceInfo_t;

typedef struct {
    unsigned type, fwVersion;
} nvmlBridgeChipInfo_t;

typedef struct {
    unsigned char bridgeCount;
    nvmlBridgeChipInfo_t bridgeChipInfo[128];
} nvmlBridgeChipHierarchy_t;

typedef struct {
    unsigned version;
    char branch[80];
} nvmlSystemDriverBranchInfo_v1_t;

typedef struct {
    unsigned version, capMask;
} nvmlDeviceCapabilities_v1_t;

/* ---- memory, utilisation, processes ------------------------------------------------------ */

typedef struct {
    unsigned gpu, memory;
} nvmlUtilization_t;

typedef struct {
    unsigned long long total, free, used; /* used includes reserved */
} nvmlMemory_t;

typedef struct {
    unsigned version;
    unsigned long long total, reserved, free, used;
} nvmlMemory_v2_t;

typedef struct {
    unsigned long long bar1Total, bar1Free, bar1Used;
} nvmlBAR1Memory_t;

typedef struct {
    unsigned pid;
    unsigned long long usedGpuMemory;
} nvmlProcessInfo_v1_t;

typedef struct {
    unsigned pid;
    unsigned long long usedGpuMemory;
    unsigned gpuInstanceId, computeInstanceId;
} nvmlProcessInfo_v2_t;
typedef nvmlProcessInfo_v2_t nvmlProcessInfo_t;

typedef struct { /* also what the _v3 process calls wrote in 535.43.02 to 535.86.05 */
    unsigned pid;
    unsigned long long usedGpuMemory;
    unsigned gpuInstanceId, computeInstanceId;
    unsigned long long usedGpuCcProtectedMemory;
} nvmlProcessDetail_v1_t;

typedef struct {
    unsigned version, mode, numProcArrayEntries;
    nvmlProcessDetail_v1_t *procArray;
} nvmlProcessDetailList_v1_t;

typedef struct {
    unsigned pid;
    unsigned long long timeStamp;
    unsigned smUtil, memUtil, encUtil, decUtil;
} nvmlProcessUtilizationSample_t;

typedef struct {
    unsigned long long timeStamp;
    unsigned pid, smUtil, memUtil, encUtil, decUtil, jpgUtil, ofaUtil;
} nvmlProcessUtilizationInfo_v1_t;

typedef struct {
    unsigned version, processSamplesCount;
    unsigned long long lastSeenTimeStamp;
    nvmlProcessUtilizationInfo_v1_t *procUtilArray;
} nvmlProcessesUtilizationInfo_v1_t;

typedef struct {
    unsigned gpuUtilization, memoryUtilization;
    unsigned long long maxMemoryUsage, time, startTime;
    unsigned isRunning, reserved[5];
} nvmlAccountingStats_t;

/* ---- clocks, power, temperature ---------------------------------------------------------- */

typedef struct {
    unsigned version, sensorType;
    int temperature;
} nvmlTemperature_v1_t;

typedef struct {
    unsigned version;
    int marginTemperature;
} nvmlMarginTemperature_v1_t;

typedef struct {
    unsigned controller;
    int defaultMinTemp, defaultMaxTemp, currentTemp;
    unsigned target;
} nvmlGpuThermalSensor_t;

typedef struct {
    unsigned count;
    nvmlGpuThermalSensor_t sensor[3];
} nvmlGpuThermalSettings_t;

typedef struct {
    unsigned version, type, pstate;
    int clockOffsetMHz, minClockOffsetMHz, maxClockOffsetMHz;
} nvmlClockOffset_v1_t;

typedef struct {
    unsigned version, fan, speed;
} nvmlFanSpeedInfo_v1_t;

typedef struct {
    unsigned version;
    unsigned char powerScope;
    unsigned powerValueMw;
} nvmlPowerValue_v2_t;

typedef struct {
    unsigned long long referenceTime, violationTime;
} nvmlViolationTime_t;

typedef struct {
    unsigned bIsPresent, percentage, incThreshold, decThreshold;
} nvmlPstateUtilization_t;

typedef struct {
    unsigned flags;
    nvmlPstateUtilization_t utilization[8];
} nvmlGpuDynamicPstatesInfo_t;

/* ---- ECC, retired pages, row remapping --------------------------------------------------- */

typedef struct {
    unsigned long long l1Cache, l2Cache, deviceMemory, registerFile;
} nvmlEccErrorCounts_t;

typedef struct {
    unsigned version;
    unsigned long long aggregateUncParity, aggregateUncSecDed, aggregateCor, volatileUncParity,
        volatileUncSecDed, volatileCor, aggregateUncBucketL2, aggregateUncBucketSm,
        aggregateUncBucketPcie, aggregateUncBucketMcu, aggregateUncBucketOther;
    unsigned bThresholdExceeded;
} nvmlEccSramErrorStatus_v1_t;

typedef struct {
    unsigned unit, location, sublocation, extlocation, address, isParity, count;
} nvmlEccSramUniqueUncorrectedErrorEntry_v1_t;

typedef struct {
    unsigned version, entryCount;
    nvmlEccSramUniqueUncorrectedErrorEntry_v1_t *entries;
} nvmlEccSramUniqueUncorrectedErrorCounts_v1_t;

typedef struct {
    unsigned max, high, partial, low, none;
} nvmlRowRemapperHistogramValues_t;

typedef struct { /* six counters and no version word */
    unsigned corrActiveRemaps, corrInactiveRemaps, uncActiveRemaps, uncInactiveRemaps, bPending,
        bFailureOccurred;
} nvmlRemappedRowsInfo_v2_t;

typedef struct {
    unsigned version, bChannelRepairPending, bTpcRepairPending;
} nvmlRepairStatus_v1_t;

typedef struct { /* after 13.3's measurement; from NVIDIA's Python binding 13.615 */
    unsigned version, unrepairableMemory;
} nvmlUnrepairableMemory_v1_t;

/* ---- field values, samples, events ------------------------------------------------------- */

typedef union {
    double dVal;
    int siVal;
    unsigned uiVal;
    unsigned long ulVal;
    unsigned long long ullVal;
    long long sllVal;
    unsigned short usVal;
} nvmlValue_t;

typedef struct {
    unsigned fieldId, scopeId;
    long long timestamp, latencyUsec;
    unsigned valueType;
    nvmlReturn_t nvmlReturn;
    nvmlValue_t value;
} nvmlFieldValue_t;

typedef struct {
    unsigned long long timeStamp;
    nvmlValue_t sampleValue;
} nvmlSample_t;

typedef struct {
    nvmlDevice_t device;
    unsigned long long eventType, eventData;
    unsigned gpuInstanceId, computeInstanceId;
} nvmlEventData_t;

typedef struct {
    nvmlDevice_t device;
    unsigned long long eventType, eventData;
} nvmlEventData_v1_t;

typedef struct {
    unsigned version;
    nvmlSystemEventSet_t set;
} nvmlSystemEventSetCreateRequest_v1_t;

typedef struct {
    unsigned version;
    nvmlSystemEventSet_t set;
} nvmlSystemEventSetFreeRequest_v1_t;

typedef struct {
    unsigned version;
    unsigned long long eventTypes;
    nvmlSystemEventSet_t set;
} nvmlSystemRegisterEventRequest_v1_t;

typedef struct {
    unsigned long long eventType;
    unsigned gpuId;
} nvmlSystemEventData_v1_t;

typedef struct {
    unsigned version, timeoutms;
    nvmlSystemEventSet_t set;
    nvmlSystemEventData_v1_t *data;
    unsigned dataSize, numEvent;
} nvmlSystemEventSetWaitRequest_v1_t;

/* ---- confidential computing -------------------------------------------------------------- */

typedef struct {
    unsigned cpuCaps, gpusCaps;
} nvmlConfComputeSystemCaps_t;

typedef struct {
    unsigned environment, ccFeature, devToolsMode;
} nvmlConfComputeSystemState_t;

typedef struct {
    unsigned version, environment, ccFeature, devToolsMode, multiGpuMode;
} nvmlSystemConfComputeSettings_v1_t;

typedef struct {
    unsigned long long protectedMemSizeKib, unprotectedMemSizeKib;
} nvmlConfComputeMemSizeInfo_t;

/* ---- NVLink, fabric ---------------------------------------------------------------------- */

typedef struct {
    unsigned char clusterUuid[16];
    nvmlReturn_t status;
    unsigned cliqueId;
    unsigned char state;
} nvmlGpuFabricInfo_t;

typedef struct {
    unsigned version;
    unsigned char clusterUuid[16];
    nvmlReturn_t status;
    unsigned cliqueId;
    unsigned char state;
    unsigned healthMask;
} nvmlGpuFabricInfo_v2_t;

typedef struct {
    unsigned version;
    unsigned char clusterUuid[16];
    nvmlReturn_t status;
    unsigned cliqueId;
    unsigned char state;
    unsigned healthMask;
    unsigned char healthSummary;
} nvmlGpuFabricInfo_v3_t;
typedef nvmlGpuFabricInfo_v3_t nvmlGpuFabricInfoV_t;

typedef struct {
    unsigned version, isNvleEnabled;
} nvmlNvLinkInfo_v1_t;

typedef struct {
    unsigned char ucodeType;
    unsigned major, minor, subMinor;
} nvmlNvLinkFirmwareVersion_t;

typedef struct {
    nvmlNvLinkFirmwareVersion_t firmwareVersion[100];
    unsigned numValidEntries;
} nvmlNvLinkFirmwareInfo_t;

typedef struct {
    unsigned version, isNvleEnabled;
    nvmlNvLinkFirmwareInfo_t firmwareInfo;
} nvmlNvLinkInfo_v2_t;

typedef struct { /* four bytes: no room for a version word, although the word exists */
    unsigned isC2cEnabled;
} nvmlC2cModeInfo_v1_t;

/* ---- MIG --------------------------------------------------------------------------------- */

typedef struct {
    unsigned multiprocessorCount, sharedCopyEngineCount, sharedDecoderCount, sharedEncoderCount,
        sharedJpegCount, sharedOfaCount, gpuInstanceSliceCount, computeInstanceSliceCount;
    unsigned long long memorySizeMB;
} nvmlDeviceAttributes_t;

typedef struct {
    unsigned start, size;
} nvmlGpuInstancePlacement_t;
typedef nvmlGpuInstancePlacement_t nvmlComputeInstancePlacement_t;

typedef struct {
    unsigned version, id, isP2pSupported, sliceCount, instanceCount, multiprocessorCount,
        copyEngineCount, decoderCount, encoderCount, jpegCount, ofaCount;
    unsigned long long memorySizeMB;
    char name[96];
} nvmlGpuInstanceProfileInfo_v2_t;

typedef struct {
    unsigned version, id, sliceCount, instanceCount, multiprocessorCount, copyEngineCount,
        decoderCount, encoderCount, jpegCount, ofaCount;
    unsigned long long memorySizeMB;
    char name[96];
    unsigned capabilities;
} nvmlGpuInstanceProfileInfo_v3_t;

typedef struct {
    unsigned version, id, sliceCount, instanceCount, multiprocessorCount, sharedCopyEngineCount,
        sharedDecoderCount, sharedEncoderCount, sharedJpegCount, sharedOfaCount;
    char name[96];
} nvmlComputeInstanceProfileInfo_v2_t;

typedef struct {
    unsigned version, id, sliceCount, instanceCount, multiprocessorCount, sharedCopyEngineCount,
        sharedDecoderCount, sharedEncoderCount, sharedJpegCount, sharedOfaCount;
    char name[96];
    unsigned capabilities;
} nvmlComputeInstanceProfileInfo_v3_t;

typedef struct {
    nvmlDevice_t device;
    unsigned id, profileId;
    nvmlGpuInstancePlacement_t placement;
} nvmlGpuInstanceInfo_t;

typedef struct {
    nvmlDevice_t device;
    nvmlGpuInstance_t gpuInstance;
    unsigned id, profileId;
    nvmlComputeInstancePlacement_t placement;
} nvmlComputeInstanceInfo_t;

/* ---- GPM --------------------------------------------------------------------------------- */

typedef struct {
    char *shortName, *longName, *unit;
} nvmlGpmMetricInfo_t;

typedef struct {
    unsigned metricId;
    nvmlReturn_t nvmlReturn;
    double value;
    nvmlGpmMetricInfo_t metricInfo;
} nvmlGpmMetric_t;

typedef struct { /* version is a plain 1 here, and in nvmlGpmSupport_t */
    unsigned version, numMetrics;
    nvmlGpmSample_t sample1, sample2;
    nvmlGpmMetric_t metrics[333]; /* older headers have fewer slots; numMetrics bounds their use */
} nvmlGpmMetricsGet_t;

typedef struct {
    unsigned version, isSupportedDevice;
} nvmlGpmSupport_t;

/* ---- version words ----------------------------------------------------------------------- */

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
