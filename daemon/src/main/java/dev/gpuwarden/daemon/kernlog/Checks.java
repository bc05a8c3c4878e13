package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.core.kernel.Signal;
import dev.gpuwarden.daemon.kernlog.Repetitions.Occurrence;
import java.time.Instant;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** The checks of kernel-log events, by the names of NVSentinel's syslog-health-monitor (spec/gpu-reset.md 1.1, 1.2). */
final class Checks {

    static final String AGENT = "syslog-health-monitor";
    static final String XID = "SysLogsXIDError";
    static final String SXID = "SysLogsSXIDError";
    static final String FALLEN_OFF = "SysLogsGPUFallenOff";
    static final String NIC = "SysLogsNICDriverError";
    static final String DRIVER = "SysLogsDriverError";
    static final String RESET_FAILURE = "GPU_RESET_FAILURE";

    /** A check of one class of component. */
    record Check(String name, String componentClass) {}

    private static final List<Check> OWN = List.of(
            new Check(XID, "GPU"),
            new Check(SXID, "NVSWITCH"),
            new Check(FALLEN_OFF, "GPU"),
            new Check(NIC, "NIC"),
            new Check(DRIVER, "GPU"),
            new Check(DRIVER, "NODE"));

    private Checks() {}

    /**
     * Returns the check of a signal.
     *
     * @param gpu whether a message of the driver concerns a GPU, and not the node
     */
    static Check of(Signal signal, boolean gpu) {
        return switch (signal.kind()) {
            case XID, GPU_NAMED, GPU_RESET -> OWN.get(0);
            case SXID -> OWN.get(1);
            case FALLEN_OFF_BUS -> OWN.get(2);
            case MESSAGE -> signal.code().startsWith("nic-") ? OWN.get(3) : OWN.get(gpu ? 4 : 5);
        };
    }

    static HealthEvent.Builder event(Check check, String nodeName) {
        return HealthEvent.of(AGENT, check.componentClass(), check.name()).nodeName(nodeName);
    }

    /** Returns the events that clear all faults of the log after a reboot. */
    static List<Occurrence> rebooted(Rules rules, RecordRules others, String nodeName, Instant now) {
        Set<Check> all = new LinkedHashSet<>(OWN);
        rules.patterns().forEach(rule -> all.add(new Check(rule.check(), rule.componentClass())));
        others.checks().forEach(name -> all.add(new Check(name, "NODE")));
        return all.stream()
                .map(check -> event(check, nodeName)
                        .healthy(true)
                        .generated(now)
                        .message("the node was booted")
                        .build())
                .map(Occurrence::of)
                .toList();
    }

    /** Returns the events that clear the faults of a GPU after its reset. The specification sets them fatal. */
    static List<Occurrence> reset(List<Entity> gpu, String nodeName, Instant when) {
        return List.of(OWN.get(0), OWN.get(2), OWN.get(4)).stream()
                .map(check -> event(check, nodeName)
                        .healthy(true)
                        .fatal(true)
                        .entities(gpu)
                        .generated(when)
                        .build())
                .map(Occurrence::of)
                .toList();
    }
}
