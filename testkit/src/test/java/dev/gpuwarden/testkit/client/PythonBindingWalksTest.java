package dev.gpuwarden.testkit.client;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The calls of a starting DCGM, made through NVIDIA's Python binding. */
@Tag("programs")
class PythonBindingWalksTest {

    @TempDir
    Path folder;

    @Test
    void socketsClocksAndLoadMatchWork() throws IOException, InterruptedException {
        assertThat(read("h100x8")).containsExactly("""
                excluded 0
                confidential 0
                from first to last 50
                memory of the last [2]
                fabric 3
                bit errors !3
                memory clocks [2619]
                SM clock 1980 1980 1980 1980 1980 345 1980 345
                SM busy 91.0 91.0 91.0 91.0 28.0 0.0 55.0 0.0
                """.split("\n"));
    }

    @Test
    void boardWithoutFabricReportsNone() throws IOException, InterruptedException {
        assertThat(read("l4x4")).contains("fabric 0", "confidential !3");
    }

    @Test
    void healthyLinkReportsLowestErrorRate() throws IOException, InterruptedException {
        assertThat(read("b200x8")).contains("bit errors 0xfff");
    }

    @Test
    void profileWalkFindsEveryInstance() throws IOException, InterruptedException {
        List<String> lines = read("a100-mig", "instances");
        assertThat(lines.subList(9, lines.size())).containsExactly("""
                profiles 10 19=7x9728MB 14=3x19968MB 9=2x40192MB 5=1x40192MB 0=1x80896MB 20=1x9728MB 15=4x19968MB
                instance 7 profile 19 at 6 + 1
                  profiles 8 0=1x14SM
                  compute instance 0 profile 0 slices 1
                instance 8 profile 19 at 7 + 1
                  profiles 8 0=1x14SM
                  compute instance 0 profile 0 slices 1
                instance 3 profile 14 at 4 + 2
                  profiles 8 0=2x14SM 1=1x28SM
                  compute instance 0 profile 1 slices 2
                instance 1 profile 9 at 0 + 4
                  profiles 8 0=3x14SM 1=1x28SM 2=1x42SM
                  compute instance 0 profile 2 slices 3
                """.split("\n"));
    }

    private List<String> read(String scenario, String... arguments) throws IOException, InterruptedException {
        Path site = Tools.need("nvidia-ml-py", "python/pynvml.py").getParent();
        Path script = folder.resolve("read_node.py");
        try (var in = Objects.requireNonNull(getClass().getResourceAsStream("read_node.py"))) {
            Files.write(script, in.readAllBytes());
        }
        List<String> command = new ArrayList<>(List.of("python3", script.toString()));
        command.addAll(List.of(arguments));
        try (SimulatedNode node = SimulatedNode.start(scenario)) {
            return Tools.run(
                            node,
                            Map.of("PYTHONPATH", String.valueOf(site), "PYTHONDONTWRITEBYTECODE", "1"),
                            command.toArray(String[]::new))
                    .lines()
                    .toList();
        }
    }
}
