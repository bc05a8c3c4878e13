package dev.gpuwarden.core.port;

/** Opens a driver; found by {@link java.util.ServiceLoader}. */
public interface DriverProvider {

    /** For example "nvml". */
    String name();

    /** Loads the library and initialises it. Blocks in the driver. Never throws for what a node may be like. */
    DriverOpening open(DriverOptions options);
}
