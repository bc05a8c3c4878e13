package dev.gpuwarden.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A program that uses libnccl on a simulated node, and the node's keys for it. */
@Tag("programs")
class NcclClientTest {

    private static final int BYTES = 100_000;

    @TempDir
    Path folder;

    private String sumOn(SimulatedNode node) throws Exception {
        Path script = folder.resolve("use_nccl.py");
        if (!Files.exists(script)) {
            try (var in = Objects.requireNonNull(getClass().getResourceAsStream("use_nccl.py"))) {
                Files.copy(in, script);
            }
        }
        ProcessBuilder builder = new ProcessBuilder("python3", script.toString(), Integer.toString(BYTES));
        builder.environment().putAll(node.environment());
        Process program = builder.redirectErrorStream(true).start();
        try (var out = program.inputReader()) {
            return Objects.requireNonNull(out.readLine());
        } finally {
            program.waitFor();
        }
    }

    /** The simulator has a fixed part of 10 µs for two ranks, which each send as many bytes as the buffer has. */
    @Test
    void keysDecideRateErrorsAndPresence() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            node.set("gpu.all.nccl.rate", "10000");
            assertThat(sumOn(node)).isEqualTo("20 0 0");
            node.set("gpu.1.nccl.rate", "1000");
            node.set("gpu.1.nccl.wrong", "3");
            assertThat(sumOn(node)).isEqualTo("110 0 3");
            node.set("gpu.1.nccl.error", "remote");
            assertThat(sumOn(node)).matches("nccl.*: 6");
            node.set("gpu.1.nccl.error", "none");
            node.set("fault.planned", "{function: ncclGroupEnd, error: 3}");
            assertThat(sumOn(node)).isEqualTo("ncclGroupEnd: 3");
            node.set("fault.planned", "clear");
            node.set("node.nccl-library", "no");
            assertThat(sumOn(node)).isEqualTo("no libnccl.so.2");
        }
    }
}
