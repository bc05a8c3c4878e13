/* The readings that gpuwarden's sampler takes every ten seconds, in plain C. Numbers are those of nvml.h 13.3. */
#include "questions.h"

#define ALL_LINKS 0xffffffffU

static void read_field_batch(struct gpu *g) {
    nvmlFieldValue_t values[29];
    const struct wanted wanted[29] = {
        {5, 0, &g->ecc_aggregate_corrected},
        {6, 0, &g->ecc_aggregate_uncorrected},
        {29, 0, &g->retired_pages_single_bit},
        {30, 0, &g->retired_pages_double_bit},
        {31, 0, &g->retired_pages_pending},
        {142, 0, &g->remapped_rows_correctable},
        {143, 0, &g->remapped_rows_uncorrectable},
        {82, 0, &g->memory_temperature_celsius},
        {185, 0, &g->power_average_watts},
        {186, 0, &g->power_instant_watts},
        {189, 0, &g->power_limit_default_watts},
        {83, 0, &g->energy_joules},
        {94, 0, &g->pcie_replays},
        {197, 0, &g->pcie_transmitted_bytes},
        {198, 0, &g->pcie_received_bytes},
        {74, 0, &g->violation_power_seconds},
        {75, 0, &g->violation_thermal_seconds},
        {76, 0, &g->violation_sync_boost_seconds},
        {77, 0, &g->violation_board_limit_seconds},
        {78, 0, &g->violation_low_utilization_seconds},
        {79, 0, &g->violation_reliability_seconds},
        {91, 0, &g->nvlink_links},
        {38, 0, &g->nvlink_crc_flit_errors},
        {45, 0, &g->nvlink_crc_data_errors},
        {52, 0, &g->nvlink_replays},
        {59, 0, &g->nvlink_recoveries},
        {215, ALL_LINKS, &g->nvlink_recoveries}, /* as Blackwell counts them */
        {138, ALL_LINKS, &g->nvlink_transmitted_bytes},
        {139, ALL_LINKS, &g->nvlink_received_bytes},
    };
    read_fields(g->device, wanted, 29, values);
}

static void read_sram_counter(struct gpu *g, unsigned counter, struct reading *r) {
    if (DeviceGetMemoryErrorCounter != NULL && open(r)) {
        unsigned long long value = 0;
        nvmlReturn_t code = CALL(DeviceGetMemoryErrorCounter, g->device, NVML_ERROR_TYPE_CORRECTED, counter,
            NVML_LOCATION_SRAM, &value);
        answer(r, code, false, (long long)value);
    }
}

static void read_ecc(struct gpu *g) {
    read_pair(DeviceGetEccMode, g->device, &g->ecc_mode, &g->ecc_mode_pending);
    read_ecc_total(g->device, NVML_ERROR_TYPE_CORRECTED, NVML_AGGREGATE_ECC, &g->ecc_aggregate_corrected);
    read_ecc_total(g->device, NVML_ERROR_TYPE_UNCORRECTED, NVML_AGGREGATE_ECC, &g->ecc_aggregate_uncorrected);
    if (DeviceGetSramEccErrorStatus != NULL) {
        nvmlEccSramErrorStatus_v1_t sram = {.version = nvmlEccSramErrorStatus_v1};
        nvmlReturn_t code = CALL(DeviceGetSramEccErrorStatus, g->device, &sram);
        answer(&g->ecc_sram_volatile_corrected, code, true, (long long)sram.volatileCor);
        answer(&g->ecc_sram_volatile_uncorrected_parity, code, true, (long long)sram.volatileUncParity);
        answer(&g->ecc_sram_volatile_uncorrected_secded, code, true, (long long)sram.volatileUncSecDed);
        answer(&g->ecc_sram_aggregate_corrected, code, true, (long long)sram.aggregateCor);
        answer(&g->ecc_sram_aggregate_uncorrected_parity, code, true, (long long)sram.aggregateUncParity);
        answer(&g->ecc_sram_aggregate_uncorrected_secded, code, true, (long long)sram.aggregateUncSecDed);
        answer(&g->ecc_sram_threshold_exceeded, code, true, sram.bThresholdExceeded);
    }
    read_sram_counter(g, NVML_VOLATILE_ECC, &g->ecc_sram_volatile_corrected);
    read_sram_counter(g, NVML_AGGREGATE_ECC, &g->ecc_sram_aggregate_corrected);
}

