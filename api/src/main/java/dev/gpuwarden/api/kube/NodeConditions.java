package dev.gpuwarden.api.kube;

import dev.gpuwarden.core.event.Fault;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The conditions that a Node must have, from its current faults and its present conditions. Pure. */
public final class NodeConditions {

    /** Limit on conditions: all of them are sent to every watcher of the node whenever one changes. */
    static final int MOST = 32;

    /** Interval in which an unchanged condition is confirmed; each confirmation changes the Node. */
    static final Duration HEARTBEAT = Duration.ofMinutes(30);

    private NodeConditions() {}

    /**
     * Returns all conditions of gpuwarden; empty where nothing must be written.
     *
     * @param complete whether every check has run since the writer began; before, no condition is reported as
     *     healthy
     */
    public static Optional<List<Condition>> change(List<Fault> faults, boolean complete, NodeView there, Instant now) {
        Instant second = now.truncatedTo(ChronoUnit.SECONDS);
        List<Condition> wanted = wanted(faults, complete, there, second);
        boolean same = wanted.size() == there.own().size()
                && wanted.stream().allMatch(condition -> stands(condition, there, second));
        return same ? Optional.empty() : Optional.of(wanted);
    }

    private static boolean stands(Condition wanted, NodeView there, Instant now) {
        Condition is = there.conditions().get(wanted.type());
        return is != null
                && there.own().contains(wanted.type())
                && is.says(wanted)
                && !(wanted.bad() && is.heartbeat().plus(HEARTBEAT).isBefore(now));
    }

    /**
     * Returns the conditions of faults, then those of gpuwarden without a fault; the oldest of these are dropped where
     * there are too many.
     */
    private static List<Condition> wanted(List<Fault> faults, boolean complete, NodeView there, Instant now) {
        List<Condition> wanted = new ArrayList<>();
        byType(faults, there).forEach((type, ofType) -> wanted.add(faulty(type, ofType, there, now)));
        for (Condition old : there.ownConditions()) {
            boolean faulty =
                    wanted.stream().anyMatch(condition -> condition.type().equals(old.type()));
            if (!faulty && wanted.size() < MOST) {
                wanted.add(complete ? healthy(old, now) : old);
            }
        }
        return wanted;
    }

    private static Condition healthy(Condition old, Instant now) {
        Instant since = old.status().equals(Condition.FALSE) ? old.transition() : now;
        return Condition.healthy(old.type(), ConditionType.check(old.type()), since, now);
    }

    private static Map<String, List<Fault>> byType(List<Fault> faults, NodeView there) {
        Map<String, List<Fault>> byType = new LinkedHashMap<>();
        for (Fault fault : faults.stream().sorted(FaultText.OLDEST_FIRST).toList()) {
            if (!fault.cause().fatal() || !fault.cause().strategy().actedOn()) {
                continue;
            }
            String type = ConditionType.of(fault.key().checkName(), there);
            boolean room = byType.containsKey(type) || byType.size() < MOST - 1;
            byType.computeIfAbsent(room ? type : ConditionType.OTHERS, any -> new ArrayList<>())
                    .add(fault);
        }
        return byType;
    }

    private static Condition faulty(String type, List<Fault> faults, NodeView there, Instant now) {
        Condition old = there.conditions().get(type);
        Instant since = faults.stream()
                .map(Fault::since)
                .min(Instant::compareTo)
                .orElse(now)
                .truncatedTo(ChronoUnit.SECONDS);
        if (old != null) {
            // The new status began no earlier than the old one.
            since = old.bad() || old.transition().isAfter(since) ? old.transition() : since;
        }
        boolean named = type.startsWith(ConditionType.PREFIX);
        return Condition.faulty(type, ConditionType.check(type), FaultText.of(faults, named), earlier(since, now), now);
    }

    private static Instant earlier(Instant a, Instant b) {
        return a.isBefore(b) ? a : b;
    }

    /** Returns the body of a server-side apply. */
    public static Map<String, Object> body(String node, List<Condition> conditions) {
        Map<String, Object> status =
                Map.of("conditions", conditions.stream().map(Condition::tree).toList());
        return Map.of("apiVersion", "v1", "kind", "Node", "metadata", Map.of("name", node), "status", status);
    }
}
