package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.LogParser;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.core.node.NodeSnapshot.DriverState;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A parser for the lines of the loaded driver. It looks up the driver's version when a line depends on it, because the driver may
 * not be open yet, or may be replaced later. One thread parses.
 */
public final class DriverParser implements LogParser {

    private static final Pattern BRANCH = Pattern.compile("(\\d{1,6})\\.");
    private static final long OLD_NANOS = TimeUnit.MINUTES.toNanos(1);

    private final Supplier<DriverState> driver;
    private final LongSupplier nanoTime;
    private volatile KernelLogParser parser = KernelLogParser.standard();
    private volatile long lookupAt;

    public DriverParser(Supplier<DriverState> driver) {
        this(driver, System::nanoTime);
    }

    DriverParser(Supplier<DriverState> driver, LongSupplier nanoTime) {
        this.driver = driver;
        this.nanoTime = nanoTime;
        lookupAt = nanoTime.getAsLong();
    }

    @Override
    public Optional<Signal> parse(String text) {
        Optional<Signal> signal = parser.parse(text);
        if (signal.isEmpty() || !dependsOnDriver(signal.get()) || nanoTime.getAsLong() - lookupAt < 0) {
            return signal;
        }
        lookupAt = nanoTime.getAsLong() + OLD_NANOS;
        parser = of(driver.get());
        return parser.parse(text);
    }

    /** Returns whether the signal is an NVLink 5 error, whose layout depends on the driver (xid-nvlink5.tsv). */
    private static boolean dependsOnDriver(Signal signal) {
        return signal.kind() == Signal.Kind.XID
                && signal.family().compareTo("144") >= 0
                && signal.family().compareTo("150") <= 0;
    }

    /** Returns the parser for a driver; the standard parser where the version is unknown. */
    public static KernelLogParser of(DriverState driver) {
        KernelLogParser standard = KernelLogParser.standard();
        return driver instanceof DriverState.Running running
                ? running.info()
                        .driverVersion()
                        .asOptional()
                        .map(BRANCH::matcher)
                        .filter(Matcher::lookingAt)
                        .map(branch -> standard.withDriverBranch(Integer.parseInt(branch.group(1))))
                        .orElse(standard)
                : standard;
    }
}
