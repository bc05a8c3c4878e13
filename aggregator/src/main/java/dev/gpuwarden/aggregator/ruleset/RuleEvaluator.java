package dev.gpuwarden.aggregator.ruleset;

import dev.cel.runtime.CelEvaluationException;
import dev.gpuwarden.aggregator.cel.BoundedRuntime;
import dev.gpuwarden.aggregator.cel.CelEnvironment;
import dev.gpuwarden.aggregator.cel.CelExpression;
import dev.gpuwarden.aggregator.cel.Cost;
import dev.gpuwarden.aggregator.cel.InvalidExpressionException;
import dev.gpuwarden.aggregator.cel.KnownFields;
import dev.gpuwarden.aggregator.cel.KnownFields.Type;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet.Clause;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.HealthEvent.EventLimits;
import dev.gpuwarden.core.event.Overrides;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.IntStream;

/**
 * All rule sets, compiled. A rule set that cannot be used has the reason in its condition, and does not affect the others.
 * Immutable and thread-safe.
 */
public final class RuleEvaluator {

    public static final RuleEvaluator EMPTY = new RuleEvaluator(List.of(), List.of(), List.of());

    private final List<CompiledRuleSet> ready;
    private final List<CompiledRuleSet> disabled;
    private final List<RuleCondition> conditions;

    private RuleEvaluator(List<CompiledRuleSet> ready, List<CompiledRuleSet> disabled, List<RuleCondition> conditions) {
        this.ready = List.copyOf(ready);
        this.disabled = List.copyOf(disabled);
        this.conditions = List.copyOf(conditions);
    }

    /** A rule set that failed on an event. The event does not meet it. */
    public record Unanswered(String ruleSet, String why) {}

    /**
     * @param met the rule sets that the event meets, by name
     * @param unanswered the rule sets that failed, for their authors
     */
    public record Matches(List<QuarantineRuleSet> met, List<Unanswered> unanswered) {}

    /** Compiles rule sets. Each one takes milliseconds, the first one a second: not for a hot path. */
    public static RuleEvaluator compile(Collection<QuarantineRuleSet> ruleSets) {
        List<CompiledRuleSet> ready = new ArrayList<>();
        List<CompiledRuleSet> disabled = new ArrayList<>();
        List<RuleCondition> conditions = new ArrayList<>();
        for (QuarantineRuleSet set : ruleSets.stream()
                .sorted(Comparator.comparing(QuarantineRuleSet::name))
                .toList()) {
            boolean works = set.enabled();
            String reason = works ? "Ready" : "Disabled";
            String message = works ? "every clause compiles" : "spec.enabled is false: it is not evaluated";
            try {
                (works ? ready : disabled).add(CompiledRuleSet.compile(set));
            } catch (InvalidExpressionException e) {
                reason = works ? e.reason().name() : reason;
                message = works ? String.valueOf(e.getMessage()) : message;
                works = false;
            }
            conditions.add(new RuleCondition(set.name(), set.generation(), works, reason, message));
        }
        return new RuleEvaluator(ready, disabled, conditions);
    }

    /** Returns one condition for each rule set, by name. */
    public List<RuleCondition> conditions() {
        return conditions;
    }

    /**
     * Returns the rule sets that an event on a node meets.
     *
     * @param node the Node in the form of the API server, with maps for labels and annotations even if it has none
     */
    public Matches match(HealthEvent event, Map<String, Object> node) {
        return match(ready, event, node);
    }

    /** Returns the names of the disabled rule sets that an event on a node would meet, for readers. */
    public List<String> disabledFor(HealthEvent event, Map<String, Object> node) {
        return match(disabled, event, node).met().stream()
                .map(QuarantineRuleSet::name)
                .toList();
    }

    private static Matches match(List<CompiledRuleSet> rules, HealthEvent event, Map<String, Object> node) {
        Map<String, Object> tree = HealthEventFields.of(event);
        List<QuarantineRuleSet> met = new ArrayList<>();
        List<Unanswered> unanswered = new ArrayList<>();
        for (CompiledRuleSet rule : rules) {
            try {
                if (rule.test(tree, node)) {
                    met.add(rule.source());
                }
            } catch (CelEvaluationException e) {
                unanswered.add(new Unanswered(rule.source().name(), String.valueOf(e.getMessage())));
            }
        }
        return new Matches(met, unanswered);
    }

    /**
     * The condition `Ready` of a rule set: true if it is evaluated, else the reason.
     *
     * @param reason Ready, Disabled, DoesNotCompile, TooCostly, NeverMatches, Invalid or ClauseErrors
     * @param message the text for the author: the clause, line and column, the available fields
     */
    public record RuleCondition(String ruleSet, long generation, boolean ready, String reason, String message) {}

    /** A rule set with compiled clauses. Thread-safe. */
    private static final class CompiledRuleSet {

        /** An event's entities and codes are at most 512 pairs. A walk over each of them, and a few more, fit. */
        private static final BoundedRuntime RUNTIME = new BoundedRuntime(10_000);

        private static final CelEnvironment EVENTS =
                CelEnvironment.predicate(Clause.Kind.HEALTH_EVENT.variable(), RUNTIME);
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

    /**
     * A health event as a plain tree, with NVSentinel's names (health_event.proto). Expressions see it as `event`, and annotations
     * contain it. Every field is there, even if the event does not set it.
     */
    public static final class HealthEventFields {

        private static final Map<String, Type> FIELDS = fields();

        private HealthEventFields() {}

        private static Map<String, Type> fields() {
            Map<String, Type> fields = new TreeMap<>();
            of(HealthEvent.of("", "", "").build()).forEach((name, value) -> {
                fields.put(
                        name,
                        value instanceof Boolean
                                ? Type.BOOL
                                : value instanceof Long
                                        ? Type.INT
                                        : value instanceof List
                                                ? Type.LIST
                                                : value instanceof Map ? Type.MAP : Type.TEXT);
            });
            return fields;
        }

        public static Map<String, Type> types() {
            return FIELDS;
        }

        /** Returns the tree of an event. Numbers are longs and maps are sorted, so that equal events give equal trees. */
        public static Map<String, Object> of(HealthEvent event) {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("version", (long) event.version());
            tree.put("agent", event.agent());
            tree.put("componentClass", event.componentClass());
            tree.put("checkName", event.checkName());
            tree.put("isFatal", event.fatal());
            tree.put("isHealthy", event.healthy());
            tree.put("message", event.message());
            tree.put("recommendedAction", (long) event.action().number());
            tree.put("errorCode", event.errorCodes());
            tree.put(
                    "entitiesImpacted",
                    event.entities().stream()
                            .map(entity -> Map.of("entityType", entity.type(), "entityValue", entity.value()))
                            .map(TreeMap::new)
                            .toList());
            tree.put("metadata", new TreeMap<>(event.metadata()));
            Map<String, Object> generated = new LinkedHashMap<>();
            generated.put("seconds", event.generated().getEpochSecond());
            generated.put("nanos", (long) event.generated().getNano());
            tree.put("generatedTimestamp", generated);
            tree.put("nodeName", event.nodeName());
            tree.put("quarantineOverrides", overrides(event.quarantine()));
            tree.put("drainOverrides", overrides(event.drain()));
            tree.put("processingStrategy", (long) event.strategy().ordinal());
            tree.put("id", event.id());
            tree.put("customRecommendedAction", event.customAction());
            return tree;
        }

        private static Map<String, Object> overrides(Overrides overrides) {
            return new TreeMap<>(Map.of("force", overrides.force(), "skip", overrides.skip()));
        }
    }
}
