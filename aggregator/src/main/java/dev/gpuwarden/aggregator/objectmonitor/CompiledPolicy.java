package dev.gpuwarden.aggregator.objectmonitor;

import dev.cel.runtime.CelEvaluationException;
import dev.gpuwarden.aggregator.cel.BoundedRuntime;
import dev.gpuwarden.aggregator.cel.CelEnvironment;
import dev.gpuwarden.aggregator.cel.CelExpression;
import dev.gpuwarden.aggregator.cel.Cost;
import dev.gpuwarden.aggregator.cel.InvalidExpressionException;
import dev.gpuwarden.aggregator.client.Json.PlainTree;
import dev.gpuwarden.aggregator.objectmonitor.MonitorPolicy.ResourceType;
import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** A policy with compiled expressions. Pure: equal objects at the same moment give equal outcomes. Thread-safe. */
public final class CompiledPolicy {

    private static final String RESOURCE = "resource";

    /** The steps of a walk over each of 200 items for each of 200, which takes less than a tenth of a second. */
    private static final BoundedRuntime RUNTIME = new BoundedRuntime(50_000);

    /** The fields that controllers and kubelets write as an object's state changes, by the conventions of Kubernetes' API. */
    private static final Set<String> STATE = Set.of(
            RESOURCE + ".status",
            RESOURCE + ".metadata.deletionTimestamp",
            RESOURCE + ".spec.taints",
            RESOURCE + ".spec.unschedulable");

    private static final CelEnvironment PREDICATES = CelEnvironment.timedPredicate(RESOURCE, STATE, RUNTIME);
    private static final CelEnvironment NODE_NAMES = CelEnvironment.timedText(RESOURCE, RUNTIME);

    /**
     * The moments from now at which a future result is evaluated. Between two of them the result is assumed to change at most
     * once.
     */
    private static final List<Duration> DELAYS =
            List.of(Duration.ofMinutes(5), Duration.ofHours(1), Duration.ofDays(1), Duration.ofDays(30));

    private static final Duration FINEST = Duration.ofMillis(1);

    /**
     * The limit of the thread's processor time, which a busy machine does not shorten. The next evaluation finds a change that
     * was not foreseen.
     */
    private static final Duration MOST = Duration.ofMillis(50);

    private static final ThreadMXBean THREADS = ManagementFactory.getThreadMXBean();

    private final MonitorPolicy source;
    private final CelExpression predicate;
    private final CelExpression association;

    private CompiledPolicy(MonitorPolicy source, CelExpression predicate, CelExpression association) {
        this.source = source;
        this.predicate = predicate;
        this.association = association;
    }

    /** Compiles a policy in milliseconds, the first one in a second: not for a hot path. */
    public static CompiledPolicy compile(MonitorPolicy source) throws InvalidExpressionException {
        return new CompiledPolicy(
                source,
                compiled("predicate.expression", PREDICATES, source.resource(), source.predicate()),
                compiled("nodeAssociation.expression", NODE_NAMES, source.resource(), source.association()));
    }

    private static CelExpression compiled(String field, CelEnvironment environment, ResourceType type, String text)
            throws InvalidExpressionException {
        try {
            return CelExpression.compile(environment, type.knownFields(RESOURCE), text);
        } catch (InvalidExpressionException e) {
            throw e.in(field);
        }
    }

    private static Map<String, Object> variables(Map<String, Object> object, Instant now) {
        return Map.of(RESOURCE, object, CelEnvironment.NOW, now);
    }

    public MonitorPolicy source() {
        return source;
    }

