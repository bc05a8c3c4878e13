package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver.DriverEvent;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.Function;

/**
 * The XIDs of the driver's events, in the form of its lines in the kernel log, for nodes whose log cannot be read. These events have
 * no details and no SXIDs, and those before the start are lost.
 */
public final class DriverSource implements LogSource {

    /** The name of the source, also in metrics. */
    static final String NAME = "the driver's events";

    private static final String KIND = "driver";

    /** nvml.h 13.3, nvmlEventTypeXidCriticalError */
    private static final long XID = 8;

    /** The longest wait for one event, as long as the driver's own waits (NvmlEvents). */
    private static final Duration SLICE = Duration.ofSeconds(1);

    /** The number of slices between checks for a readable log. */
    private static final int CHECK_EVERY = 60;

    /**
     * The driver's event queue. One thread reads it.
     *
     * @param await waits for an event, at most for the given time; absent where the driver delivers no events now
     * @param end releases the queue
     */
    public record Feed(Function<Duration, Reading<Optional<DriverEvent>>> await, Runnable end) {

        /** A feed without a driver. */
        public static final Feed NONE =
                new Feed(timeout -> Reading.absent(Absence.NOT_SUPPORTED, 0, "no driver is connected"), () -> {});
    }

    private final Feed feed;
    private final Function<String, Optional<PciAddress>> addresses;
    private final Optional<String> noLog;
    private final BooleanSupplier better;
    private final Clock clock;
    private final RetryPause backoff = new RetryPause(Duration.ofMinutes(1));
    private long count;

    /**
     * @param addresses returns the address of the GPU with a UUID
     * @param noLog the reason for which no log is read; empty where the settings select the driver
     * @param better returns whether a log can be read now, which ends this source
     */
    DriverSource(
            Feed feed,
            Function<String, Optional<PciAddress>> addresses,
            Optional<String> noLog,
            BooleanSupplier better,
            Clock clock) {
        this.feed = feed;
        this.addresses = addresses;
        this.noLog = noLog;
        this.better = better;
        this.clock = clock;
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public void read(Sink sink) {
        for (int slice = 1; !backoff.isClosed(); slice++) {
            Reading<Optional<DriverEvent>> received = feed.await().apply(SLICE);
            if (received instanceof Reading.Absent<?> absent) {
                String why = NAME + " are not available: " + absent.text();
                sink.unreadable(noLog.map(cause -> cause + "; " + why).orElse(why));
                backoff.await();
            } else {
                backoff.reset();
                noLog.ifPresentOrElse(
                        cause -> sink.unreadable(cause + "; XIDs are taken from " + NAME + " until then"),
                        sink::readable);
                received.asOptional()
                        .orElseThrow()
                        .filter(event -> event.type() == XID)
                        .ifPresent(xid -> deliver(xid, sink));
            }
            if (slice % CHECK_EVERY == 0 && better.getAsBoolean()) {
                break;
            }
        }
        feed.end().run();
    }

    private void deliver(DriverEvent xid, Sink sink) {
        Optional<PciAddress> address = xid.gpuUuid().asOptional().flatMap(addresses);
        String instance =
                xid.gpuInstance().asOptional().map(id -> " GPU-I:" + id).orElse("");
        String text = "NVRM: Xid (PCI:" + address.map(PciAddress::toString).orElse("unknown") + instance + "): "
                + xid.data() + ", reported by the driver, without the kernel's line";
        Instant now = clock.instant();
        // Reading cannot resume here, but the position distinguishes events.
        String behind = KIND + ":" + now + ":" + ++count;
        sink.record(new KernelRecord(now, KernelRecord.Writer.KERNEL, text), () -> behind);
    }

    @Override
    public void close() {
        backoff.close();
    }
}
