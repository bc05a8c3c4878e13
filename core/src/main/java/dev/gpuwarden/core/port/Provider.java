package dev.gpuwarden.core.port;

import java.util.ServiceLoader;

/**
 * A factory of drivers. Each library has an interface of its own that extends this one, by which {@link ServiceLoader} finds it.
 *
 * @param <D> the driver
 * @param <O> the options of opening the library
 */
public interface Provider<D, O> {

    /** Loads the library and initialises it. Blocks in the driver. It does not throw for any state of a node. */
    Opening<D> open(O options);

    /**
     * Returns the implementation of a port that is on the class path at run time.
     *
     * @throws IllegalStateException if there is none
     */
    static <P> P of(Class<P> port) {
        return ServiceLoader.load(port)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "no " + port.getSimpleName() + " on the class path: the jar of the module native is missing"));
    }
}
