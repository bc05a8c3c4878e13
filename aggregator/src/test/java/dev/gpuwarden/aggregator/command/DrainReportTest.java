package dev.gpuwarden.aggregator.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.cache.CachedNode;
import dev.gpuwarden.aggregator.drain.ManualDrainState;
import dev.gpuwarden.aggregator.drain.ManualDrainState.ManualPod.State;
import dev.gpuwarden.aggregator.drain.ManualDrainState.Result.Outcome;
import dev.gpuwarden.aggregator.quarantine.ManualCordon;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.node.ResetUnits;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class DrainReportTest {

    private static final Instant NOW = Instant.parse("2026-11-22T06:00:00Z");
    private static final List<ManualDrainState.ManualPod> PODS = List.of(
            pod("a", State.GONE, ""),
            pod("b", State.STAYS, "no controller would start it again (--force)"),
            pod("c", State.REFUSED, "the budget web"),
            pod("d", State.LEFT, "its DaemonSet would start it again there"));

    private static ManualDrainState.ManualPod pod(String name, State state, String why) {
        return new ManualDrainState.ManualPod(
                "team/" + name, "uid-" + name, state, why, NOW.minusSeconds(70), NOW.minusSeconds(90));
    }

    private Map<String, Object> cordon = Map.of(
            "metadata",
            Map.of("name", "n", "annotations", Map.of("gpuwarden.dev/cordoned-by-hand", "me: to drain it")));

    private ResetUnits units = new ResetUnits(Map.of("GPU-1", Set.of("GPU-1")));
    private Optional<String> unlisted = Optional.empty();

    private DrainReport report(
            Outcome outcome, String why, boolean dryRun, List<ManualDrainState.ManualPod> pods, String... gpus) {
        return new DrainReport(
                "n",
                "me",
                DrainScope.of("n", Set.of(gpus), units, ""),
                dryRun,
                new NodeCommand.NodeChange.Outcome(
                        "n",
                        new ManualCordon.Plan(true, "it takes no new pods", List.of()),
                        !dryRun,
                        Optional.of(CachedNode.of(cordon))),
                new ManualDrainState.Result(outcome, why, pods, unlisted, NOW.minusSeconds(90), NOW));
    }

    private static String table(DrainReport report) {
        StringWriter out = new StringWriter();
        report.print(new PrintWriter(out, true));
        return out.toString();
    }

    @Test
    void tableHasEachPodAndTheVerdict() {
        assertThat(table(report(Outcome.TIMEOUT, "", false, PODS))).isEqualTo("""
                POD     STATE    SINCE  WHY
                team/a  gone     1m10s
                team/b  stays    1m10s  no controller would start it again (--force)
                team/c  refused  1m10s  the budget web
                team/d  left     1m10s  its DaemonSet would start it again there
                n is not drained in time: 2 pods are left; it stays cordoned until gpuwarden release n
                """);
    }

    @Test
    void eachOutcomeHasItsTextAndExitCode() {
        List<ManualDrainState.ManualPod> gone = PODS.subList(0, 1);
        assertThat(report(Outcome.DRAINED, "", false, gone))
                .returns(0, DrainReport::exitCode)
                .returns("n is drained; it stays cordoned until gpuwarden release n", DrainReport::verdict);
        assertThat(report(Outcome.DRAINED, "", false, gone, "GPU-1").verdict())
                .startsWith("n is drained of the pods that hold GPU-1; ");
        assertThat(report(Outcome.DRAINED, "", true, PODS.subList(3, 4), "GPU-1")
                        .verdict())
                .isEqualTo("n has no pod that must leave GPU-1");
        assertThat(report(Outcome.LEFT, "", false, PODS.subList(0, 2)))
                .returns(1, DrainReport::exitCode)
                .returns(
                        "n is not drained: one pod that you must handle; it stays cordoned until gpuwarden release n",
                        DrainReport::verdict);
        assertThat(report(Outcome.LEFT, "", true, PODS))
                .returns(1, DrainReport::exitCode)
                .returns(
                        "n would not be drained: one pod that you must handle, one pod that cannot be evicted now",
                        DrainReport::verdict);
        assertThat(report(Outcome.DRAINED, "", true, gone).verdict()).isEqualTo("n would be drained");
        assertThat(report(Outcome.RELEASED, "it was released", false, PODS))
                .returns(1, DrainReport::exitCode)
                .returns("n is not drained: it was released, 2 pods are left", DrainReport::verdict);
        assertThat(report(Outcome.STOPPED, "", false, PODS).verdict()).startsWith("n is not drained: stopped, 2 pods");
        assertThat(report(Outcome.UNDECIDED, "no pod status names it", false, List.of(), "GPU-1"))
                .returns(3, DrainReport::exitCode)
                .extracting(DrainReport::verdict)
                .asString()
                .startsWith("n is not drained of the pods that hold GPU-1: no pod status names it; it stays");
    }

    @Test
    void gpusOfTheResetUnitAndMissingProcessesAreNamed() {
        units = new ResetUnits(Map.of("GPU-1", Set.of("GPU-1", "GPU-2")));
        unlisted = Optional.of("a dry run does not ask its daemon");
        DrainReport report = report(Outcome.DRAINED, "", true, PODS.subList(0, 1), "GPU-1");
        assertThat(report.tree())
                .containsEntry("gpus", List.of("GPU-1", "GPU-2"))
                .containsEntry("added", List.of("GPU-2"));
        assertThat(table(report)).endsWith("""
                GPU-1 can only be reset together with GPU-2: pods that hold those leave too
                pods that have a GPU open without a request are not listed: a dry run does not ask its daemon
                n would be drained of the pods that hold GPU-1, GPU-2
                dry run: nothing was changed
                """);
        assertThat(DrainScope.of("n", Set.of("GPU-1", "GPU-2"), units, ""))
                .as("both were requested, and the unit of one is unknown")
                .returns(Set.of(), DrainScope::added)
                .returns(
                        List.of("the GPUs that are reset together with GPU-2 are unknown, since n does not report them:"
                                + " only its own pods leave"),
                        DrainScope::notes);
    }

    @Test
    void listWithoutRoomForAllPodsIsTheReason() {
        assertThat(report(Outcome.LEFT, "its daemon has no room for all pods", false, PODS.subList(0, 1), "GPU-1")
                        .verdict())
                .startsWith(
                        "n is not drained of the pods that hold GPU-1: its daemon has no room for all pods; it stays");
    }

    @Test
    void cordonOfAnotherWriterStays() {
        cordon = Map.of("metadata", Map.of("name", "n"));
        assertThat(report(Outcome.DRAINED, "", false, PODS).verdict()).isEqualTo("n is drained; it stays cordoned");
    }

    @Test
    void jsonHasTheSameContent() {
        assertThat(Output.json(
                        report(Outcome.LEFT, "", false, PODS.subList(1, 2)).tree()))
                .isEqualToIgnoringWhitespace("""
                        {"schema": "gpuwarden.drain/v1", "at": "2026-11-22T06:00:00Z", "node": "n", "by": "me",
                        "dryRun": false, "gpus": [], "added": [], "notes": [],
                        "cordon": {"written": true, "why": "it takes no new pods", "patch": []},
                        "outcome": "left", "why": "", "began": "2026-11-22T05:58:30Z",
                        "pods": [{"pod": "team/b", "uid": "uid-b", "state": "stays",
                        "why": "no controller would start it again (--force)", "since": "2026-11-22T05:58:50Z"}]}
                        """);
    }
}
