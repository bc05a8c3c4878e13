package dev.gpuwarden.core.port;

/** A factory of collective drivers, found by {@link java.util.ServiceLoader}. */
public interface CollectiveProvider {

    /** Loads the libraries and initialises them. Blocks in the driver. It does not throw for any state of a node. */
    CollectiveOpening open(CollectiveOptions options);
}
