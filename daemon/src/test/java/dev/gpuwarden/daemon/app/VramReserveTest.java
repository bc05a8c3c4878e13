package dev.gpuwarden.daemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.cli.Durations;
import dev.gpuwarden.daemon.command.VramCommand;
import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Programs that request memory of a T4 before they allocate it, from a real daemon. */
@Tag("programs")
class VramReserveTest {

    @TempDir
    Path folder;

    private final List<Process> processes = new ArrayList<>();
    private SimulatedNode node;

    @BeforeEach
    void start() {
        node = SimulatedNode.start("t4");
    }

    @AfterEach
    void stop() {
        processes.forEach(Process::destroyForcibly);
        node.close();
    }

    private Process holds(String name, int mib) throws IOException {
        Process process = ChildJvm.gpuwarden(List.of(
                        "sim", "use", "--node", node.root().toString(), "--gpu=0", "--name=" + name, "--mib=" + mib))
                .redirectErrorStream(true)
                .start();
        processes.add(process);
        assertThat(process.inputReader().readLine()).contains("holds " + mib + " MiB");
        return process;
    }

    private RunningDaemon watch() throws IOException {
        Path budgets = Files.writeString(folder.resolve("budgets.yaml"), """
                tenants:
                  - process: hog
                    budget: 3000Mi
                  - process: victim
                    budget: 5000Mi
                """);
        return RunningDaemon.start(node, "--vram.budgets=" + budgets, "--vram.mode=dry-run");
    }

    /** Starts the command in a unit of the simulated node, whose /proc has it before it runs. */
    private Process reserve(String unit, String... more) throws IOException {
        List<String> arguments = new ArrayList<>(List.of("vram", "reserve"));
        arguments.addAll(List.of(more));
        List<String> program = ChildJvm.gpuwarden(arguments).command();
        List<String> command = new ArrayList<>(List.of("/bin/sh", "-c", "read go && exec \"$@\"", "sh"));
        command.addAll(program);
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment()
                .put("GPUWARDEN_GRPC_SOCKET", RunningDaemon.socket(node).toString());
        builder.environment().remove("CUDA_VISIBLE_DEVICES");
        Process process = builder.start();
        processes.add(process);
        inUnit(process.pid(), unit);
        try (Writer go = process.outputWriter()) {
            go.write("\n");
        }
        return process;
    }

    private void inUnit(long pid, String unit) throws IOException {
        Path proc = Files.createDirectories(node.procfs().resolve(Long.toString(pid)));
        Files.writeString(proc.resolve("comm"), "sh\n");
        Files.writeString(proc.resolve("cgroup"), "0::/system.slice/" + unit + "\n");
        Files.writeString(proc.resolve("stat"), pid + " (sh) S 1" + " 0".repeat(17) + " 100 0 0\n");
    }

    /** Runs the command in this process, and returns its exit code and standard error. */
    private String run(String... arguments) {
        StringWriter err = new StringWriter();
        List<String> command = new ArrayList<>(List.of("reserve", "--grpc.socket=" + RunningDaemon.socket(node)));
        command.addAll(List.of(arguments));
        int code = VramCommand.with(() -> {
                    throw new AssertionError("it needs no driver");
                })
                .registerConverter(Duration.class, Durations::parse)
                .setErr(new PrintWriter(err))
                .setOut(new PrintWriter(new StringWriter()))
                .execute(command.toArray(String[]::new));
        return code + " " + err;
    }

    private static Execution end(Process process) throws Exception {
        return Execution.of(process);
    }

    private static boolean count(String metrics, String state, int count) {
        return metrics.lines()
                .anyMatch(line -> line.startsWith("gpuwarden_vram_reservations{gpu=\"0\"")
                        && line.contains("state=\"" + state + "\"")
                        && line.endsWith(" " + count + ".0"));
    }

    @Test
    void aBatchJobWaitsWhileTheCardIsFullAndStartsWhenThereIsRoom() throws Exception {
        Process filler = holds("filler", 12_000);
        RunningDaemon daemon = watch();
        daemon.awaitReady();
        Process batch = reserve(
                "batch.service", "4GiB", "--wait=1m", "--", "/bin/sh", "-c", "echo on $CUDA_VISIBLE_DEVICES; exit 7");
        daemon.awaitMetrics(metrics -> count(metrics, "waiting", 1));
        assertThat(batch.isAlive()).isTrue();
        inUnit(ProcessHandle.current().pid(), "other.service");
        assertThat(run("15GiB")).startsWith("1 gpuwarden: refused: 15360 MiB are more than an empty card has");
        assertThat(run("15GiB", "--", "/bin/true")).startsWith("125 gpuwarden: refused");
        assertThat(run("8GiB", "--wait=0s")).startsWith("1 gpuwarden: not granted within 0s: GPU 0");
        assertThat(run("8GiB", "--wait=0s", "--", "/bin/true")).startsWith("124 gpuwarden: not granted");
        filler.destroy();
        Execution ended = end(batch);
        assertThat(ended.code()).as(ended.toString()).isEqualTo(7);
        assertThat(ended.output()).contains("on GPU-");
        assertThat(ended.output()).contains("4096 MiB of GPU 0", "are reserved for unit:batch.service");
        assertThat(run("1GiB", "--", "/nonexistent")).startsWith("126").contains("/nonexistent: expected a program");
        assertThat(run("1GiB", "--hold=100ms")).startsWith("0").contains("has ended");
        daemon.awaitMetrics(metrics -> count(metrics, "waiting", 0) && count(metrics, "granted", 0));
        daemon.stop();
        assertThat(run("1GiB", "--", "/bin/true")).startsWith("125 gpuwarden: no daemon answers");
    }
}
