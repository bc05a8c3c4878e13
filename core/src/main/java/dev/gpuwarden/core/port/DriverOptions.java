package dev.gpuwarden.core.port;

import java.util.List;

/**
 * Options for opening the driver.
 *
 * @param libraryPaths files or folders that are searched before the loader's own search; usually empty
 * @param samplerPath the way to read telemetry
 * @param profiling whether the slow sampling reads the load of a GPU's parts; else those readings are {@code OFF}
 * @param matrixLibraryPaths the same as {@code libraryPaths} for the library of matrix products
 */
public record DriverOptions(
        List<String> libraryPaths, SamplerPath samplerPath, boolean profiling, List<String> matrixLibraryPaths) {

    public DriverOptions(List<String> libraryPaths, SamplerPath samplerPath) {
        this(libraryPaths, samplerPath, false);
    }

    public DriverOptions(List<String> libraryPaths, SamplerPath samplerPath, boolean profiling) {
        this(libraryPaths, samplerPath, profiling, List.of());
    }

    /** The two ways to call the driver; both do the same work. */
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
