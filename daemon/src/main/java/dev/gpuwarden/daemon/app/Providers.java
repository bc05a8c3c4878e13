package dev.gpuwarden.daemon.app;

import dev.gpuwarden.core.port.DriverProvider;
import java.util.ServiceLoader;

/** Implementations of ports that are found on the path at run time. */
final class Providers {

    private Providers() {}

    static DriverProvider driver() {
        return ServiceLoader.load(DriverProvider.class)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "no driver provider on the class path: the jar of the module native is missing"));
    }
}
