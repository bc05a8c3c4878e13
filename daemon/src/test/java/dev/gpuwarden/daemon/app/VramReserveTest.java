package dev.gpuwarden.daemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.io.Writer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Programs that request memory of a T4 before they allocate it, from a real daemon. */
@Tag("programs")
@Timeout(60)
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

    private RunningDaemon watch(String wait) throws IOException {
        Path budgets = Files.writeString(folder.resolve("budgets.yaml"), """
                tenants:
                  - process: hog
                    budget: 3000Mi
                  - process: victim
                    budget: 5000Mi
                """);
        return RunningDaemon.start(node, "--vram.budgets=" + budgets, "--vram.rules=reservation-waits=" + wait);
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
        Path proc = Files.createDirectories(node.procfs().resolve(Long.toString(process.pid())));
        Files.writeString(proc.resolve("comm"), "sh\n");
        Files.writeString(proc.resolve("cgroup"), "0::/system.slice/" + unit + "\n");
        Files.writeString(proc.resolve("stat"), process.pid() + " (sh) S 1" + " 0".repeat(17) + " 100 0 0\n");
        try (Writer go = process.outputWriter()) {
            go.write("\n");
        }
        return process;
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
        RunningDaemon daemon = watch("15s");
        daemon.awaitReady();
        Process batch = reserve(
                "batch.service", "4GiB", "--wait=1m", "--", "/bin/sh", "-c", "echo on $CUDA_VISIBLE_DEVICES; exit 7");
        daemon.awaitMetrics(metrics -> count(metrics, "waiting", 1));
        assertThat(batch.isAlive()).isTrue();
        filler.destroy();
        Execution ended = end(batch);
        assertThat(ended.code()).as(ended.toString()).isEqualTo(7);
        assertThat(ended.output()).contains("on GPU-");
        assertThat(ended.output()).contains("4096 MiB of GPU 0", "are reserved for unit:batch.service");
        daemon.awaitMetrics(metrics -> count(metrics, "waiting", 0) && count(metrics, "granted", 0));
        daemon.stop();
    }

    @Test
    void aTenantOverItsBudgetIsRecycledForOneThatWaitsWithinItsOwn() throws Exception {
        holds("hog", 9000);
        holds("victim", 1000);
        RunningDaemon daemon = watch("1s");
        daemon.awaitReady();
        assertThat(daemon.get("/metrics").body()).contains("gpuwarden_vram_verdict");
        Process asks = reserve("admin.service", "3000MiB", "--gpu=0", "--tenant=process:victim");
        daemon.awaitMetrics(metrics -> metrics.lines()
                .anyMatch(line -> line.startsWith("gpuwarden_vram_recycles_total{gpu=\"0\",outcome=\"dry_run\"")
                        && line.endsWith(" 1.0")));
        asks.destroy();
        assertThat(asks.waitFor(10, TimeUnit.SECONDS)).isTrue();
        daemon.stop();
        Execution explained = end(ChildJvm.gpuwarden(List.of(
                        "vram",
                        "explain",
                        node.root().resolve("events-vram.jsonl").toString()))
                .start());
        assertThat(explained.code()).as(explained.toString()).isZero();
        assertThat(explained.output())
                .contains("no room for reservations of process:victim", "hog uses 9", "3000 MiB for process:victim");
    }
}
