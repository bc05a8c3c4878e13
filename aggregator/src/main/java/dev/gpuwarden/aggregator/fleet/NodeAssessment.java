package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache.Trim;
import dev.gpuwarden.aggregator.client.JsonTrees;
import dev.gpuwarden.aggregator.drain.DrainAnnotation;
import dev.gpuwarden.aggregator.quarantine.FaultSummary;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.node.PartNames;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * How a node is and why.
 *
 * @param unschedulable whether it takes no new pods, whoever wanted that
 * @param since when it is so; empty where nothing tells
 * @param cause only where it is faulty
 * @param why for people
 * @param next what has to happen, or will; empty where nothing has to
 * @param faults that somebody may act on, as they were told last, the worst first
 * @param names what people call the parts that the faults name
 * @param reported when it was last heard of
 * @param inspection empty where its marks cannot be read
 * @param drain of its pods, as far as it is written on the Node; empty where there is none
 */
public record NodeAssessment(
        String name,
        FleetState state,
        boolean unschedulable,
        Optional<Instant> since,
        Optional<Cause> cause,
        String why,
        String next,
        List<Fault> faults,
        PartNames names,
        Optional<Instant> reported,
        Optional<QuarantineSummary> inspection,
        Optional<DrainAnnotation> drain) {

    static final Comparator<Fault> WORST_FIRST = Comparator.<Fault, Boolean>comparing(
                    fault -> !fault.cause().fatal())
            .thenComparing(Fault::since)
            .thenComparing(fault -> fault.key().toString());

    static final Comparator<NodeAssessment> WORST_NODE_FIRST = Comparator.comparing(NodeAssessment::state)
            .thenComparing(look -> look.since().orElse(Instant.MAX))
            .thenComparing(NodeAssessment::name);

    /** Its faults in few lines, one at least if there are any. */
    public FaultSummary summary() {
        return FaultSummary.of(faults, names, 1);
    }

    boolean fatal() {
        return faults.stream().anyMatch(fault -> fault.cause().fatal());
    }

    /** Whether work must not run there. */
    public boolean unfit() {
        return state == FleetState.FAULTY || state == FleetState.QUARANTINED || state == FleetState.CORDONED && fatal();
    }

    /** Why a node with faults that stop work is in service all the same. */
    public enum Cause {
        /** The aggregator only says what it would do. */
        DRY_RUN,
        /** A limit is reached, or was. */
        BREAKER,
        /** A label of the node. */
        OPTED_OUT,
        /** None of the rule sets asks for it. */
        NO_RULE,
        /** Too old, not complete, or not possible. */
        REPORT,
        /** A person, or whoever told the fault, wants it so. */
        OVERRIDDEN,
        /** No aggregator acts. */
        NO_LEADER,
        /** It is going to be taken out of service. */
        PENDING,
        /** What quarantine has left on the node cannot be read. */
        MARKS,
        /** Something that decides could not be read. */
        UNKNOWN;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** How a node is, the worst first. */
    public enum FleetState {
        FAULTY("in service with faults that stop work"),
        SILENT("nothing is known of them now"),
        QUARANTINED("out of service for their faults"),
        CORDONED("out of service by somebody else"),
        DEGRADED("in service with faults that do not stop work"),
        HEALTHY("in service without faults"),
        /** Neither GPUs nor a NodeHealth: none of this program's business. */
        OTHER("without GPUs");

        private final String text;

        FleetState(String text) {
            this.text = text;
        }

        /** What it means, for people. */
        public String text() {
            return text;
        }

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * A Node with what only its full text tells.
     *
     * @param gpus whether it says that it has any
     * @param cordoner who wrote that it is to take no pods; empty where it takes them, or nothing tells
     */
    public record NodeFacts(CachedNode node, boolean gpus, Optional<Cordoner> cordoner) {

        /**
         * @param program by the name that it gave the API server, as `kubectl-cordon`
         * @param at when it last wrote anything on the Node under that name
         */
        public record Cordoner(String program, Optional<Instant> at) {}

        /** @param tree as the API server has it; what is large in it is not kept */
        public static NodeFacts of(Map<String, Object> tree) {
            CachedNode node = CachedNode.of(Trim.node(tree));
            return new NodeFacts(node, gpus(tree), node.unschedulable() ? cordoner(tree) : Optional.empty());
        }

        private static boolean gpus(Map<String, Object> tree) {
            Map<String, String> labels = JsonTrees.texts(JsonTrees.object(tree, "metadata"), "labels");
            Map<String, Object> capacity = JsonTrees.object(JsonTrees.object(tree, "status"), "capacity");
            return "true".equals(labels.get("nvidia.com/gpu.present"))
                    || capacity.entrySet().stream()
                            .anyMatch(resource -> (resource.getKey().equals("nvidia.com/gpu")
                                            || resource.getKey().startsWith("nvidia.com/mig-"))
                                    && !String.valueOf(resource.getValue()).equals("0"));
        }

        private static Optional<Cordoner> cordoner(Map<String, Object> tree) {
            return JsonTrees.objects(JsonTrees.object(tree, "metadata"), "managedFields").stream()
                    .filter(fields -> JsonTrees.object(JsonTrees.object(fields, "fieldsV1"), "f:spec")
                            .containsKey("f:unschedulable"))
                    .findFirst()
                    .map(fields ->
                            new Cordoner(JsonTrees.text(fields, "manager"), time(JsonTrees.text(fields, "time"))));
        }

        private static Optional<Instant> time(String text) {
            try {
                return Optional.of(Instant.parse(text));
            } catch (DateTimeException e) {
                return Optional.empty();
            }
        }
    }
}
