package dev.gpuwarden.core.event;

import java.time.Instant;
import java.util.List;

/** Events and the faults that they leave. */
public final class Told {

    public static final Instant NOON = Instant.parse("2026-11-22T12:00:00Z");
    public static final String NODE = "node-a";

    private Told() {}

    /** A GPU that fell off the bus, under both of its names. */
    public static HealthEvent.Builder xid79(String pci) {
        return fatal("SysLogsXIDError")
                .errorCodes(List.of("79"))
                .entities(List.of(new Entity(Entity.PCI, pci), Entity.gpu("GPU-" + pci)))
                .message("fell off the bus")
                .action(RecommendedAction.RESTART_BM);
    }

    public static HealthEvent.Builder fatal(String check) {
        return HealthEvent.of("test", "GPU", check).nodeName(NODE).fatal(true);
    }

    /** One second passes between two of them, the first at noon. */
    public static List<Fault> faults(HealthEvent... events) {
        FaultTable table = new FaultTable();
        for (int i = 0; i < events.length; i++) {
            table.apply(events[i], i + 1, NOON.plusSeconds(i));
        }
        return table.faults();
    }

    public static StoredEvent stored(long sequence, HealthEvent event) {
        Instant at = NOON.plusSeconds(sequence);
        return new StoredEvent(sequence, event, at, at, 1);
    }
}
