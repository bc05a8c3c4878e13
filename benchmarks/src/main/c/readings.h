/* The readings that the baseline takes of one GPU, and the functions that it calls for them. */
#ifndef GPUWARDEN_READINGS_H
#define GPUWARDEN_READINGS_H

#include <stdbool.h>

#include "nvml_mirror.h"

/* Names are those of `gpuwarden scan -o json`, values are in NVML's units. */
#define GPU_READINGS(X) \
    X(memory_total_bytes) X(memory_reserved_bytes) X(memory_free_bytes) X(memory_used_bytes) X(temperature_celsius) \
    X(power_usage_watts) X(utilization_ratio) X(memory_utilization_ratio) X(clock_event_reasons) X(performance_state) \
    X(ecc_volatile_corrected) X(ecc_volatile_uncorrected) X(remapped_rows_pending) X(remapped_rows_failure) \
    X(recovery_action) X(ecc_mode) X(ecc_mode_pending) X(ecc_aggregate_corrected) X(ecc_aggregate_uncorrected) \
    X(ecc_sram_volatile_corrected) X(ecc_sram_volatile_uncorrected_parity) X(ecc_sram_volatile_uncorrected_secded) \
    X(ecc_sram_aggregate_corrected) X(ecc_sram_aggregate_uncorrected_parity) X(ecc_sram_aggregate_uncorrected_secded) \
    X(ecc_sram_threshold_exceeded) X(retired_pages_single_bit) X(retired_pages_double_bit) X(retired_pages_pending) \
    X(remapped_rows_correctable) X(remapped_rows_uncorrectable) X(remap_banks_max) X(remap_banks_high) \
    X(remap_banks_partial) X(remap_banks_low) X(remap_banks_none) X(memory_temperature_celsius) \
    X(temperature_margin_celsius) X(temperature_shutdown_celsius) X(temperature_slowdown_celsius) \
    X(temperature_max_operating_celsius) X(temperature_memory_max_celsius) X(clock_graphics_hertz) X(clock_sm_hertz) \
    X(clock_memory_hertz) X(clock_video_hertz) X(clock_graphics_max_hertz) X(clock_sm_max_hertz) \
    X(clock_memory_max_hertz) X(power_average_watts) X(power_instant_watts) X(power_limit_enforced_watts) \
    X(power_limit_default_watts) X(energy_joules) X(bar1_total_bytes) X(bar1_used_bytes) X(encoder_utilization_ratio) \
    X(decoder_utilization_ratio) X(fan_speed_ratio) X(pcie_generation) X(pcie_generation_max) X(pcie_width) \
    X(pcie_width_max) X(pcie_replays) X(pcie_transmitted_bytes) X(pcie_received_bytes) X(violation_power_seconds) \
    X(violation_thermal_seconds) X(violation_sync_boost_seconds) X(violation_board_limit_seconds) \
    X(violation_low_utilization_seconds) X(violation_reliability_seconds) X(nvlink_links) X(nvlink_crc_flit_errors) \
    X(nvlink_crc_data_errors) X(nvlink_replays) X(nvlink_recoveries) X(nvlink_transmitted_bytes) \
    X(nvlink_received_bytes) X(fabric_state) X(fabric_status) X(fabric_clique) X(fabric_health_mask) \
    X(fabric_health) X(persistence_mode) X(compute_mode) X(mig_mode) X(mig_mode_pending) \
    X(virtualization_mode) X(vgpu_licensable_features) X(vgpu_licensed_features) \
    X(graphics_engine_active_ratio) X(sm_active_ratio) X(sm_occupancy_ratio) X(tensor_active_ratio) \
    X(dram_active_ratio) X(fp64_active_ratio) X(fp32_active_ratio) X(fp16_active_ratio) \
    X(pcie_transmit_rate_bytes_per_second) X(pcie_receive_rate_bytes_per_second) \
    X(nvlink_transmit_rate_bytes_per_second) X(nvlink_receive_rate_bytes_per_second)

#define LINK_READINGS(X) \
    X(state) X(version) X(speed_bytes_per_second) X(replays) X(recoveries) X(crc_flit_errors) X(crc_data_errors)

/* OPEN: not read yet, or no call so far had the value; the next call may have it. */
enum status { OPEN, PRESENT, REFUSED };

struct reading {
    long long value;
    enum status status;
    nvmlReturn_t code;
};

#define FIELD(name) struct reading name;
struct gpu {
    nvmlDevice_t device;
    GPU_READINGS(FIELD)
    struct {
        LINK_READINGS(FIELD)
    } links[NVML_NVLINK_MAX_LINKS];
};
#undef FIELD

void read_fast(struct gpu *gpu);
void read_slow(struct gpu *gpu);

/* Calls of the library made by read_fast and read_slow so far. */
extern unsigned long long library_calls;

#endif
