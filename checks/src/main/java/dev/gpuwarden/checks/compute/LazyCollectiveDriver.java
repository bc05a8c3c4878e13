package dev.gpuwarden.checks.compute;

import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveOpening;
import dev.gpuwarden.core.port.CollectiveOpening.Opened;
import dev.gpuwarden.core.port.CollectiveOptions;
import dev.gpuwarden.core.port.CollectiveProvider;
import dev.gpuwarden.core.port.DriverOpening.Unavailable;
import java.time.Duration;
import java.util.function.Supplier;

/** The library of collectives, opened by the first call of {@link #get}. */
public final class LazyCollectiveDriver extends LazyLibrary<CollectiveDriver> {

    public LazyCollectiveDriver(Supplier<CollectiveProvider> provider, CollectiveOptions options, Duration deadline) {
        super("NCCL", () -> opening(provider.get().open(options)), deadline);
    }

    private static Opening<CollectiveDriver> opening(CollectiveOpening opening) {
        return opening instanceof Opened opened
                ? new Opening.Opened<>(opened.driver())
                : new Opening.Missing<>((Unavailable) opening);
    }
}