static void count_retired(struct gpu *g, unsigned cause, struct reading *r) {
    if (DeviceGetRetiredPages != NULL && open(r)) {
        unsigned count = 0;
        nvmlReturn_t code = CALL(DeviceGetRetiredPages, g->device, cause, &count, NULL);
        answer(r, code == NVML_ERROR_INSUFFICIENT_SIZE ? NVML_SUCCESS : code, false, count);
    }
}

static void read_remapped(struct gpu *g) {
    if (DeviceGetRemappedRows_v2 != NULL
        && (open(&g->remapped_rows_correctable) || open(&g->remapped_rows_uncorrectable))) {
        nvmlRemappedRowsInfo_v2_t rows = {0};
        nvmlReturn_t code = CALL(DeviceGetRemappedRows_v2, g->device, &rows);
        answer(&g->remapped_rows_correctable, code, false,
            (long long)rows.corrActiveRemaps + rows.corrInactiveRemaps);
        answer(&g->remapped_rows_uncorrectable, code, false, (long long)rows.uncActiveRemaps + rows.uncInactiveRemaps);
    }
    if (DeviceGetRemappedRows != NULL
        && (open(&g->remapped_rows_correctable) || open(&g->remapped_rows_uncorrectable))) {
        unsigned correctable = 0, uncorrectable = 0, pending = 0, failure = 0;
        nvmlReturn_t code =
            CALL(DeviceGetRemappedRows, g->device, &correctable, &uncorrectable, &pending, &failure);
        answer(&g->remapped_rows_correctable, code, false, correctable);
        answer(&g->remapped_rows_uncorrectable, code, false, uncorrectable);
    }
    if (DeviceGetRowRemapperHistogram != NULL) {
        nvmlRowRemapperHistogramValues_t banks = {0};
        nvmlReturn_t code = CALL(DeviceGetRowRemapperHistogram, g->device, &banks);
        answer(&g->remap_banks_max, code, false, banks.max);
        answer(&g->remap_banks_high, code, false, banks.high);
        answer(&g->remap_banks_partial, code, false, banks.partial);
        answer(&g->remap_banks_low, code, false, banks.low);
        answer(&g->remap_banks_none, code, false, banks.none);
    }
}

static void read_limits(struct gpu *g) {
    if (DeviceGetMarginTemperature != NULL) {
        nvmlMarginTemperature_v1_t margin = {.version = nvmlMarginTemperature_v1};
        nvmlReturn_t code = CALL(DeviceGetMarginTemperature, g->device, &margin);
        answer(&g->temperature_margin_celsius, code, true, margin.marginTemperature);
    }
    nvmlDevice_t d = g->device;
    read_kind(DeviceGetTemperatureThreshold, d, NVML_THRESHOLD_SHUTDOWN, &g->temperature_shutdown_celsius);
    read_kind(DeviceGetTemperatureThreshold, d, NVML_THRESHOLD_SLOWDOWN, &g->temperature_slowdown_celsius);
    read_kind(DeviceGetTemperatureThreshold, d, NVML_THRESHOLD_MEM_MAX, &g->temperature_memory_max_celsius);
    read_kind(DeviceGetTemperatureThreshold, d, NVML_THRESHOLD_GPU_MAX, &g->temperature_max_operating_celsius);
}

static void read_clocks_and_power(struct gpu *g) {
    nvmlDevice_t d = g->device;
    read_kind(DeviceGetClockInfo, d, NVML_CLOCK_GRAPHICS, &g->clock_graphics_hertz);
    read_kind(DeviceGetClockInfo, d, NVML_CLOCK_SM, &g->clock_sm_hertz);
    read_kind(DeviceGetClockInfo, d, NVML_CLOCK_MEM, &g->clock_memory_hertz);
    read_kind(DeviceGetClockInfo, d, NVML_CLOCK_VIDEO, &g->clock_video_hertz);
    read_kind(DeviceGetMaxClockInfo, d, NVML_CLOCK_GRAPHICS, &g->clock_graphics_max_hertz);
    read_kind(DeviceGetMaxClockInfo, d, NVML_CLOCK_SM, &g->clock_sm_max_hertz);
    read_kind(DeviceGetMaxClockInfo, d, NVML_CLOCK_MEM, &g->clock_memory_max_hertz);
    read_u32(DeviceGetEnforcedPowerLimit, d, &g->power_limit_enforced_watts);
    read_u32(DeviceGetPowerManagementDefaultLimit, d, &g->power_limit_default_watts);
    read_u64(DeviceGetTotalEnergyConsumption, d, &g->energy_joules);
    read_u32(DeviceGetFanSpeed, d, &g->fan_speed_ratio);
}

