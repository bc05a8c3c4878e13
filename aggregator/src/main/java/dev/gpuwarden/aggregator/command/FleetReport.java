package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.breaker.NodeSelector;
import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.fleet.BreakerStatus.BreakerView;
import dev.gpuwarden.aggregator.fleet.ClusterContext;
import dev.gpuwarden.aggregator.fleet.FleetReader.FleetSnapshot;
import dev.gpuwarden.aggregator.fleet.NodeAssessment;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.FleetState;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.NodeFacts;
import dev.gpuwarden.aggregator.fleet.NodeJson;
import dev.gpuwarden.core.health.Verdict;
import java.time.Instant;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The report on a cluster's nodes: gpuwarden.fleet/v1, see docs/operating/fleet.md. Pure.
 *
 * @param nodes the requested nodes, the worst first
 * @param shown the requested nodes that are listed
 */
record FleetReport(Instant at, List<NodeAssessment> nodes, List<NodeAssessment> shown, ClusterContext around) {

    static final String SCHEMA = "gpuwarden.fleet/v1";

    static FleetReport of(FleetSnapshot snapshot, NodeSelector selector, Set<FleetState> states) {
        Set<String> selected = snapshot.facts().stream()
                .map(NodeFacts::node)
                .filter(node -> selector.matches(node.labels()))
                .map(CachedNode::name)
                .collect(Collectors.toSet());
        List<NodeAssessment> nodes = snapshot.nodes().stream()
                .filter(node -> selected.contains(node.name()))
                .toList();
        return new FleetReport(
                snapshot.at(),
                nodes,
                nodes.stream().filter(node -> states.contains(node.state())).toList(),
                snapshot.around());
    }

    /** Returns the verdict. A node that is not fit outweighs a silent one; without nodes, the verdict is undecided. */
    Verdict verdict() {
        if (nodes.stream().anyMatch(NodeAssessment::unfit)) {
            return Verdict.NOT_FIT;
        }
        Map<FleetState, Long> counts = counts();
        boolean none = counts.entrySet().stream()
                .allMatch(state -> state.getKey() == FleetState.OTHER || state.getValue() == 0);
        return none || counts.getOrDefault(FleetState.SILENT, 0L) > 0 ? Verdict.UNDECIDED : Verdict.FIT;
    }

    Map<FleetState, Long> counts() {
        Map<FleetState, Long> counts = new EnumMap<>(FleetState.class);
        for (FleetState state : FleetState.values()) {
            counts.put(state, 0L);
        }
        nodes.forEach(node -> counts.merge(node.state(), 1L, Long::sum));
        return counts;
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("at", at.toString());
        tree.put("verdict", verdict().label());
        Map<String, Object> states = new LinkedHashMap<>();
        counts().forEach((state, count) -> states.put(state.label(), count));
        tree.put("states", states);
        tree.put("breaker", BreakerView.tree(around));
        tree.put("notes", around.notes(at));
        tree.put("nodes", shown.stream().map(NodeJson::tree).toList());
        return tree;
    }
}
