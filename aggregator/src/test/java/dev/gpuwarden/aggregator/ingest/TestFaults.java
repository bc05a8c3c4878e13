package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Instant;
import java.util.List;
import java.util.stream.IntStream;

/** Events and faults of a node's daemon. */
public final class TestFaults {

    public static final Instant SEEN = Instant.parse("2026-11-22T01:02:03Z");

    private TestFaults() {}

    public static HealthEvent xid(String node, String code) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .id(node + "-" + code)
                .nodeName(node)
                .fatal(true)
                .action(RecommendedAction.RESTART_BM)
                .errorCodes(List.of(code))
                .entities(List.of(new Entity(Entity.PCI, "0000:3b:00")))
                .message("NVRM: Xid (PCI:0000:3b:00): " + code + ", GPU has fallen off the bus.")
                .generated(SEEN)
                .build();
    }

    public static HealthEvent mended(String node) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .id(node + "-mended")
                .nodeName(node)
                .healthy(true)
                .generated(SEEN)
                .build();
    }

    public static Fault fault(String node, String code) {
        return fault(xid(node, code));
    }

    public static Fault fault(HealthEvent cause) {
        return new Fault(cause.keys().get(0), cause, 1, SEEN, SEEN, 1);
    }

    public static Fault hugeFault(String node, int entities) {
        HealthEvent cause = HealthEvent.of("a", "GPU", "c")
                .nodeName(node)
                .entities(IntStream.range(0, entities)
                        .mapToObj(i -> new Entity("E", Integer.toString(i)))
                        .toList())
                .generated(SEEN)
                .build();
        return fault(cause);
    }

    public static StoredEvent stored(long sequence, HealthEvent event) {
        return new StoredEvent(sequence, event, SEEN, SEEN, 1);
    }
}
