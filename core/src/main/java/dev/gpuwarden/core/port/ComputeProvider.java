package dev.gpuwarden.core.port;

/** A factory of compute drivers, found by {@link java.util.ServiceLoader}. */
public interface ComputeProvider {

    /**
     * Loads the library and initialises it. Blocks in the driver. It does not throw for any state of a node, and takes no memory
     * of a GPU.
     */
    ComputeOpening open(DriverOptions options);
}
