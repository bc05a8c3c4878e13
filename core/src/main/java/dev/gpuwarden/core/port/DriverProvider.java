package dev.gpuwarden.core.port;

/** A factory of drivers, found by {@link java.util.ServiceLoader}. */
public interface DriverProvider {

    /** Returns the provider's name, for example "nvml". */
    String name();

    /** Loads the library and initialises it. Blocks in the driver. It does not throw for any state of a node. */
    DriverOpening open(DriverOptions options);
}
