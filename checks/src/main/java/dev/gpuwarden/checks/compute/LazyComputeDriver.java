package dev.gpuwarden.checks.compute;

import dev.gpuwarden.core.port.ComputeDriver;
import dev.gpuwarden.core.port.ComputeOpening;
import dev.gpuwarden.core.port.ComputeOpening.Opened;
import dev.gpuwarden.core.port.ComputeProvider;
import dev.gpuwarden.core.port.DriverOpening.Unavailable;
import dev.gpuwarden.core.port.DriverOptions;
import java.time.Duration;
import java.util.function.Supplier;

/** The compute driver, opened by the first call of {@link #get}. */
public final class LazyComputeDriver extends LazyLibrary<ComputeDriver> {

    public LazyComputeDriver(Supplier<ComputeProvider> provider, DriverOptions options, Duration deadline) {
        super("the CUDA driver library", () -> opening(provider.get().open(options)), deadline);
    }

    private static Opening<ComputeDriver> opening(ComputeOpening opening) {
        return opening instanceof Opened opened
                ? new Opening.Opened<>(opened.driver())
                : new Opening.Missing<>((Unavailable) opening);
    }
}
