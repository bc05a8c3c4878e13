package dev.gpuwarden.aggregator.fleet;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.cache.NodeCache.Trim;
import dev.gpuwarden.aggregator.drain.DrainAnnotation;
import dev.gpuwarden.aggregator.quarantine.FaultSummary;
import dev.gpuwarden.aggregator.quarantine.QuarantineSummary;
import dev.gpuwarden.aggregator.remediation.RepairSummary;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultKey;
import dev.gpuwarden.core.holder.GpuResource;
import dev.gpuwarden.core.node.PartNames;
import dev.gpuwarden.core.util.JsonTrees;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The state of a node, with its cause and the next action.
 *
 * @param unschedulable true if the Node accepts no new pods, for any cause
 * @param since the start of the state; empty if unknown
 * @param cause the cause why a faulty node is in service; empty in other states
 * @param why the reason, as text for the operator
 * @param next the next action or event; empty if none is needed
 * @param faults the faults that may be acted on, as last reported, the worst first
 * @param names the display names of the parts in the faults
 * @param reported the time of its last report; empty without one
 * @param inspection the summary of its quarantine; empty if its annotations cannot be read
 * @param drain the drain, as far as it is written on the Node; empty without one
 * @param repair the repair that is under way, has ended or is requested; empty without one
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
        Optional<DrainAnnotation> drain,
        Optional<RepairSummary> repair) {

    static final Comparator<Fault> WORST_FIRST = Comparator.<Fault, Boolean>comparing(
                    fault -> !fault.cause().fatal())
            .thenComparing(Fault::since)
            .thenComparing(Fault::key, FaultKey.ORDER);

    static final Comparator<NodeAssessment> WORST_NODE_FIRST = Comparator.comparing(NodeAssessment::state)
            .thenComparing(node -> node.since().orElse(Instant.MAX))
            .thenComparing(NodeAssessment::name);

    /** Returns the node's faults in few lines, one at least if there are any. */
    public FaultSummary summary() {
        return FaultSummary.of(faults, names, 1);
    }

    boolean fatal() {
        return faults.stream().anyMatch(fault -> fault.cause().fatal());
    }

    /** Returns true if work must not run on the node. */
    public boolean unfit() {
        return state == FleetState.FAULTY || state == FleetState.QUARANTINED || state == FleetState.CORDONED && fatal();
    }

    /** The cause why a node with faults that stop work is still in service. */
    public enum Cause {
        /** The aggregator makes a dry run. */
        DRY_RUN,
        /** A limit of the breaker is or was reached. */
        BREAKER,
        /** A label excludes the node from quarantine. */
        OPTED_OUT,
        /** No rule set matches. */
        NO_RULE,
        /** The report is too old, incomplete or implausible. */
        REPORT,
        /** An operator or the reporter of the fault overrides the quarantine. */
        OVERRIDDEN,
        /** No aggregator acts. */
        NO_LEADER,
        /** The quarantine of the node is about to be written. */
        PENDING,
        /** The quarantine annotations of the node cannot be read. */
        MARKS,
        /** An object that the decision depends on could not be read. */
        UNKNOWN;

        String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The states of a node, the worst first. */
    public enum FleetState {
        FAULTY("in service with faults that stop work"),
        SILENT("nothing is known of them now"),
        QUARANTINED("out of service for their faults"),
        CORDONED("out of service by a cordon, not by quarantine"),
        DEGRADED("in service with faults that do not stop work"),
        HEALTHY("in service without faults"),
        /** A node with neither GPUs nor a NodeHealth, which this program ignores. */
        OTHER("without GPUs");

        private final String text;

        FleetState(String text) {
            this.text = text;
        }

        /** Returns the meaning of the state, as text for the operator. */
        public String text() {
            return text;
        }

        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * A Node, with the facts that only the full object contains.
     *
     * @param gpus true if a label or the capacity of the Node names GPUs
     * @param cordoner the program that cordoned the Node; empty if it is schedulable, or if the program is unknown
     */
    public record NodeFacts(CachedNode node, boolean gpus, Optional<Cordoner> cordoner) {

        /**
         * @param program the program's field manager, for example `kubectl-cordon`
         * @param at the time of its last write to the Node under that name
         */
        public record Cordoner(String program, Optional<Instant> at) {}

        /** @param tree the Node from the API server; its large fields are not kept */
        public static NodeFacts of(Map<String, Object> tree) {
            CachedNode node = CachedNode.of(Trim.node(tree));
            return new NodeFacts(node, gpus(tree), node.unschedulable() ? cordoner(tree) : Optional.empty());
        }

        private static boolean gpus(Map<String, Object> tree) {
            Map<String, String> labels = JsonTrees.texts(JsonTrees.object(tree, "metadata"), "labels");
            Map<String, Object> capacity = JsonTrees.object(JsonTrees.object(tree, "status"), "capacity");
            return "true".equals(labels.get("nvidia.com/gpu.present"))
                    || capacity.entrySet().stream()
                            .anyMatch(resource -> GpuResource.isGpu(resource.getKey())
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
