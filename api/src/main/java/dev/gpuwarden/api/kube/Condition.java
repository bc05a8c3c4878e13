package dev.gpuwarden.api.kube;

import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A condition of a Node.
 *
 * @param status "True" is a fault, the reverse of Kubernetes' own `Ready`
 * @param transition time since which the status is unchanged
 * @param heartbeat time of the last confirmation
 */
public record Condition(
        String type, String status, String reason, String message, Instant transition, Instant heartbeat) {

    public static final String TRUE = "True";
    public static final String FALSE = "False";
    private static final String HEALTHY = "IsHealthy";
    private static final String NOT_HEALTHY = "IsNotHealthy";
    private static final String NO_FAILURES = "No Health Failures";

    public static Condition faulty(String type, String check, String message, Instant transition, Instant heartbeat) {
        return new Condition(type, TRUE, reason(check, false), message, transition, heartbeat);
    }

    public static Condition healthy(String type, String check, Instant transition, Instant heartbeat) {
        return new Condition(type, FALSE, reason(check, true), NO_FAILURES, transition, heartbeat);
    }

    /** Returns NVSentinel's reason for a check's state. */
    static String reason(String check, boolean healthy) {
        return check + (healthy ? HEALTHY : NOT_HEALTHY);
    }

    /**
     * Returns whether this condition has the form in which this program, NVSentinel and programs like it report a check
     * with this name.
     */
    boolean tellsHealthOf(String check) {
        return reason.equals(reason(check, true)) || reason.equals(reason(check, false));
    }

    public boolean bad() {
        return status.equals(TRUE);
    }

    /** Returns whether both have the same content, apart from their times. */
    public boolean says(Condition other) {
        return status.equals(other.status) && reason.equals(other.reason) && message.equals(other.message);
    }

    public Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("type", type);
        tree.put("status", status);
        tree.put("reason", reason);
        tree.put("message", message);
        tree.put("lastTransitionTime", transition.toString());
        tree.put("lastHeartbeatTime", heartbeat.toString());
        return tree;
    }
}
