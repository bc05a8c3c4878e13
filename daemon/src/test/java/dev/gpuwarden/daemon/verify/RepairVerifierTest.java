package dev.gpuwarden.daemon.verify;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.app.RunningDaemon;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.util.function.Predicate;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A node that boots after a fatal fault, with a real daemon. */
@Tag("programs")
@Timeout(120)
class RepairVerifierTest {

    private static Predicate<String> fault(String label) {
        return metrics ->
                metrics.lines().anyMatch(line -> line.startsWith("gpuwarden_faults{") && line.contains(label));
    }

    private static final Predicate<String> XID = fault("code=\"79\"");
    private static final Predicate<String> PENDING = fault("check=\"" + Verification.EVENT + "\"");

    @Test
    void gpuStaysFaultyAfterTheBootUntilItsChecksPass() throws Exception {
        String often = "--check.interval=gpu-remapped-rows=1s";
        try (SimulatedNode node = SimulatedNode.start("l4x4")) {
            RunningDaemon daemon = RunningDaemon.start(node, often);
            String address = String.format("%02x", node.control().table().number("gpu[2].pci_bus"));
            node.logKernel("NVRM: Xid (PCI:0000:" + address
                    + ":00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.");
            daemon.awaitMetrics(XID.and(PENDING.negate()));
            daemon.stop();

            node.reboot();
            node.set("gpu.2.remapped-rows.failure", "yes");
            RunningDaemon booted = RunningDaemon.start(node, often);
            try {
                String broken =
                        booted.awaitMetrics(fault("code=\"row-remap-failure\"").and(PENDING));
                assertThat(XID.test(broken))
                        .as("the boot ends the fault of the log")
                        .isFalse();
                node.set("gpu.2.remapped-rows.failure", "no");
                booted.awaitMetrics(
                        fault("code=\"row-remap-failure\"").or(PENDING).negate());
            } finally {
                booted.stop();
            }
        }
    }
}
