package dev.gpuwarden.nat.telemetry;

/**
 * One entry of nvmlDeviceGetFieldValues.
 *
 * @param id NVML_FI_DEV_* (nvml.h 13.3)
 * @param scope link number for per-link fields, otherwise 0; 0xffffffff = all links
 * @param slot of the frame
 */
public record Field(int id, int scope, int slot) {}
