package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.breaker.PoolState;
import dev.gpuwarden.aggregator.fleet.BreakerView;
import dev.gpuwarden.aggregator.fleet.Cause;
import dev.gpuwarden.aggregator.fleet.ClusterContext;
import dev.gpuwarden.aggregator.fleet.FleetLook;
import dev.gpuwarden.aggregator.fleet.NodeAssessment;
import dev.gpuwarden.aggregator.fleet.NodeFacts;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/** What there is to say of the breaker: gpuwarden.breaker/v1, see docs/operating/fleet.md. Pure. */
record BreakerReport(FleetLook look) {

    static final String SCHEMA = "gpuwarden.breaker/v1";

    /** Nodes of a pool that would be out of service but for the breaker. */
    List<String> waiting(String pool) {
        Set<String> waiting = waiting().stream().map(NodeAssessment::name).collect(Collectors.toSet());
        return look.around().breaker().limited().stream()
                .filter(each -> each.name().equals(pool))
                .flatMap(each -> look.facts().stream()
                        .map(NodeFacts::node)
                        .filter(node -> each.selector().matches(node.labels()) && waiting.contains(node.name())))
                .map(node -> node.name())
                .sorted()
                .toList();
    }

    private List<NodeAssessment> waiting() {
        return look.nodes().stream()
                .filter(node -> node.cause().equals(Optional.of(Cause.BREAKER)))
                .toList();
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("at", look.at().toString());
        tree.put("breaker", BreakerView.tree(look.around()));
        tree.put(
                "waiting",
                new TreeSet<>(waiting().stream().map(NodeAssessment::name).toList()));
        tree.put("notes", look.around().notes(look.at()));
        return tree;
    }

    void print(PrintWriter out) {
        ClusterContext around = look.around();
        Table table = new Table("POOL", "STATUS", "SINCE", "NODES", "OUT", "WAITING", "REASON");
        for (String pool : around.breaker().pools()) {
            Optional<PoolState> state = around.breaker().state(pool);
            String status = around.breaker().status(pool);
            var census = around.census().value().map(all -> all.get(pool));
            table.row(
                    pool,
                    Table.styled(status.equals("closed") ? Style.GOOD : Style.BAD, status),
                    state.map(each -> FleetTable.age(each.since(), look.at())).orElse(""),
                    census.map(each -> String.valueOf(each.total())).orElse("unknown"),
                    census.map(each -> String.valueOf(each.outOfService())).orElse("unknown"),
                    waiting(pool).size(),
                    state.map(PoolState::reason).orElse(""));
        }
        if (!around.breaker().pools().isEmpty()) {
            table.print(out);
        }
        waiting().forEach(node -> out.println("waiting: " + Table.escape(node.name() + ": " + node.why())));
        around.notes(look.at()).forEach(note -> out.println("note: " + Table.escape(note)));
    }
}
