package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.Golden;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command as a user runs it, against simulated drivers. */
class VramTopCommandTest {

    @ParameterizedTest
    @CsvSource({"demo, pod", "cgroup-zoo, container", "cgroup-zoo, process", "a100-mig, process", "memory-hog, unit"})
    void tableMatchesTheGoldenFile(String scenario, String by) throws IOException {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            Program top = Program.run(node, "vram", "top", "--by=" + by);
            assertThat(top.err()).isEmpty();
            assertThat(top.exitCode()).isZero();
            Golden.check("vram/" + scenario + "-" + by + ".txt", top.out());
        }
    }

    @Test
    void jsonIsStable() throws IOException {
        try (SimulatedNode node = SimulatedNode.start("memory-hog")) {
            Program top = Program.run(node, "vram", "top", "-o", "json");
            assertThat(top.exitCode()).isZero();
            Golden.check("vram/memory-hog.json", top.out());
        }
    }

    @ParameterizedTest
    @CsvSource({"no-driver, 3", "gpu-lost, 3", "empty, 0", "t4, 0", "busy500, 0"})
    void exitCodeShowsWhetherEveryGpuIsKnown(String scenario, int exitCode) {
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            assertThat(Program.run(node, "vram", "top").exitCode()).isEqualTo(exitCode);
        }
    }

    @Test
    void lostGpuIsShownWithTheOthers() {
        try (SimulatedNode node = SimulatedNode.start("gpu-lost")) {
            String out = Program.run(node, "vram", "top").out();
            assertThat(out.lines().filter(line -> line.contains("holders unknown")))
                    .hasSize(1);
            assertThat(out.lines().filter(line -> line.contains("unattributed")))
                    .hasSize(7);
        }
    }

    @Test
    void unknownKindOfRowIsAUsageError() {
        Program top = Program.run("vram", "top", "--by=moon");
        assertThat(top.exitCode()).isEqualTo(2);
        assertThat(top.err()).contains("--by", "process, container, pod, unit");
    }

    @Test
    void vramWithoutACommandListsItsCommands() {
        Program vram = Program.run("vram");
        assertThat(vram.exitCode()).isEqualTo(2);
        assertThat(Program.run("vram", "--help").out()).contains("top");
    }
}
