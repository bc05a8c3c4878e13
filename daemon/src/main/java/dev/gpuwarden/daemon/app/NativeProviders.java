package dev.gpuwarden.daemon.app;

import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.port.ProcessSignals;
import java.util.ServiceLoader;

/** A lookup of implementations of ports on the class path at run time. */
final class NativeProviders {

    private NativeProviders() {}

    static ProcessSignals signals() {
        return ServiceLoader.load(ProcessSignals.class)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "no signal provider on the class path: the jar of the module native is missing"));
    }

    static DriverProvider driver() {
        return ServiceLoader.load(DriverProvider.class)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "no driver provider on the class path: the jar of the module native is missing"));
    }
}
