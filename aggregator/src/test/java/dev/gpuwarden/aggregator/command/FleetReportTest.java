package dev.gpuwarden.aggregator.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.breaker.BreakerPolicy.BreakerState;
import dev.gpuwarden.aggregator.breaker.NodeSelector;
import dev.gpuwarden.aggregator.breaker.PoolCounts.PoolCount;
import dev.gpuwarden.aggregator.client.Json;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.fleet.BreakerStatus;
import dev.gpuwarden.aggregator.fleet.ClusterContext;
import dev.gpuwarden.aggregator.fleet.ClusterContext.Leader;
import dev.gpuwarden.aggregator.fleet.FleetReader.FleetSnapshot;
import dev.gpuwarden.aggregator.fleet.FleetReader.NodeStory;
import dev.gpuwarden.aggregator.fleet.NodeAssessment;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.FleetState;
import dev.gpuwarden.aggregator.fleet.NodeAssessment.NodeFacts;
import dev.gpuwarden.aggregator.fleet.NodeAssessor;
import dev.gpuwarden.aggregator.fleet.NodeAssessorTest;
import dev.gpuwarden.aggregator.fleet.Seen;
import dev.gpuwarden.aggregator.maintenance.Stage;
import dev.gpuwarden.aggregator.maintenance.Stage.State;
import dev.gpuwarden.aggregator.remediation.NodePipeline;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet;
import dev.gpuwarden.aggregator.ruleset.QuarantineRuleSet.Clause;
import dev.gpuwarden.aggregator.ruleset.RuleEvaluator;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.health.Verdict;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class FleetReportTest {

    private static final Path DOCS = Path.of(System.getProperty("gpuwarden.repository"), "docs/operating/fleet.md");

    private static final RuleEvaluator RULES = RuleEvaluator.compile(List.of(new QuarantineRuleSet(
            "fatal",
            1,
            true,
            0,
            List.of(new Clause(Clause.Kind.HEALTH_EVENT, "event.isFatal")),
            List.of(),
            true,
            Optional.empty(),
            Optional.empty())));

    private static ClusterContext around(String status) {
        return new ClusterContext(
                Seen.of(RULES),
                new BreakerStatus(
                        Seen.of(BreakerState.of(
                                Map.of(
                                        "all",
                                        "{\"status\": \"" + status
                                                + "\", \"reason\": \"3 of 4\", \"since\": \"2026-11-22T05:00:00Z\"}"),
                                NodeAssessorTest.NOW)),
                        Seen.of(NodeAssessorTest.LIMITS),
                        Seen.of(ActionMode.ARMED),
                        NodeAssessorTest.ARMED),
                Seen.of(Map.of("all", new PoolCount(2, Set.of(), Map.of(), Map.of()))),
                Seen.of(new Leader("one", NodeAssessorTest.NOW.plusSeconds(10))));
    }

    private static FleetReport report(Optional<Map<String, Object>> health, FleetState... shown) {
        NodeFacts facts = NodeFacts.of(NodeAssessorTest.tree(
                "{\"metadata\": {\"name\": \"n\", \"uid\": \"u\", \"labels\": {\"zone\": \"a\"}}}"));
        NodeAssessment node = NodeAssessor.of(facts, health, around("open"), NodeAssessorTest.NOW);
        return FleetReport.of(
                new FleetSnapshot(NodeAssessorTest.NOW, List.of(node), List.of(facts), around("open")),
                NodeSelector.parse("zone=a"),
                EnumSet.copyOf(List.of(shown)));
    }

    @Test
    void jsonIsAsDocumented() throws Exception {
        String docs = Files.readString(DOCS);
        String documented = docs.substring(docs.indexOf("```json\n") + 8);
        FleetReport report = report(
                NodeAssessorTest.health(
                        "2026-11-22T05:59:30Z", NodeAssessorTest.fault(true, ", \"gpu\": \"GPU 1 (0000:3b:00.0)\"")),
                FleetState.FAULTY);
        assertThat(Json.readObject(Output.json(report.tree())))
                .isEqualTo(Json.readObject(documented.substring(0, documented.indexOf("```"))));
    }

    @Test
    void verdictWithoutNodesIsUndecided() {
        assertThat(report(Optional.empty(), FleetState.FAULTY).verdict()).isEqualTo(Verdict.UNDECIDED);
        assertThat(report(NodeAssessorTest.health("2026-11-22T05:00:00Z"), FleetState.FAULTY)
                        .verdict())
                .as("silent")
                .isEqualTo(Verdict.UNDECIDED);
        assertThat(report(NodeAssessorTest.health("2026-11-22T05:59:00Z"), FleetState.FAULTY)
                        .verdict())
                .isEqualTo(Verdict.FIT);
    }

    /**
     * Returns a fleet with a lost GPU 3, an XID 48 on GPU 2 under both of its names, and a flood of faults from one reporter.
     */
    private static FleetReport flooded() {
        Stream<String> gpus = Stream.of(
                row("GpuState", "gpu-lost", "GPU_UUID", "GPU-c", "GPU 3 (0000:5b:00.0)", "one", "CONTACT_SUPPORT"),
                row("GpuState", "gpu-lost", "PCI", "0000:5b:00", "GPU 3 (0000:5b:00.0)", "one", "CONTACT_SUPPORT"),
                row("Xid", "48", "GPU_UUID", "GPU-b", "GPU 2 (0000:44:00.0)", "two", "COMPONENT_RESET"),
                row("Xid", "48", "PCI", "0000:44:00", "GPU 2 (0000:44:00.0)", "two", "COMPONENT_RESET"),
                row("Xid", "79", "PCI", "0000:5b:00", "GPU 3 (0000:5b:00.0)", "three", "RESTART_BM")
                        .replace("05:00:00Z", "05:00:01Z"));
        Stream<String> noise = IntStream.range(0, 251).mapToObj(i -> """
                {"agent": "noisy", "componentClass": "NODE", "checkName": "Noise", "errorCode": "n%s", "fatal": false, "message": "noise",
                 "recommendedAction": "NONE", "processingStrategy": "EXECUTE_REMEDIATION", "sequence": %s, "eventID": "n%s",
                 "occurrences": 1, "since": "2026-11-22T04:00:00Z", "lastSeen": "2026-11-22T05:59:00Z"}
                """.formatted(i, 100 + i, i));
        return report(
                NodeAssessorTest.health(
                        "2026-11-22T05:59:30Z", Stream.concat(gpus, noise).toArray(String[]::new)),
                FleetState.FAULTY);
    }

    private static String row(
            String check, String code, String type, String value, String gpu, String event, String action) {
        return NodeAssessorTest.fault(true, ", \"gpu\": \"" + gpu + "\"")
                .replace("Xid", check)
                .replace("\"79\"", '"' + code + '"')
                .replace("\"PCI\"", '"' + type + '"')
                .replace("0000:3b:00", value)
                .replace("\"e\"", '"' + event + '"')
                .replace("RESTART_BM", action);
    }

    @Test
    void eachPartWithAFatalFaultIsNamedOnceWithItsAdvice() {
        FleetReport report = flooded();
        StringWriter text = new StringWriter();
        FleetTable.print(report, new PrintWriter(text, true));
        assertThat(text.toString().lines().map(line -> line.strip().replaceAll(" +", " ")))
                .containsSubsequence(
                        "n faulty 1h GpuState gpu-lost on GPU 3 (0000:5b:00.0) contact-support breaker all: open since"
                                + " 2026-11-22T05:00:00Z, 3 of 4; inspect the nodes that are out, then gpuwarden breaker"
                                + " close or half-open",
                        "Xid 48 on GPU 2 (0000:44:00.0) component-reset",
                        "+252 more faults");
        NodeFacts facts = NodeFacts.of(NodeAssessorTest.tree("{\"metadata\": {\"name\": \"n\", \"uid\": \"u\"}}"));
        StringWriter explained = new StringWriter();
        ExplainTable.print(
                new ExplainReport(new NodeStory(
                        report.at(),
                        facts,
                        report.shown().get(0),
                        report.around(),
                        Seen.of(List.of()),
                        Optional.of(repair()))),
                new PrintWriter(explained, true));
        assertThat(explained.toString().lines().map(line -> line.replaceAll("  +", "  ")))
                .containsSubsequence(
                        "worst  GpuState gpu-lost on GPU 3 (0000:5b:00.0): contact-support: take the node out of service"
                                + " and ask the vendor, with the archive of this event",
                        "  Xid 48 on GPU 2 (0000:44:00.0): component-reset: gpuwarden drain n --gpu GPU-b, then on"
                                + " n: reset GPU 2: sudo gpuwarden gpu-reset GPU-b --arm (without --arm it shows the"
                                + " steps and who holds it)",
                        "FATAL  GpuState  off the bus",
                        "FAULT  Noise  noise  (251 faults)")
                .anyMatch(line -> line.startsWith("Xid  48  GPU 2 (0000:44:00.0)  fatal"))
                .containsSubsequence(
                        "REPAIR  STATE  BEGAN  TOOK  RESOURCE  WHY",
                        "lock  done  2026-11-22T05:58:00Z  1m30s  GPUReset r",
                        "reset  in-progress  2026-11-22T05:59:30Z  30s+  \\u001b[2Jjob");
    }

    private static NodePipeline repair() {
        Optional<Instant> begin = Optional.of(NodeAssessorTest.NOW.minusSeconds(120));
        Optional<Instant> end = Optional.of(NodeAssessorTest.NOW.minusSeconds(30));
        return new NodePipeline(
                false,
                List.of(
                        Stage.of("lock", State.DONE, "").from(begin).until(end).owned("GPUReset r"),
                        Stage.of("reset", State.IN_PROGRESS, "\u001b[2Jjob")
                                .from(end)
                                .owned("GPUReset r")));
    }

    @Test
    void tableHasTheRequestedNodes() {
        String fault = NodeAssessorTest.fault(true, "").replace("off the bus", "off \\u001b[31m the bus");
        FleetReport report = report(
                NodeAssessorTest.health("2026-11-22T05:59:30Z", fault.replace("\"e\"", "\"\\u001b[31m\"")),
                FleetState.FAULTY);
        StringWriter text = new StringWriter();
        FleetTable.print(report, new PrintWriter(text, true));
        assertThat(text.toString())
                .contains("faulty  1", "breaker all is open since 2026-11-22T05:00:00Z: 3 of 4")
                .contains("n     faulty  1h     Xid 79 on PCI 0000:3b:00  restart-bm  breaker all: open since")
                .contains("verdict: not fit (1 of 1 nodes)")
                .doesNotContain("\u001b");
        StringWriter none = new StringWriter();
        FleetTable.print(
                report(NodeAssessorTest.health("2026-11-22T05:59:30Z"), FleetState.FAULTY),
                new PrintWriter(none, true));
        assertThat(none.toString()).contains("healthy  1").doesNotContain("NODE ");
    }
}