static void read_period(nvmlReturn_t (*function)(nvmlDevice_t, unsigned *, unsigned *), nvmlDevice_t device,
    struct reading *r) {
    if (function != NULL && open(r)) {
        unsigned value = 0, period = 0;
        nvmlReturn_t code = CALL(function, device, &value, &period);
        answer(r, code, false, value);
    }
}

static void read_pcie_and_video(struct gpu *g) {
    nvmlDevice_t d = g->device;
    if (DeviceGetBAR1MemoryInfo != NULL) {
        nvmlBAR1Memory_t bar1 = {0};
        nvmlReturn_t code = CALL(DeviceGetBAR1MemoryInfo, d, &bar1);
        answer(&g->bar1_total_bytes, code, false, (long long)bar1.bar1Total);
        answer(&g->bar1_used_bytes, code, false, (long long)bar1.bar1Used);
    }
    read_period(DeviceGetEncoderUtilization, d, &g->encoder_utilization_ratio);
    read_period(DeviceGetDecoderUtilization, d, &g->decoder_utilization_ratio);
    read_u32(DeviceGetCurrPcieLinkGeneration, d, &g->pcie_generation);
    read_u32(DeviceGetMaxPcieLinkGeneration, d, &g->pcie_generation_max);
    read_u32(DeviceGetCurrPcieLinkWidth, d, &g->pcie_width);
    read_u32(DeviceGetMaxPcieLinkWidth, d, &g->pcie_width_max);
    read_u32(DeviceGetPcieReplayCounter, d, &g->pcie_replays);
}

static void read_violation(struct gpu *g, unsigned policy, struct reading *r) {
    if (DeviceGetViolationStatus != NULL && open(r)) {
        nvmlViolationTime_t time = {0};
        nvmlReturn_t code = CALL(DeviceGetViolationStatus, g->device, policy, &time);
        answer(r, code, false, (long long)time.violationTime);
    }
}

static void read_violations(struct gpu *g) {
    read_violation(g, 0, &g->violation_power_seconds);
    read_violation(g, 1, &g->violation_thermal_seconds);
    read_violation(g, 2, &g->violation_sync_boost_seconds);
    read_violation(g, 3, &g->violation_board_limit_seconds);
    read_violation(g, 4, &g->violation_low_utilization_seconds);
    read_violation(g, 5, &g->violation_reliability_seconds);
}

static void read_link_errors(struct gpu *g, unsigned counter, unsigned link, struct reading *r) {
    if (DeviceGetNvLinkErrorCounter != NULL && open(r)) {
        unsigned long long value = 0;
        nvmlReturn_t code = CALL(DeviceGetNvLinkErrorCounter, g->device, link, counter, &value);
        answer(r, code, false, (long long)value);
    }
}

static void read_links(struct gpu *g) {
    const struct reading *known = &g->nvlink_links;
    int links = known->status == PRESENT && known->value >= 0 && known->value <= NVML_NVLINK_MAX_LINKS
        ? (int)known->value
        : 0;
    nvmlFieldValue_t values[NVML_NVLINK_MAX_LINKS * 6 + 12 * 5];
    struct wanted wanted[NVML_NVLINK_MAX_LINKS * 6 + 12 * 5];
    int count = 0;
    for (unsigned i = 0; i < (unsigned)links; i++) {
        wanted[count++] = (struct wanted){164, i, &g->links[i].speed_bytes_per_second};
        wanted[count++] = (struct wanted){165, i, &g->links[i].state};
        wanted[count++] = (struct wanted){166, i, &g->links[i].version};
        wanted[count++] = (struct wanted){161, i, &g->links[i].replays};
        wanted[count++] = (struct wanted){162, i, &g->links[i].recoveries};
        wanted[count++] = (struct wanted){215, i, &g->links[i].recoveries};
        if (i < 12) { /* fields with a number for each link: 0 to 5, 6 to 11 */
            unsigned at = i % 6;
            bool low = i < 6;
            wanted[count++] = (struct wanted){(low ? 32 : 96) + at, 0, &g->links[i].crc_flit_errors};
            wanted[count++] = (struct wanted){(low ? 39 : 102) + at, 0, &g->links[i].crc_data_errors};
            wanted[count++] = (struct wanted){(low ? 46 : 108) + at, 0, &g->links[i].replays};
            wanted[count++] = (struct wanted){(low ? 53 : 114) + at, 0, &g->links[i].recoveries};
            wanted[count++] = (struct wanted){(low ? 84 : 132) + at, 0, &g->links[i].speed_bytes_per_second};
        }
    }
    if (count > 0) {
        read_fields(g->device, wanted, count, values);
    }
    for (unsigned i = 0; i < (unsigned)links; i++) {
        read_kind(DeviceGetNvLinkState, g->device, i, &g->links[i].state);
        read_kind(DeviceGetNvLinkVersion, g->device, i, &g->links[i].version);
        read_link_errors(g, 0, i, &g->links[i].replays);
        read_link_errors(g, 1, i, &g->links[i].recoveries);
        read_link_errors(g, 2, i, &g->links[i].crc_flit_errors);
        read_link_errors(g, 3, i, &g->links[i].crc_data_errors);
    }
}

