/*
 * The readings that gpuwarden's sampler takes every second, in plain C. If a driver lacks the newest form of a call, the older form
 * is called.
 */
#include "questions.h"

unsigned long long library_calls;

static void read_memory(struct gpu *g) {
    if (DeviceGetMemoryInfo_v2 != NULL) {
        nvmlMemory_v2_t memory = {.version = nvmlMemory_v2};
        nvmlReturn_t code = CALL(DeviceGetMemoryInfo_v2, g->device, &memory);
        answer(&g->memory_total_bytes, code, true, (long long)memory.total);
        answer(&g->memory_reserved_bytes, code, true, (long long)memory.reserved);
        answer(&g->memory_free_bytes, code, true, (long long)memory.free);
        answer(&g->memory_used_bytes, code, true, (long long)memory.used);
    }
    if (DeviceGetMemoryInfo != NULL
        && (open(&g->memory_total_bytes) || open(&g->memory_free_bytes) || open(&g->memory_used_bytes))) {
        nvmlMemory_t memory = {0};
        nvmlReturn_t code = CALL(DeviceGetMemoryInfo, g->device, &memory);
        answer(&g->memory_total_bytes, code, false, (long long)memory.total);
        answer(&g->memory_free_bytes, code, false, (long long)memory.free);
        answer(&g->memory_used_bytes, code, false, (long long)memory.used);
    }
}

static void read_temperature(struct gpu *g) {
    if (DeviceGetTemperatureV != NULL) {
        nvmlTemperature_v1_t temperature = {.version = nvmlTemperature_v1};
        nvmlReturn_t code = CALL(DeviceGetTemperatureV, g->device, &temperature);
        answer(&g->temperature_celsius, code, true, temperature.temperature);
    }
    if (DeviceGetTemperature != NULL && open(&g->temperature_celsius)) {
        unsigned degrees = 0;
        nvmlReturn_t code = CALL(DeviceGetTemperature, g->device, 0, &degrees);
        answer(&g->temperature_celsius, code, false, (int)degrees);
    }
}

static void read_utilization(struct gpu *g) {
    if (DeviceGetUtilizationRates != NULL) {
        nvmlUtilization_t rates = {0};
        nvmlReturn_t code = CALL(DeviceGetUtilizationRates, g->device, &rates);
        answer(&g->utilization_ratio, code, false, rates.gpu);
        answer(&g->memory_utilization_ratio, code, false, rates.memory);
    }
}

static void read_remap_state(struct gpu *g) {
    if (DeviceGetRemappedRows_v2 != NULL && (open(&g->remapped_rows_pending) || open(&g->remapped_rows_failure))) {
        nvmlRemappedRowsInfo_v2_t rows = {0};
        nvmlReturn_t code = CALL(DeviceGetRemappedRows_v2, g->device, &rows);
        answer(&g->remapped_rows_pending, code, false, rows.bPending);
        answer(&g->remapped_rows_failure, code, false, rows.bFailureOccurred);
    }
    if (DeviceGetRemappedRows != NULL && (open(&g->remapped_rows_pending) || open(&g->remapped_rows_failure))) {
        unsigned correctable = 0, uncorrectable = 0, pending = 0, failure = 0;
        nvmlReturn_t code =
            CALL(DeviceGetRemappedRows, g->device, &correctable, &uncorrectable, &pending, &failure);
        answer(&g->remapped_rows_pending, code, false, pending);
        answer(&g->remapped_rows_failure, code, false, failure);
    }
}

void read_fast(struct gpu *g) {
    nvmlFieldValue_t values[5];
    const struct wanted wanted[5] = {
        {3, 0, &g->ecc_volatile_corrected},
        {4, 0, &g->ecc_volatile_uncorrected},
        {144, 0, &g->remapped_rows_pending},
        {145, 0, &g->remapped_rows_failure},
        {230, 0, &g->recovery_action},
    };
    char *first = (char *)&g->memory_total_bytes;
    memset(first, 0, offsetof(struct gpu, ecc_mode) - offsetof(struct gpu, memory_total_bytes));
    read_memory(g);
    read_temperature(g);
    read_u32(DeviceGetPowerUsage, g->device, &g->power_usage_watts);
    read_utilization(g);
    read_u64(DeviceGetCurrentClocksEventReasons, g->device, &g->clock_event_reasons);
    read_u64(DeviceGetCurrentClocksThrottleReasons, g->device, &g->clock_event_reasons);
    read_u32(DeviceGetPerformanceState, g->device, &g->performance_state);
    read_fields(g->device, wanted, 5, values);
    read_ecc_total(g->device, NVML_ERROR_TYPE_CORRECTED, NVML_VOLATILE_ECC, &g->ecc_volatile_corrected);
    read_ecc_total(g->device, NVML_ERROR_TYPE_UNCORRECTED, NVML_VOLATILE_ECC, &g->ecc_volatile_uncorrected);
    read_remap_state(g);
}
