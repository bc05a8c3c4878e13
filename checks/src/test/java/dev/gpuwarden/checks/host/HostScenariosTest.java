package dev.gpuwarden.checks.host;

import static dev.gpuwarden.checks.host.HostTree.about;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.CheckContexts;
import dev.gpuwarden.core.check.HealthCheck;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Results of this package's checks on simulated nodes. */
class HostScenariosTest {

    private final List<HealthCheck> checks =
            List.of(new NicLinkCheck(), new NicErrorsCheck(), new PcieAerCheck(), new InventoryCheck());

    private static HostTree tree(SimulatedNode node) {
        return new HostTree(node.sysfs(), node.procfs(), CheckContexts.snapshot(node));
    }

    /** Returns findings that are neither PASS nor SKIPPED. */
    private List<String> complaints(HostTree tree) {
        List<String> complaints = new ArrayList<>();
        for (HealthCheck check : checks) {
            for (Finding finding : check.run(tree)) {
                if (finding.outcome() != Outcome.PASS && finding.outcome() != Outcome.SKIPPED) {
                    complaints.add(check.info().id() + " " + finding.subject().label() + " " + finding.code() + " "
                            + finding.outcome());
                }
            }
        }
        tree.now = tree.now.plusSeconds(30);
        return complaints;
    }

    @ParameterizedTest
    @ValueSource(strings = {"a100x8", "b200x8", "demo", "empty", "h100x8", "h200x8", "l4x4", "no-driver", "t4"})
    void healthyNodesHaveNoComplaints(String scenario) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            HostTree tree = tree(node);
            for (int run = 0; run < 35; run++) {
                assertThat(complaints(tree)).isEmpty();
            }
            assertThat(new NicLinkCheck()
                            .run(tree).stream().map(Finding::outcome).distinct())
                    .as("all ports are looked at")
                    .isSubsetOf(Outcome.PASS);
        }
    }

    @Test
    void lostLinkIsReportedUntilItReturns() {
        try (SimulatedNode node = SimulatedNode.start("ib-down")) {
            HostTree tree = tree(node);
            assertThat(complaints(tree)).isEmpty();
            node.advanceTo(Duration.ofSeconds(4));
            assertThat(complaints(tree)).containsExactly("nic-link mlx5_3 nic-port-down FAIL");
            node.set("nic.3.state", "active");
            assertThat(complaints(tree)).isEmpty();
        }
    }

    @Test
    void linkThatWasNeverUpIsNoFaultBesideOthersThatAreUp() {
        try (SimulatedNode node = SimulatedNode.start("ib-down")) {
            node.advanceTo(Duration.ofSeconds(4));
            assertThat(complaints(tree(node))).isEmpty();
        }
    }

    @Test
    void flappingLinkIsReportedThoughItIsUpAtEachRun() {
        try (SimulatedNode node = SimulatedNode.start("ib-flap")) {
            HostTree tree = tree(node);
            assertThat(complaints(tree)).isEmpty();
            node.advanceTo(Duration.ofSeconds(30));
            assertThat(complaints(tree))
                    .containsExactly("nic-link mlx5_3 nic-port-flapping FAIL", "nic-errors mlx5_3 nic-error-rate WARN");
        }
    }

    @Test
    void pcieErrorsNameTheReportingDeviceOrPort() {
        try (SimulatedNode node = SimulatedNode.start("aer-errors")) {
            HostTree tree = tree(node);
            assertThat(complaints(tree)).isEmpty();
            node.advanceTo(Duration.ofSeconds(13));
            String gpu = tree.node.gpus().get(3).identity().label();
            assertThat(complaints(tree))
                    .hasSize(3)
                    .anyMatch(c -> c.endsWith("pcie-fatal FAIL"))
                    .contains("pcie-aer mlx5_1 pcie-nonfatal WARN", "pcie-aer " + gpu + " pcie-correctable WARN");
        }
    }

    @Test
    void adapterThatLeavesTheBusIsGone() {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            HostTree tree = tree(node);
            complaints(tree);
            node.set("nic.2.on-bus", "no");
            assertThat(complaints(tree)).containsExactly("nic-link mlx5_2 nic-gone FAIL");
        }
    }

    @ParameterizedTest
    @CsvSource({"8, 400, PASS", "9, 400, FAIL", "8, 800, FAIL"})
    void portsCanBeExpected(int ports, int gbps, Outcome outcome) {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            HostTree tree = tree(node);
            tree.expectPorts(ports, gbps);
            assertThat(about(new NicLinkCheck().run(tree), "nic-ports")
                            .orElseThrow()
                            .outcome())
                    .isEqualTo(outcome);
        }
    }
}
