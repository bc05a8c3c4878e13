package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOpening;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverProvider;
import java.util.List;
import java.util.ServiceLoader;

/** Opens the simulated driver as the daemon would. */
final class Drivers {

    private Drivers() {}

    static Driver open(String library, DriverOptions.SamplerPath path) {
        DriverProvider provider = ServiceLoader.load(DriverProvider.class)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no driver provider on the class path"));
        DriverOpening opening = provider.open(new DriverOptions(List.of(library), path));
        if (opening instanceof DriverOpening.Opened opened) {
            String taken = opened.driver().info().samplerPath();
            if (!taken.startsWith(path.name().toLowerCase(java.util.Locale.ROOT))) {
                throw new IllegalStateException("asked for the path " + path + ", got: " + taken);
            }
            return opened.driver();
        }
        throw new IllegalStateException("driver not opened: " + opening);
    }
}
