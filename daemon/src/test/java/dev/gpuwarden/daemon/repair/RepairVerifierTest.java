package dev.gpuwarden.daemon.repair;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.verify.Verification;
import dev.gpuwarden.daemon.app.RunningDaemon;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A node that boots after fatal faults, with a real daemon and the processes of its checks. */
@Tag("programs")
class RepairVerifierTest {

    private static final int REPAIRED = 0;
    private static final int HELD = 1;
    private static final int WRONG = 2;

    private static final String SCENARIO = """
            driver: 550
            gpus: [{profile: l4, count: 3}]
            timeline:
              - at: 10s
                start: {pid: 4242, gpu: 1, bytes: 1GiB}
              - at: 20s
                stop: 4242
            """;

    private static final String[] OPTIONS = {
        "--check.interval=gpu-remapped-rows=1s", "--check.disable=gpumem,nccl-loopback,pciebw"
    };

    private static final Predicate<String> XID = fault("code=\"79\"");
    private static final Predicate<String> PENDING = fault("check=\"" + Verification.EVENT + "\"");

    @TempDir
    Path folder;

    /** Returns whether a fault has all of these labels. */
    private static Predicate<String> fault(String... labels) {
        return metrics -> metrics.lines()
                .anyMatch(line -> line.startsWith("gpuwarden_faults{")
                        && Stream.of(labels).allMatch(line::contains));
    }

    private static Predicate<String> pending(SimulatedNode node, int gpu, String... labels) {
        return fault(Stream.concat(
                        Stream.of("check=\"" + Verification.EVENT + "\"", "entity=\"0000:" + bus(node, gpu) + ":00\""),
                        Stream.of(labels))
                .toArray(String[]::new));
    }

    private static String bus(SimulatedNode node, int gpu) {
        return String.format("%02x", node.control().table().number("gpu[" + gpu + "].pci_bus"));
    }

    @Test
    void gpuStaysFaultyAfterTheBootUntilItsChecksPassAndItComputesRight() throws Exception {
        Path scenario = Files.writeString(folder.resolve("three.yaml"), SCENARIO);
        try (SimulatedNode node = SimulatedNode.start(scenario.toString())) {
            RunningDaemon daemon = RunningDaemon.start(node, OPTIONS);
            for (int gpu : List.of(REPAIRED, HELD, WRONG)) {
                node.logKernel("NVRM: Xid (PCI:0000:" + bus(node, gpu)
                        + ":00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.");
            }
            daemon.awaitMetrics(XID.and(PENDING.negate()));
            daemon.stop();

            node.reboot();
            node.set("gpu." + REPAIRED + ".remapped-rows.failure", "yes");
            node.advanceTo(Duration.ofSeconds(10));
            node.set("gpu." + WRONG + ".cuda.wrong.pattern", "bit");
            RunningDaemon booted = RunningDaemon.start(node, OPTIONS);
            try {
                String broken = booted.awaitMetrics(fault("code=\"row-remap-failure\"")
                        .and(pending(node, HELD, "code=\"gpu-results\"", "fatal=\"false\"", "action=\"none\""))
                        .and(pending(
                                node, WRONG, "code=\"gpu-results\"", "fatal=\"true\"", "action=\"run-fielddiag\"")));
                assertThat(XID.test(broken))
                        .as("the boot ends the fault of the log")
                        .isFalse();
                assertThat(pending(node, REPAIRED, "code=\"boot\"").test(broken))
                        .isTrue();
                assertThat(pending(node, REPAIRED, "code=\"gpu-results\"").test(broken))
                        .as("no work for a GPU whose other checks have not passed")
                        .isFalse();
                node.advanceTo(Duration.ofSeconds(20));
                node.set("gpu." + REPAIRED + ".remapped-rows.failure", "no");
                String left = booted.awaitMetrics(
                        pending(node, REPAIRED).or(pending(node, HELD)).negate());
                assertThat(pending(node, WRONG, "code=\"boot\"").test(left)).isTrue();
                assertThat(pending(node, WRONG, "code=\"gpu-results\"").test(left))
                        .isTrue();
            } finally {
                booted.stop();
            }
            RunningDaemon passive = RunningDaemon.start(
                    node,
                    Stream.concat(Stream.of(OPTIONS), Stream.of("--repair.verify=passive"))
                            .toArray(String[]::new));
            try {
                passive.awaitMetrics(PENDING.negate());
            } finally {
                passive.stop();
            }
        }
    }
}
