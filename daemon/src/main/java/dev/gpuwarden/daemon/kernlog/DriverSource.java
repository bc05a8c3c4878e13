package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord;
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
 * The XIDs that the driver tells to who listens, in the form of its lines in the kernel log, so that everything else takes them
 * as such. For where that log cannot be read: there are no particulars, no SXids, and nothing of what nobody listened to.
 */
final class DriverSource implements LogSource {

    static final String NAME = "the driver's events";

    private static final String KIND = "driver";

    /** nvml.h 13.3, nvmlEventTypeXidCriticalError */
    private static final long XID = 8;

    /** How often it is asked whether to go on. As long as the driver's own waits are (NvmlEvents). */
    private static final Duration SLICE = Duration.ofSeconds(1);

    /** How often, in slices, it is asked whether there is a log by now. */
    private static final int LOOK_EVERY = 60;

    private final DriverFeed feed;
    private final Function<String, Optional<PciAddress>> places;
    private final Optional<String> noLog;
    private final BooleanSupplier better;
    private final Clock clock;
    private final Backoff patience = new Backoff(Duration.ofMinutes(1));
    private long told;

    /**
     * @param places where the GPU with this UUID sits
     * @param noLog why no log is read; empty where the user wants none
     * @param better whether reading is to end, for there is a log by now
     */
    DriverSource(
            DriverFeed feed,
            Function<String, Optional<PciAddress>> places,
            Optional<String> noLog,
            BooleanSupplier better,
            Clock clock) {
        this.feed = feed;
        this.places = places;
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
        for (int slice = 1; !patience.isClosed(); slice++) {
            Reading<Optional<DriverEvent>> heard = feed.await().apply(SLICE);
            if (heard instanceof Reading.Absent<?> absent) {
                String why = NAME + " cannot be had: " + absent.text();
                sink.unreadable(noLog.map(cause -> cause + "; " + why).orElse(why));
                patience.await();
            } else {
                patience.reset();
                noLog.ifPresentOrElse(
                        cause -> sink.unreadable(cause + "; XIDs are taken from " + NAME + " meanwhile"),
                        sink::readable);
                heard.asOptional()
                        .orElseThrow()
                        .filter(event -> event.type() == XID)
                        .ifPresent(xid -> tell(xid, sink));
            }
            if (slice % LOOK_EVERY == 0 && better.getAsBoolean()) {
                break;
            }
        }
        feed.end().run();
    }

    private void tell(DriverEvent xid, Sink sink) {
        Optional<PciAddress> place = xid.gpuUuid().asOptional().flatMap(places);
        String instance =
                xid.gpuInstance().asOptional().map(id -> " GPU-I:" + id).orElse("");
        String text = "NVRM: Xid (PCI:" + place.map(PciAddress::toString).orElse("unknown") + instance + "): "
                + xid.data() + ", told by the driver, without the kernel's line";
        Instant now = clock.instant();
        // Where nothing is read again nothing goes on; but events are told apart by it.
        String behind = KIND + ":" + now + ":" + ++told;
        sink.record(new KernelRecord(now, KernelRecord.Writer.KERNEL, text), () -> behind);
    }

    @Override
    public void close() {
        patience.close();
    }
}
