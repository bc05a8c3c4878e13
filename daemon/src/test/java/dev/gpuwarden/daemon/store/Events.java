package dev.gpuwarden.daemon.store;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import java.time.Instant;
import java.util.List;

/** Events in the form of a kernel log monitor. */
final class Events {

    static final Entity PCI = new Entity(Entity.PCI, "0000:3b:00");
    static final Entity UUID = Entity.gpu("GPU-455d8f70-2051-db6c-0430-ffc457bff834");

    private Events() {}

    /**
     * Returns an XID event.
     *
     * @param number makes it another event of the same fault
     */
    static HealthEvent xid(String code, int number) {
        return builder(number)
                .fatal(true)
                .errorCodes(List.of(code))
                .message("NVRM: Xid (PCI:0000:3b:00): " + code + ", telling " + number)
                .action(RecommendedAction.COMPONENT_RESET)
                .build();
    }

    static HealthEvent healthy(int number) {
        return builder(number).healthy(true).message("telling " + number).build();
    }

    static HealthEvent.Builder builder(int number) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .nodeName("node-7")
                .entities(List.of(PCI, UUID))
                .generated(Instant.parse("2026-11-21T10:00:00.123456789Z").plusSeconds(number));
    }
}
