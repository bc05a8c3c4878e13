package dev.gpuwarden.testkit.sim;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs that use libcuda on a simulated node, and what NVML and the node's owner have to do with them. */
@Tag("programs")
class CudaClientTest {

    /** An H100's reserved memory and the default of `cuda.context-memory`. */
    private static final long RESERVED = 551L << 20;

    private static final long CONTEXT = 512L << 20;

    @TempDir
    Path folder;

    private Path script;

    @BeforeEach
    void copyScript() throws IOException {
        script = folder.resolve("use_cuda.py");
        try (var in = Objects.requireNonNull(getClass().getResourceAsStream("use_cuda.py"))) {
            Files.copy(in, script);
        }
    }

    private Process start(SimulatedNode node, String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of("python3", script.toString()));
        command.addAll(List.of(arguments));
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().putAll(node.environment());
        return builder.redirectError(ProcessBuilder.Redirect.INHERIT).start();
    }

    private String read(SimulatedNode node) throws IOException {
        try (BufferedReader out = start(node, "read").inputReader()) {
            return out.readLine();
        }
    }

    @Test
    void nvmlShowsMemoryUntilProcessEnds() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            node.set("process.41001", "stop");
            assertThat(read(node)).isEqualTo(Long.toString(RESERVED));
            Process holder = start(node, "hold", Long.toString(8L << 30));
            assertThat(holder.inputReader().readLine()).isEqualTo("held");
            long held = CONTEXT + (8L << 30);
            assertThat(read(node)).isEqualTo(RESERVED + held + " " + holder.pid() + ":" + held);
            node.set("gpu.0.memory.used", "1GiB"); // neither waits for the program nor drops its memory
            assertThat(read(node)).isEqualTo((1L << 30) + RESERVED + held + " " + holder.pid() + ":" + held);
            holder.destroyForcibly().waitFor();
            assertThat(read(node)).isEqualTo(Long.toString((1L << 30) + RESERVED));
        }
    }

    @Test
    void gpuThatIsLostFailsItsCopies() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            Process copier = start(node, "copy", Long.toString(1L << 20));
            try (BufferedReader out = copier.inputReader()) {
                assertThat(out.readLine()).isEqualTo("held");
                node.set("gpu.0.state", "lost");
                assertThat(out.readLine()).isEqualTo("999");
            }
            assertThat(copier.waitFor()).isZero();
        }
    }

    @Test
    void errorsAndRatesAreKeysOfTheNode() throws Exception {
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            node.set("gpu.0.copy.peer.3.rate", "9000");
            node.set("gpu.1.copy.peer.rate", "8000");
            node.set("gpu.0.copy.to-host", "3000");
            SimTable table = node.control().table();
            assertThat(table.number("gpu[0].peer[3].copy_mbps")).isEqualTo(9000);
            assertThat(table.number("gpu[0].peer[2].copy_mbps")).isEqualTo(SimLayout.ABSENT);
            assertThat(table.number("gpu[1].peer[7].copy_mbps")).isEqualTo(8000);
            assertThat(table.number("gpu[0].copy_to_host_mbps")).isEqualTo(3000);
            Process copier = start(node, "copy", Long.toString(1L << 20));
            try (BufferedReader out = copier.inputReader()) {
                assertThat(out.readLine()).isEqualTo("held");
                node.set("gpu.0.cuda.error", "ecc-uncorrectable");
                assertThat(out.readLine()).isEqualTo("214");
            }
            node.set("gpu.0.cuda.error", "none");
            node.set("fault.alloc", "{function: cuMemAlloc_v2, error: 2}");
            assertThat(start(node, "hold", "1").waitFor()).isEqualTo(1);
            assertThat(node.control().hits("alloc")).isEqualTo(1);
        }
    }
}
