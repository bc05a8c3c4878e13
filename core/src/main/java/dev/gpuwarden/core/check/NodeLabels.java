package dev.gpuwarden.core.check;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Verdict;
import java.util.List;
import java.util.Map;

/** The labels of a node from which other schedulers read its health. Pure. */
public final class NodeLabels {

    /** Autopilot's; CodeFlare's AppWrapper keeps work away from WARN and takes it away from EVICT. */
    public static final String GPU_HEALTH = "autopilot.ibm.com/gpuhealth";

    private static final String PASS = "PASS";
    private static final String WARN = "WARN";
    private static final String EVICT = "EVICT";

    private NodeLabels() {}

    /**
     * Labels that the node must have now; one of ours that is not among them must go. EVICT for a fatal fault, WARN for any
     * other that asks for something or is a check's own, PASS on evidence of health, and nothing where nobody could look: a
     * node without evidence is not healthy, and work must not be moved off it for ignorance.
     */
    public static Map<String, String> of(List<CheckResult> results, List<Fault> faults) {
        String health = "";
        for (Fault fault : faults) {
            HealthEvent cause = fault.cause();
            if (!cause.strategy().actedOn()) {
                continue;
            }
            if (cause.fatal()) {
                return Map.of(GPU_HEALTH, EVICT);
            }
            // A user's program that crashed is in the kernel log too, and no reason to avoid the node.
            if (cause.action() != RecommendedAction.NONE || cause.agent().equals(FindingEvents.AGENT)) {
                health = WARN;
            }
        }
        if (health.isEmpty() && NodeVerdict.of(results) == Verdict.FIT) {
            health = PASS;
        }
        return health.isEmpty() ? Map.of() : Map.of(GPU_HEALTH, health);
    }
}
