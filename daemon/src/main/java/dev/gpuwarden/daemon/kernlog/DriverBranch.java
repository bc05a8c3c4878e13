package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The branch of the loaded driver, on which the layout of NVLink 5 errors depends (xid-nvlink5.tsv). */
public final class DriverBranch {

    private static final Pattern BRANCH = Pattern.compile("(\\d{1,6})\\.");
    private static final long OLD_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Supplier<DriverState> driver;
    private final LongSupplier nanoTime;
    private volatile Optional<Integer> branch = Optional.empty();
    private volatile long lookupAt;

    private DriverBranch(Supplier<DriverState> driver, LongSupplier nanoTime) {
        this.driver = driver;
        this.nanoTime = nanoTime;
        lookupAt = nanoTime.getAsLong();
    }

    /** Returns the parser for a driver; the standard parser where its version is unknown. */
    public static KernelLogParser parser(DriverState driver) {
        KernelLogParser standard = KernelLogParser.standard();
        return of(driver).map(standard::withDriverBranch).orElse(standard);
    }

    /**
     * Returns a parser that looks up the driver when a line depends on it, at most once a minute. The driver may not be open yet, or
     * may be replaced later.
     */
    public static KernelLogParser parser(Supplier<DriverState> driver) {
        return parser(driver, System::nanoTime);
    }

    static KernelLogParser parser(Supplier<DriverState> driver, LongSupplier nanoTime) {
        return KernelLogParser.standard().withDriverBranch(new DriverBranch(driver, nanoTime)::get);
    }

    private Optional<Integer> get() {
        if (nanoTime.getAsLong() - lookupAt >= 0) {
            lookupAt = nanoTime.getAsLong() + OLD_NANOS;
            branch = of(driver.get());
        }
        return branch;
    }

    private static Optional<Integer> of(DriverState driver) {
        return driver instanceof DriverState.Running running
                ? running.info()
                        .driverVersion()
                        .asOptional()
                        .map(BRANCH::matcher)
                        .filter(Matcher::lookingAt)
                        .map(branch -> Integer.valueOf(branch.group(1)))
                : Optional.empty();
    }
}
