package dev.gpuwarden.core.kernel;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.kernel.Signal.Severity;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The event that the daemon makes of an XID whose line has only the number. Pure. */
public final class XidEvent {

    /** The program that reports the kernel log, by NVSentinel's name (spec/gpu-reset.md 1.1). */
    public static final String AGENT = Reporter.KERNEL_LOG;

    public static final String CHECK = "SysLogsXIDError";
    public static final String COMPONENT = "GPU";

    private static final String SEVERITY = "severity";

    private XidEvent() {}

    /**
     * Returns the event; empty for a number that the daemon does not report.
     *
     * @param gpu names of the GPU, with its UUID: without one, the daemon requests a restart instead of a reset
     */
    public static Optional<HealthEvent> of(ErrorNumber xid, String node, List<Entity> gpu, Instant when) {
        if (xid.severity() == Severity.INFO) {
            return Optional.empty();
        }
        return Optional.of(HealthEvent.of(AGENT, COMPONENT, CHECK)
                .nodeName(node)
                .fatal(xid.action() != RecommendedAction.NONE)
                .message((xid.name().isEmpty() ? "" : xid.name() + ": ") + "Xid " + xid.number())
                .action(xid.action())
                .errorCodes(List.of(Integer.toString(xid.number())))
                .entities(gpu)
                .metadata(Map.of(SEVERITY, xid.severity().label()))
                .generated(when)
                .build());
    }
}
