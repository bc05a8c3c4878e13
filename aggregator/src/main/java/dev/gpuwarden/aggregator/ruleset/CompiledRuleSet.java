package dev.gpuwarden.aggregator.ruleset;

import dev.cel.runtime.CelEvaluationException;
import dev.gpuwarden.aggregator.cel.BoundedRuntime;
import dev.gpuwarden.aggregator.cel.CelEnvironment;
import dev.gpuwarden.aggregator.cel.CelExpression;
import dev.gpuwarden.aggregator.cel.Cost;
import dev.gpuwarden.aggregator.cel.InvalidExpressionException;
import dev.gpuwarden.aggregator.cel.KnownFields;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet.Clause;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.EventLimits;
import dev.gpuwarden.core.event.HealthEvent;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/** A rule set with compiled clauses. Thread-safe. */
final class CompiledRuleSet {

    /** An event's entities and codes are at most 512 pairs. A walk over each of them, and a few more, fit. */
    private static final BoundedRuntime RUNTIME = new BoundedRuntime(10_000);

    private static final CelEnvironment EVENTS = CelEnvironment.predicate(Clause.Kind.HEALTH_EVENT.variable(), RUNTIME);
    private static final CelEnvironment NODES = CelEnvironment.predicate(Clause.Kind.NODE.variable(), RUNTIME);
    private static final KnownFields EVENT_FIELDS = known(Clause.Kind.HEALTH_EVENT, HealthEventFields.types());
    private static final KnownFields NODE_FIELDS = known(
            Clause.Kind.NODE,
            Map.of(
                    "apiVersion", KnownFields.Type.TEXT,
                    "kind", KnownFields.Type.TEXT,
                    "metadata", KnownFields.Type.MAP,
                    "spec", KnownFields.Type.MAP,
                    "status", KnownFields.Type.MAP));

    private record Step(Clause.Kind kind, CelExpression expression) {
        boolean test(Map<String, Object> event, Map<String, Object> node) throws CelEvaluationException {
            return expression.test(Map.of(kind.variable(), kind == Clause.Kind.NODE ? node : event));
        }
    }

    private final QuarantineRuleSet source;
    private final List<Step> all;
    private final List<Step> any;

    private CompiledRuleSet(QuarantineRuleSet source, List<Step> all, List<Step> any) {
        this.source = source;
        this.all = all;
        this.any = any;
    }

    private static KnownFields known(Clause.Kind kind, Map<String, KnownFields.Type> types) {
        Map<String, KnownFields.Type> byPath = new TreeMap<>();
        types.forEach((field, type) -> byPath.put(kind.variable() + "." + field, type));
        return new KnownFields(
                Map.of(kind.variable(), types.keySet()),
                byPath,
                kind.variable() + " with " + String.join(", ", new TreeSet<>(types.keySet())));
    }

    static CompiledRuleSet compile(QuarantineRuleSet source) throws InvalidExpressionException {
        List<Step> all = new ArrayList<>();
        List<Step> any = new ArrayList<>();
        for (int i = 0; i < source.all().size(); i++) {
            all.add(step(source.all().get(i), "match.all[" + i + "]"));
        }
        for (int i = 0; i < source.any().size(); i++) {
            any.add(step(source.any().get(i), "match.any[" + i + "]"));
        }
        return new CompiledRuleSet(source, all, any);
    }

    private static Step step(Clause clause, String place) throws InvalidExpressionException {
        try {
            Step step = new Step(
                    clause.kind(),
                    clause.kind() == Clause.Kind.NODE
                            ? CelExpression.compile(NODES, NODE_FIELDS, clause.expression())
                            : CelExpression.compile(EVENTS, EVENT_FIELDS, clause.expression()));
            tryOut(step);
            return step;
        } catch (InvalidExpressionException e) {
            throw e.in(place);
        }
    }

    /**
     * Evaluates a clause on the largest event that is accepted. An error because the event lacks a field is no fault of the
     * clause.
     */
    private static void tryOut(Step step) throws InvalidExpressionException {
        for (Map<String, Object> event : Largest.EVENTS) {
            try {
                boolean unused = step.test(event, Largest.NODE);
            } catch (CelEvaluationException e) {
                if (Cost.exceeded(e)) {
                    throw new InvalidExpressionException(
                            InvalidExpressionException.Reason.TooCostly,
                            Cost.why(e) + ", for an event with " + EventLimits.FAULTS + " entities or codes and "
                                    + EventLimits.CHARACTERS + " characters");
                }
            }
        }
    }

    QuarantineRuleSet source() {
        return source;
    }

    /** @throws CelEvaluationException if a clause cannot be evaluated; the event does not meet the rule set then */
    boolean test(Map<String, Object> event, Map<String, Object> node) throws CelEvaluationException {
        for (Step step : all) {
            if (!step.test(event, node)) {
                return false;
            }
        }
        for (Step step : any) {
            if (step.test(event, node)) {
                return true;
            }
        }
        return any.isEmpty();
    }

    /** The largest events that {@link EventLimits} accepts. */
    private static final class Largest {
        static final List<Map<String, Object>> EVENTS =
                List.of(event(EventLimits.FAULTS, 1), event(1, EventLimits.FAULTS));

        static final Map<String, Object> NODE = Map.of(
                "metadata", Map.of("name", "node", "labels", Map.of(), "annotations", Map.of()),
                "spec", Map.of("taints", List.of()),
                "status", Map.of("conditions", List.of()));

        private static Map<String, Object> event(int entities, int codes) {
            return HealthEventFields.of(HealthEvent.of("agent", "GPU", "check")
                    .fatal(true)
                    .message("x".repeat(EventLimits.CHARACTERS))
                    .entities(IntStream.range(0, entities)
                            .mapToObj(i -> new Entity("GPU", Integer.toString(i)))
                            .toList())
                    .errorCodes(IntStream.range(0, codes)
                            .mapToObj(Integer::toString)
                            .toList())
                    .build());
        }
    }
}
