package dev.gpuwarden.checks.process;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.run.SameProgram;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.port.Driver;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.DriverProvider;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The command `sim use` in a process of its own, and what NVML in this process and the node's /proc have of it. */
@Tag("programs")
class HeldMemoryTest {

    private static final long MEBIBYTE = 1L << 20;
    /** The default of `cuda.context-memory`. */
    private static final long CONTEXT = 512 * MEBIBYTE;

    private SimulatedNode node;
    private Driver nvml;

    @BeforeEach
    void start() {
        node = SimulatedNode.start("h100x8");
        node.set("process.41001", "stop");
        DriverProvider provider =
                ServiceLoader.load(DriverProvider.class).findFirst().orElseThrow();
        DriverOptions options = new DriverOptions(List.of(node.libraryPath().toString()), SamplerPath.AUTO);
        nvml = ((Opening.Opened<Driver>) provider.open(options)).driver();
    }

    @AfterEach
    void stop() {
        nvml.close();
        node.close();
    }

    private Process use(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(SameProgram.command());
        command.add(1, "--enable-native-access=ALL-UNNAMED");
        command.addAll(List.of("sim", "use", "--node", node.root().toString(), "--gpu", "0"));
        command.addAll(List.of(arguments));
        return new ProcessBuilder(command).redirectErrorStream(true).start();
    }

    private List<GpuProcess> processes() {
        return nvml.processes(0).asOptional().orElseThrow();
    }

    @Test
    void memoryShowsWithItsProcessAndIsFreeAfterAKill() throws Exception {
        Process holder = use("--mib", "3000", "-o", "json");
        int pid = (int) holder.pid();
        BufferedReader out = holder.inputReader();
        assertThat(out.readLine()).isEqualTo("{");
        assertThat(out.lines().limit(4)).contains("  \"pid\": " + pid + ",", "  \"bytes\": " + 3000 * MEBIBYTE);
        assertThat(processes())
                .extracting(GpuProcess::pid, process -> process.usedBytes())
                .containsExactly(org.assertj.core.groups.Tuple.tuple(pid, Reading.of(CONTEXT + 3000 * MEBIBYTE)));
        Procfs proc = new Procfs(node.procfs());
        assertThat(proc.cgroup(pid)).isEqualTo(Reading.of(Files.readString(Path.of("/proc/" + pid + "/cgroup"))));
        long seconds = present(proc.startTicks(pid)) / 100 + booted(node.procfs());
        long real = present(new Procfs(Path.of("/proc")).startTicks(pid)) / 100 + booted(Path.of("/proc"));
        assertThat(seconds).isBetween(real - 1, real + 1);
        holder.destroyForcibly().waitFor();
        assertThat(processes()).isEmpty();
        assertThat(proc.startTicks(pid)).isInstanceOf(Reading.Absent.class);
        // The next program removes the remains.
        assertThat(Execution.of(use("--mib", "1", "--for", "1ms")).code()).isZero();
        assertThat(node.procfs().resolve(Integer.toString(pid))).doesNotExist();
        assertThat(processes()).isEmpty();
    }

    private static long present(Reading<Long> reading) {
        return reading.asOptional().orElseThrow(() -> new AssertionError(reading));
    }

    private static long booted(Path proc) throws IOException {
        return Files.readAllLines(proc.resolve("stat")).stream()
                .filter(line -> line.startsWith("btime "))
                .mapToLong(line -> Long.parseLong(line.substring("btime ".length())))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aFullGpuEndsTheGrowthAsCudaDoes() throws Exception {
        Execution ended = Execution.of(use("--mib", "60000", "--grow", "100GiB/s", "--", "sleep", "60"));
        assertThat(ended.code()).isEqualTo(1);
        assertThat(ended.output()).contains("no more than ", "cuMemAlloc_v2 answered 2 (CUDA_ERROR_OUT_OF_MEMORY");
    }

    @Test
    void aProgramRunsBesideTheMemoryAndItsExitCodeIsPassedOn() throws Exception {
        Execution ended =
                Execution.of(use("--mib", "10", "--", "sh", "-c", "cat $GPUWARDEN_PATH_PROCFS/$PPID/comm; exit 7"));
        assertThat(ended.code()).isEqualTo(7);
        assertThat(ended.output()).contains("holds 10 MiB of GPU 0 (GPU-", "java\n");
    }
}
