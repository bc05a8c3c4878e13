package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState.PoolState;
import dev.gpuwarden.aggregator.fleet.BreakerStatus.BreakerView;
import dev.gpuwarden.aggregator.fleet.ClusterContext;
import dev.gpuwarden.aggregator.fleet.FleetReader.FleetSnapshot;
import dev.gpuwarden.aggregator.fleet.NodeAssessment;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.Cause;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.NodeFacts;
import dev.gpuwarden.aggregator.fleet.Seen;
import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.cli.Output;
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

/** The report on the breaker: gpuwarden.breaker/v1, see docs/operating/fleet.md. Pure. */
record BreakerReport(FleetSnapshot snapshot) {

    static final String SCHEMA = "gpuwarden.breaker/v1";

    /** Returns the names of the pool's nodes that only the breaker keeps in service, sorted. */
    List<String> waiting(String pool) {
        Set<String> waiting = waiting().stream().map(NodeAssessment::name).collect(Collectors.toSet());
        return snapshot.around().breaker().limited().stream()
                .filter(each -> each.name().equals(pool))
                .flatMap(each -> snapshot.facts().stream()
                        .map(NodeFacts::node)
                        .filter(node -> each.selector().matches(node.labels()) && waiting.contains(node.name())))
                .map(node -> node.name())
                .sorted()
                .toList();
    }

    private List<NodeAssessment> waiting() {
        return snapshot.nodes().stream()
                .filter(node -> node.cause().equals(Optional.of(Cause.BREAKER)))
                .toList();
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("at", snapshot.at().toString());
        tree.put("breaker", BreakerView.tree(snapshot.around()));
        tree.put(
                "waiting",
                new TreeSet<>(waiting().stream().map(NodeAssessment::name).toList()));
        tree.put("notes", snapshot.around().notes(snapshot.at()));
        return tree;
    }

    void print(PrintWriter out) {
        ClusterContext around = snapshot.around();
        Table table = new Table("POOL", "STATUS", "SINCE", "NODES", "OUT", "WAITING", "REASON");
        for (String pool : around.breaker().pools()) {
            Optional<PoolState> state = around.breaker().state(pool);
            String status = around.breaker().status(pool);
            var census = around.census().value().map(all -> all.get(pool));
            table.row(
                    pool,
                    Table.styled(status.equals("closed") ? Style.GOOD : Style.BAD, status),
                    state.map(each -> FleetTable.age(each.since(), snapshot.at()))
                            .orElse(""),
                    census.map(each -> String.valueOf(each.total())).orElse("unknown"),
                    census.map(each -> String.valueOf(each.outOfService())).orElse("unknown"),
                    waiting(pool).size(),
                    state.map(PoolState::reason).orElse(""));
        }
        if (!around.breaker().pools().isEmpty()) {
            table.print(out);
        }
        waiting().forEach(node -> out.println("waiting: " + Table.escape(node.name() + ": " + node.why())));
        around.notes(snapshot.at()).forEach(note -> out.println("note: " + Table.escape(note)));
    }

    /**
     * An operator's change of the breaker, done or planned: gpuwarden.breaker-change/v1, see docs/operating/fleet.md.
     *
     * @param waiting the nodes of the pool that wait; empty if unknown
     * @param whyNot the reason why they are unknown
     */
    record BreakerAudit(
            BreakerChange.Plan plan, Seen<String> by, boolean dryRun, Optional<List<String>> waiting, String whyNot) {

        static final String SCHEMA = "gpuwarden.breaker-change/v1";

        private static final int MOST_NAMED = 10;

        Map<String, Object> tree() {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("schema", SCHEMA);
            tree.put("by", by.value().orElse("not known: " + by.why()));
            tree.put("pool", plan.pool());
            tree.put("dryRun", dryRun);
            tree.put("before", plan.before().map(BreakerAudit::tree));
            tree.put("after", tree(plan.after()));
            tree.put("resourceVersion", plan.version());
            tree.put("waiting", waiting);
            return tree;
        }

        private static Map<String, Object> tree(PoolState state) {
            Map<String, Object> tree = new LinkedHashMap<>();
            tree.put("status", BreakerView.label(state.status()));
            tree.put("since", state.since().toString());
            tree.put("reason", state.reason());
            tree.put("letThrough", state.letThrough());
            return tree;
        }

        void print(PrintWriter out) {
            plan.before()
                    .ifPresent(before -> out.println("pool " + Table.escape(plan.pool()) + " "
                            + (dryRun ? "is " : "was ") + BreakerView.label(before.status()) + " since "
                            + before.since()
                            + (before.reason().isEmpty() ? "" : ": " + Table.escape(before.reason()))));
            out.println(
                    Table.escape(waiting.map(BreakerAudit::named).orElse("the waiting nodes are unknown: " + whyNot)));
            out.println(effect());
            plan.skew()
                    .ifPresent(skew -> out.println("this machine's clock differs from the API server's by "
                            + Durations.text(skew.abs()) + ", so the API server's counts"));
            out.println(dryRun ? "dry run: nothing was changed" : "done");
            out.println("audit: " + Output.jsonLine(tree()));
        }

        private static String named(List<String> waiting) {
            int more = waiting.size() - MOST_NAMED;
            return waiting.isEmpty()
                    ? "no node waits"
                    : (waiting.size() == 1 ? "one node waits: " : waiting.size() + " nodes wait: ")
                            + String.join(", ", waiting.subList(0, Math.min(MOST_NAMED, waiting.size())))
                            + (more > 0 ? " and " + more + " more" : "");
        }

        private String effect() {
            String some = plan.after().letThrough() == 1
                    ? "one node passes"
                    : plan.after().letThrough() + " nodes pass";
            return plan.after().status() == PoolState.Status.CLOSED
                    ? "closed: the limits hold again from now on, and earlier quarantines are not counted; of the nodes"
                            + " that wait, as many are taken out of service immediately as the limits allow"
                    : "half open: " + some + ", regardless of the limits; then these hold again, with those counted";
        }
    }
}
