package dev.gpuwarden.core.port;

import java.util.List;

/**
 * How to open the driver.
 *
 * @param libraryPaths files or folders to look in before the loader's own search; usually empty
 * @param samplerPath which way telemetry is read
 */
public record DriverOptions(List<String> libraryPaths, SamplerPath samplerPath) {

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
