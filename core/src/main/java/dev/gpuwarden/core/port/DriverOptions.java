package dev.gpuwarden.core.port;

import java.util.List;

/**
 * How to open the driver.
 *
 * @param libraryPaths files or folders to look in before the loader's own search; usually empty
 * @param samplerPath which way telemetry is read
 * @param profiling whether the slow sampling reads how busy the parts of a GPU are; else those readings are {@code OFF}
 */
public record DriverOptions(List<String> libraryPaths, SamplerPath samplerPath, boolean profiling) {

    public DriverOptions(List<String> libraryPaths, SamplerPath samplerPath) {
        this(libraryPaths, samplerPath, false);
    }

    /** The two ways into the driver, which do the same work. */
    public enum SamplerPath {
        /** JNI where its library loads, otherwise JNA. */
        AUTO,
        JNI,
        JNA
    }

    public static DriverOptions defaults() {
        return new DriverOptions(List.of(), SamplerPath.AUTO);
    }
}