    /** @param object the object in the form of {@link PlainTree} */
    public Outcome evaluate(Map<String, Object> object, Instant now) {
        long start = THREADS.getCurrentThreadCpuTime();
        boolean matches;
        try {
            matches = test(object, now);
        } catch (CelEvaluationException e) {
            long took = THREADS.getCurrentThreadCpuTime() - start;
            return new Outcome(false, "", Optional.of(why(e)), Cost.exceeded(e), timed(object), Optional.empty(), took);
        }
        long took = THREADS.getCurrentThreadCpuTime() - start;
        boolean timed = timed(object);
        Optional<Instant> changes = timed ? changes(object, now, matches) : Optional.empty();
        if (!matches) {
            return new Outcome(false, "", Optional.empty(), false, timed, changes, took);
        }
        String node = "";
        boolean costly = false;
        Optional<String> problem = Optional.empty();
        try {
            Object name = association.eval(variables(object, now));
            node = name instanceof String text && !text.isBlank() ? text : "";
            if (node.isEmpty()) {
                problem =
                        Optional.of("nodeAssociation gives " + (name instanceof String ? "an empty text" : "no text"));
            }
        } catch (CelEvaluationException e) {
            problem = Optional.of("nodeAssociation: " + why(e));
            costly = Cost.exceeded(e);
        }
        return new Outcome(true, node, problem, costly, timed, changes, took);
    }

    /**
     * Returns whether the object can match in some state and at some time. False if it has another namespace, label, owner or
     * name than the predicate selects. True if that is unknown: the predicate fails, or mentions no state and no time.
     *
     * @param object the object in the form of {@link PlainTree}
     */
    boolean selects(Map<String, Object> object) {
        try {
            return predicate.canBeTrue(RESOURCE, object);
        } catch (CelEvaluationException e) {
            return true;
        }
    }

    private boolean test(Map<String, Object> object, Instant at) throws CelEvaluationException {
        return predicate.test(variables(object, at));
    }

    /** Returns whether the object matches at a moment. An object that cannot be evaluated does not match. */
    private boolean willMatch(Map<String, Object> object, Instant at) {
        try {
            return test(object, at);
        } catch (CelEvaluationException e) {
            return false;
        }
    }

    private boolean timed(Map<String, Object> object) {
        try {
            return predicate.dependsOnTime(RESOURCE, object);
        } catch (CelEvaluationException e) {
            return false;
        }
    }

    private Optional<Instant> changes(Map<String, Object> object, Instant now, boolean matches) {
        long end = THREADS.getCurrentThreadCpuTime() + MOST.toNanos();
        Instant before = now;
        for (Duration delay : DELAYS) {
            Instant after = now.plus(delay);
            if (willMatch(object, after) != matches) {
                return Optional.of(between(object, before, after, matches, end));
            }
            if (THREADS.getCurrentThreadCpuTime() > end) {
                break;
            }
            before = after;
        }
        return Optional.empty();
    }

    /** Returns the first moment between the two at which the result differs, or a later one. */
    private Instant between(Map<String, Object> object, Instant from, Instant to, boolean matches, long end) {
        Instant before = from;
        Instant after = to;
        while (Duration.between(before, after).compareTo(FINEST) > 0 && THREADS.getCurrentThreadCpuTime() < end) {
            Instant middle = before.plus(Duration.between(before, after).dividedBy(2));
            if (willMatch(object, middle) == matches) {
                before = middle;
            } else {
                after = middle;
            }
        }
        return after;
    }

    private static String why(CelEvaluationException e) {
        return Cost.exceeded(e) ? Cost.why(e) : String.valueOf(e.getMessage());
    }

    /**
     * The result of a policy for an object at a moment.
     *
     * @param matches true if the object is faulty
     * @param node the node that the object concerns; empty if it does not match, or the policy finds no node
     * @param problem the reason why the evaluation failed or found no node; empty otherwise
     * @param tooCostly true if the evaluation ended because it costs too much
     * @param timed true if the result can change as time passes
     * @param changes the time of the next such change; empty if it cannot be foreseen
     * @param nanos the processor time of the evaluation at this moment, in nanoseconds
     */
    public record Outcome(
            boolean matches,
            String node,
            Optional<String> problem,
            boolean tooCostly,
            boolean timed,
            Optional<Instant> changes,
            long nanos) {}
}