static void read_fabric(struct gpu *g) {
    if (DeviceGetGpuFabricInfoV != NULL) {
        nvmlGpuFabricInfo_v3_t v3 = {.version = nvmlGpuFabricInfo_v3};
        nvmlReturn_t code = CALL(DeviceGetGpuFabricInfoV, g->device, &v3);
        answer(&g->fabric_status, code, true, v3.status);
        answer(&g->fabric_clique, code, true, v3.cliqueId);
        answer(&g->fabric_state, code, true, v3.state);
        answer(&g->fabric_health_mask, code, true, v3.healthMask);
        answer(&g->fabric_health, code, true, v3.healthSummary);
        if (open(&g->fabric_state)) {
            nvmlGpuFabricInfo_v2_t v2 = {.version = nvmlGpuFabricInfo_v2};
            code = CALL(DeviceGetGpuFabricInfoV, g->device, &v2);
            answer(&g->fabric_status, code, true, v2.status);
            answer(&g->fabric_clique, code, true, v2.cliqueId);
            answer(&g->fabric_state, code, true, v2.state);
            answer(&g->fabric_health_mask, code, true, v2.healthMask);
        }
    }
    if (DeviceGetGpuFabricInfo != NULL && open(&g->fabric_state)) {
        nvmlGpuFabricInfo_t v1 = {0};
        nvmlReturn_t code = CALL(DeviceGetGpuFabricInfo, g->device, &v1);
        answer(&g->fabric_status, code, false, v1.status);
        answer(&g->fabric_clique, code, false, v1.cliqueId);
        answer(&g->fabric_state, code, false, v1.state);
    }
}

static void read_licenses(struct gpu *g) {
    if (DeviceGetGridLicensableFeatures_v4 != NULL) {
        nvmlGridLicensableFeatures_t features = {0};
        nvmlReturn_t code = CALL(DeviceGetGridLicensableFeatures_v4, g->device, &features);
        long long licensed = 0;
        for (int i = 0; i < 3; i++) {
            licensed += features.gridLicensableFeatures[i].featureState;
        }
        answer(&g->vgpu_licensable_features, code, false, features.licensableFeaturesCount);
        answer(&g->vgpu_licensed_features, code, false, licensed);
    }
}

void read_slow(struct gpu *g) {
    memset((char *)g + offsetof(struct gpu, ecc_mode), 0, sizeof(struct gpu) - offsetof(struct gpu, ecc_mode));
    read_field_batch(g);
    read_ecc(g);
    count_retired(g, 0, &g->retired_pages_single_bit);
    count_retired(g, 1, &g->retired_pages_double_bit);
    read_u32(DeviceGetRetiredPagesPendingStatus, g->device, &g->retired_pages_pending);
    read_remapped(g);
    read_limits(g);
    read_clocks_and_power(g);
    read_pcie_and_video(g);
    read_violations(g);
    read_links(g);
    read_fabric(g);
    read_u32(DeviceGetPersistenceMode, g->device, &g->persistence_mode);
    read_u32(DeviceGetComputeMode, g->device, &g->compute_mode);
    read_pair(DeviceGetMigMode, g->device, &g->mig_mode, &g->mig_mode_pending);
    read_u32(DeviceGetVirtualizationMode, g->device, &g->virtualization_mode);
    read_licenses(g);
}
