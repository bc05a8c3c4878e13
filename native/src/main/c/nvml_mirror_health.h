/* Errors, repairs, field values, events and confidential computing. Include nvml_mirror.h. */
#ifndef GPUWARDEN_NVML_MIRROR_HEALTH_H
#define GPUWARDEN_NVML_MIRROR_HEALTH_H

/* ---- ECC, retired pages, row remapping ------------------------------------------------------- */

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

/* ---- field values, samples, events ----------------------------------------------------------- */

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

/* ---- confidential computing ------------------------------------------------------------------ */

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

#endif
