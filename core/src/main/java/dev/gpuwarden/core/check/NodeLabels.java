package dev.gpuwarden.core.check;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Verdict;
import java.util.List;
import java.util.Map;

/** The labels of a node from which other schedulers learn its health. Pure. */
public final class NodeLabels {

    /** Autopilot's label. CodeFlare's AppWrapper avoids nodes with WARN, and moves work away from nodes with EVICT. */
    public static final String GPU_HEALTH = "autopilot.ibm.com/gpuhealth";

    private static final String PASS = "PASS";
    private static final String WARN = "WARN";
    private static final String EVICT = "EVICT";

    private NodeLabels() {}

    /**
     * Returns the labels that the node must have; another label of gpuwarden must be removed. EVICT stands for a fatal
     * fault. WARN stands for any other fault that requests an action or comes from a check. PASS needs evidence of
     * health. Without evidence there is no label: such a node is not healthy, and work must not be moved off it for
     * missing knowledge.
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
            // A crash of a user's program is in the kernel log too, and no reason to avoid the node.
            if (cause.action() != RecommendedAction.NONE || cause.agent().equals(FindingEvents.AGENT)) {
                health = WARN;
            }
        }
        if (health.isEmpty() && NodeVerdict.of(results, faults) == Verdict.FIT) {
            health = PASS;
        }
        return health.isEmpty() ? Map.of() : Map.of(GPU_HEALTH, health);
    }
}
