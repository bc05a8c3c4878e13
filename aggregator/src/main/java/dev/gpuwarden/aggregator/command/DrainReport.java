package dev.gpuwarden.aggregator.command;

import dev.gpuwarden.aggregator.drain.ManualDrainState;
import dev.gpuwarden.aggregator.drain.ManualDrainState.ManualPod.State;
import dev.gpuwarden.aggregator.drain.ManualDrainState.Result.Outcome;
import dev.gpuwarden.aggregator.quarantine.ManualCordon;
import dev.gpuwarden.cli.ExitCode;
import dev.gpuwarden.cli.Table;
import dev.gpuwarden.cli.Table.Style;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The result of an operator's drain of a node: gpuwarden.drain/v1, see docs/operating/drain.md. Pure. */
record DrainReport(
        String node,
        String by,
        DrainScope scope,
        boolean dryRun,
        NodeCommand.NodeChange.Outcome cordon,
        ManualDrainState.Result result) {

    static final String SCHEMA = "gpuwarden.drain/v1";

    int exitCode() {
        return switch (result.outcome()) {
            case DRAINED -> ExitCode.OK;
            case LEFT, TIMEOUT, RELEASED, STOPPED -> ExitCode.NOT_FIT;
            case UNDECIDED -> ExitCode.UNDECIDED;
        };
    }

    Map<String, Object> tree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("schema", SCHEMA);
        tree.put("at", result.ended().toString());
        tree.put("node", node);
        tree.put("by", by);
        tree.put("dryRun", dryRun);
        tree.put("gpus", List.copyOf(scope.gpus()));
        tree.put("added", List.copyOf(scope.added()));
        tree.put("notes", notes());
        tree.put("cordon", cordonTree());
        tree.put("outcome", result.outcome().label());
        tree.put("why", result.why());
        tree.put("began", result.began().toString());
        tree.put("pods", result.pods().stream().map(DrainReport::tree).toList());
        return tree;
    }

    private Map<String, Object> cordonTree() {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("written", cordon.written());
        tree.put("why", cordon.plan().why());
        tree.put("patch", cordon.plan().patch());
        return tree;
    }

    private static Map<String, Object> tree(ManualDrainState.ManualPod pod) {
        Map<String, Object> tree = new LinkedHashMap<>();
        tree.put("pod", pod.path());
        tree.put("uid", pod.uid());
        tree.put("state", pod.state().label());
        tree.put("why", pod.why());
        tree.put("since", pod.since().toString());
        return tree;
    }

    void print(PrintWriter out) {
        if (!result.pods().isEmpty()) {
            Table table = new Table("POD", "STATE", "SINCE", "WHY");
            for (ManualDrainState.ManualPod pod : result.pods()) {
                table.row(
                        pod.path(),
                        Table.styled(style(pod.state()), pod.state().label()),
                        dryRun ? "" : FleetTable.age(pod.since(), result.ended()),
                        pod.why());
            }
            table.print(out);
        }
        notes().forEach(note -> out.println(Table.escape(note)));
        out.println(Table.escape(verdict()));
        if (dryRun) {
            out.println("dry run: nothing was changed");
        }
    }

    private List<String> notes() {
        List<String> notes = new ArrayList<>(scope.notes());
        result.unlisted()
                .ifPresent(why -> notes.add("pods that have a GPU open without a request are not listed: " + why));
        return notes;
    }

    private static Style style(State state) {
        return switch (state) {
            case GONE -> Style.GOOD;
            case SAVES, EVICT, GOING, AWAIT -> Style.WARNING;
            case REFUSED, STAYS -> Style.BAD;
            case LEFT -> Style.FAINT;
        };
    }

    String verdict() {
        long left = result.pods().stream()
                .filter(ManualDrainState.ManualPod::inTheWay)
                .count();
        String pods = DrainProgress.pods(left) + (left == 1 ? " is" : " are") + " left";
        String of = scope.gpus().isEmpty() ? "" : " of the pods that hold " + gpus();
        boolean released = dryRun || result.outcome() == Outcome.RELEASED;
        // The command does not release cordons of other writers.
        boolean ours = cordon.read().flatMap(ManualCordon::reason).isPresent();
        String back = released ? "" : "; it stays cordoned" + (ours ? " until gpuwarden release " + node : "");
        return node + " "
                + switch (result.outcome()) {
                    case DRAINED ->
                        hadNoPods()
                                ? "has no pod that must leave " + gpus()
                                : (dryRun ? "would be drained" : "is drained") + of;
                    case LEFT -> (dryRun ? "would not be drained" : "is not drained") + of + ": " + kept();
                    case TIMEOUT -> "is not drained" + of + " in time: " + pods;
                    case RELEASED -> "is not drained" + of + ": " + result.why() + ", " + pods;
                    case STOPPED -> "is not drained" + of + ": stopped, " + pods;
                    case UNDECIDED -> "is not drained" + of + ": " + result.why();
                }
                + back;
    }

    private String gpus() {
        return String.join(", ", scope.gpus());
    }

    /** Returns true if no pod had to end. The GPU may then belong to another node. */
    private boolean hadNoPods() {
        return !scope.gpus().isEmpty() && result.pods().stream().allMatch(pod -> pod.state() == State.LEFT);
    }

    private String kept() {
        long stay = count(State.STAYS);
        long refused = count(State.REFUSED);
        return Stream.of(
                        stay == 0 ? "" : DrainProgress.pods(stay) + " that you must handle",
                        refused == 0 ? "" : DrainProgress.pods(refused) + " that cannot be evicted now",
                        result.why())
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(", "));
    }

    private long count(State state) {
        return result.pods().stream().filter(pod -> pod.state() == state).count();
    }
}
