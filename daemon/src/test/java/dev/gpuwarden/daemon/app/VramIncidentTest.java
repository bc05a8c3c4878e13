package dev.gpuwarden.daemon.app;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.testkit.Execution;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A tenant over its budget starves another one on a T4: both are processes that use the simulated CUDA. */
@Tag("programs")
class VramIncidentTest {

    /** Exit code of a Java program that SIGTERM ended. */
    private static final int TERMINATED = 143;

    @TempDir
    Path folder;

    private final List<Process> tenants = new ArrayList<>();
    private SimulatedNode node;

    @BeforeEach
    void start() {
        node = SimulatedNode.start("t4");
    }

    @AfterEach
    void stop() {
        tenants.forEach(Process::destroyForcibly);
        node.close();
    }

    private Process tenant(String name, int mib) throws IOException {
        Process tenant = ChildJvm.gpuwarden(List.of(
                        "sim", "use", "--node", node.root().toString(), "--gpu=0", "--name=" + name, "--mib=" + mib))
                .redirectErrorStream(true)
                .start();
        tenants.add(tenant);
        assertThat(tenant.inputReader().readLine()).contains("holds " + mib + " MiB");
        return tenant;
    }

    private RunningDaemon watch(Path budgets, String mode) throws IOException {
        return RunningDaemon.start(node, "--vram.budgets=" + budgets, "--vram.mode=" + mode, "--vram.grace=5s");
    }

    private static String recycled(String outcome) {
        return "gpuwarden_vram_recycles_total{gpu=\"0\",outcome=\"" + outcome + "\"";
    }

    private static boolean once(String metrics, String outcome) {
        return metrics.lines().anyMatch(line -> line.startsWith(recycled(outcome)) && line.endsWith(" 1.0"));
    }

    @Test
    void theTenantOverItsBudgetEndsAndTheOtherStays() throws Exception {
        Path budgets = Files.writeString(folder.resolve("budgets.yaml"), """
                tenants:
                  - process: hog
                    budget: 3000Mi
                  - process: victim
                    budget: 5000Mi
                """);
        Process hog = tenant("hog", 10726);
        Process victim = tenant("victim", 2500);
        RunningDaemon dry = watch(budgets, "dry-run");
        try {
            dry.awaitMetrics(metrics -> once(metrics, "dry_run"));
            assertThat(hog.isAlive()).isTrue();
        } finally {
            dry.stop();
        }
        RunningDaemon armed = watch(budgets, "armed");
        try {
            assertThat(hog.waitFor(20, TimeUnit.SECONDS)).isTrue();
            assertThat(hog.exitValue()).isEqualTo(TERMINATED);
            armed.awaitMetrics(metrics -> once(metrics, "accepted"));
            tenant("victim", 1900);
            assertThat(victim.isAlive()).isTrue();
        } finally {
            armed.stop();
        }
        assertThat(explained()).contains("hog");
    }

    @Test
    void aTenantOverItsBudgetIsRecycledForOneThatWaitsWithinItsOwn() throws Exception {
        Path budgets = Files.writeString(folder.resolve("budgets.yaml"), """
                tenants:
                  - process: hog
                    budget: 3000Mi
                  - process: victim
                    budget: 5000Mi
                """);
        tenant("hog", 9000);
        tenant("victim", 1000);
        RunningDaemon daemon =
                RunningDaemon.start(node, "--vram.budgets=" + budgets, "--vram.rules=reservation-waits=1s");
        daemon.awaitMetrics(metrics -> metrics.contains("verdict=\"calm\"} 1.0"));
        Process asks = ChildJvm.gpuwarden(List.of(
                        "vram",
                        "reserve",
                        "3000MiB",
                        "--gpu=0",
                        "--tenant=process:victim",
                        "--grpc.socket=" + RunningDaemon.socket(node)))
                .start();
        tenants.add(asks);
        daemon.awaitMetrics(metrics -> once(metrics, "dry_run"));
        daemon.stop();
        assertThat(explained())
                .contains(
                        "no room for reservations of process:victim",
                        "hog uses 9",
                        "reservation of 3000 MiB for process:victim, which waits for");
    }

    /** Returns the last recycle in words; the record must give the same decision again. */
    private String explained() throws Exception {
        Execution explained = Execution.of(ChildJvm.gpuwarden(List.of(
                        "vram",
                        "explain",
                        node.root().resolve("events-vram.jsonl").toString()))
                .start());
        assertThat(explained.code()).as(explained.toString()).isZero();
        return explained.output();
    }
}
