package dev.gpuwarden.aggregator.nodehealth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.nodehealth.FaultEntry.ShownText;
import dev.gpuwarden.aggregator.nodehealth.NodeHealth.ReportedState;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.Reporter;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.ReportedGpus;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class NodeHealthStatusTest {

    private static final Instant NOW = Instant.parse("2026-11-22T01:02:03.456Z");

    private static Map<String, Object> status(List<Fault> faults) {
        return NodeHealthStatus.tree(new ReportedState(
                "n1", "boot", "1.0", NOW, new StreamEpoch(NOW, "a"), 3, 7, 0, faults, ReportedGpus.NONE));
    }

    private static Fault fault(String check, boolean fatal, Instant since, ProcessingStrategy strategy) {
        HealthEvent cause = HealthEvent.of("a", "GPU", check)
                .nodeName("n1")
                .fatal(fatal)
                .action(RecommendedAction.RESTART_BM)
                .errorCodes(List.of("79"))
                .entities(List.of(new Entity("PCI", "0000:3b:00")))
                .message("off\nthe \u001b[31mbus")
                .strategy(strategy)
                .build();
        return new Fault(cause.keys().get(0), cause, 5, since, NOW, 2);
    }

    private static Fault fault(String check, boolean fatal) {
        return fault(check, fatal, NOW, ProcessingStrategy.UNSPECIFIED);
    }

    @Test
    void stateFollowsTheWorstFault() {
        assertThat(status(List.of())).containsEntry("state", "Healthy").doesNotContainKey("worst");
        assertThat(status(List.of(fault("a", false)))).containsEntry("state", "Degraded");
        assertThat(status(List.of(fault("a", false), fault("b", true))))
                .containsEntry("state", "Faulty")
                .containsEntry("faultCount", 2)
                .containsEntry("fatalCount", 1L);
    }

    @Test
    void faultHasTheNameOfItsGpuAfterTheNodeReportsIt() {
        ReportedGpus names = new ReportedGpus(
                List.of(new ReportedGpus.Gpu(3, PciAddress.parse("0000:3b:00.0"), Optional.empty(), Optional.empty())));
        List<Fault> faults = List.of(fault("a", true));
        Map<String, Object> named = NodeHealthStatus.tree(
                new ReportedState("n1", "boot", "1.0", NOW, new StreamEpoch(NOW, "a"), 3, 7, 0, faults, names));
        assertThat(named.toString()).contains("gpu=GPU 3 (0000:3b:00.0)", "summary=a 79 GPU 3 (0000:3b:00.0)");
        assertThat(status(faults).toString()).doesNotContain("gpu=").contains("summary=a 79 PCI:0000:3b:00");
    }

    @Test
    void storeOnlyFaultLeavesNodeHealthy() {
        Fault stored = fault("a", true, NOW, ProcessingStrategy.STORE_ONLY);
        assertThat(status(List.of(stored)))
                .containsEntry("state", "Healthy")
                .containsEntry("faultCount", 1)
                .doesNotContainKey("worst");
        assertThat(worst(status(List.of(stored, fault("b", false))))).isEqualTo("b 79 PCI:0000:3b:00");
    }

    private static Object worst(Map<String, Object> status) {
        return ((Map<?, ?>) status.get("worst")).get("summary");
    }

    @Test
    void statusIsTheSameForEachOrderOfFaults() {
        List<Fault> faults = new ArrayList<>(List.of(
                fault("c", false),
                fault("b", true),
                fault("a", true, NOW.minusSeconds(60), ProcessingStrategy.UNSPECIFIED)));
        Map<String, Object> one = status(faults);
        assertThat(worst(one)).isEqualTo("a 79 PCI:0000:3b:00");
        Collections.reverse(faults);
        assertThat(status(faults)).isEqualTo(one);
    }

    @Test
    void faultsBeyondTheLimitAreCountedAndTheWorstAreListed() {
        List<Fault> faults = new ArrayList<>(
                IntStream.range(0, 300).mapToObj(i -> fault("c" + i, false)).toList());
        faults.add(fault("fatal", true));
        Map<String, Object> status = status(faults);
        assertThat(status).containsEntry("faultCount", 301).containsEntry("unlistedCount", 45);
        List<?> listed = (List<?>) status.get("faults");
        assertThat(listed).hasSize(NodeHealthStatus.MOST_FAULTS);
        assertThat(((Map<?, ?>) listed.get(0)).get("checkName")).isEqualTo("fatal");
    }

    @Test
    void statusContainsNoTerminalControls() {
        Map<?, ?> listed =
                (Map<?, ?>) ((List<?>) status(List.of(fault("a", true))).get("faults")).get(0);
        assertThat(listed.get("message")).isEqualTo("off the  [31mbus");
    }

    @Test
    void metadataAreListedWholeOrNotAtAll() {
        Map<String, String> fits = Map.of("b", "2", "a", "x".repeat(1021));
        assertThat(metadata(fits)).isEqualTo(fits);
        assertThat(metadata(Map.of("b", "23", "a", "x".repeat(1021)))).isNull();
        assertThat(metadata(Map.of())).isNull();
        Reporter reporter = new Reporter("namespace monitoring", "pod monitoring/dcgm-abcde, user 0");
        assertThat(metadata(reporter.in(fits))).isEqualTo(reporter.in(fits));
        assertThat(metadata(reporter.in(Map.of("b", "23", "a", "x".repeat(1021)))))
                .isEqualTo(reporter.in(Map.of()));
    }

    private static Object metadata(Map<String, String> given) {
        HealthEvent cause = fault("a", true).cause().toBuilder().metadata(given).build();
        Fault fault = new Fault(cause.keys().get(0), cause, 5, NOW, NOW, 2);
        return ((Map<?, ?>) ((List<?>) status(List.of(fault)).get("faults")).get(0)).get("metadata");
    }

    @Test
    void faultsOfStrangersFitIntoTheApiServersLimit() {
        String wide = "<".repeat(2000);
        List<Fault> faults = IntStream.range(0, 300)
                .mapToObj(i -> fault(i + wide, true).cause().toBuilder()
                        .message(wide)
                        .customAction(wide)
                        .build())
                .map(cause -> new Fault(cause.keys().get(0), cause, 1, NOW, NOW, 1))
                .toList();
        Map<String, Object> status = status(faults);
        assertThat(ShownText.bytes(status))
                .isBetween(NodeHealthStatus.MOST_BYTES - 20_000, NodeHealthStatus.MOST_BYTES + 10_000);
        int listed = ((List<?>) status.get("faults")).size();
        assertThat(status).containsEntry("unlistedCount", 300 - listed);
    }
}
