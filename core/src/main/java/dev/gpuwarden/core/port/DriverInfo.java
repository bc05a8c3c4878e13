package dev.gpuwarden.core.port;

import dev.gpuwarden.core.model.Reading;

/**
 * The identity of the driver.
 *
 * @param name of the provider, for example "nvml"
 * @param libraryPath file that the loader took
 * @param libraryVersion for example "12.550.163.01"
 * @param driverVersion for example "550.163.01"
 * @param cudaVersion highest CUDA version that the driver supports, for example "12.4"
 * @param samplerPath the way to read telemetry: "jni" or "jna", with the reason where it is the slower one
 */
public record DriverInfo(
        String name,
        Reading<String> libraryPath,
        Reading<String> libraryVersion,
        Reading<String> driverVersion,
        Reading<String> cudaVersion,
        String samplerPath) {}
