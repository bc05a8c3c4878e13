package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.BoardLimits;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class FabricCheckTest {

    private static final Limits LIMITS = BoardLimits.shipped();
    private final Map<String, Long> notes = new HashMap<>();

    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private Optional<String> young = Optional.empty();

    @TempDir
    Path proc;

    /** Runs the check so many times, 15 s after one another. */
    private Finding runs(int times, GpuSnapshot... gpus) {
        NodeSnapshot node = Snapshots.running(gpus.length, gpus);
        Finding finding = null;
        for (int i = 0; i < times; i++) {
            now = now.plusSeconds(15);
            finding = new FabricCheck()
                    .finding(gpus[0], new Gpus.Context(node, GpuHistory.NONE, LIMITS, notes, now, young, proc));
        }
        return finding;
    }

    private static GpuSnapshot in(long state, long status) {
        return Gpus.gpu(frame -> {
            Gpus.put(frame, GpuMetric.FABRIC_STATE, state);
            Gpus.put(frame, GpuMetric.FABRIC_STATUS, status);
        });
    }

    @Test
    void registrationUnderWayIsUnknownThenWarn() {
        assertThat(runs(1, in(2, 0)).code()).isEqualTo("fabric-registering");
        assertThat(runs(39, in(1, 0)).code()).isEqualTo("fabric-registering");
        Finding late = runs(1, in(1, 0));
        assertThat(late.code()).isEqualTo("fabric-not-registered");
        assertThat(late.outcome()).as("alone, as with a pass-through").isEqualTo(Outcome.WARN);
        assertThat(late.message()).contains("within 600 (limits.tsv:", "has not begun for 600");
        assertThat(runs(1, in(3, 0)).code()).isEqualTo("fabric-healthy");
        assertThat(runs(1, in(2, 0)).code()).as("begins again").isEqualTo("fabric-registering");
    }

    private static String judged(Finding finding) {
        return finding.outcome() + " " + finding.code() + " " + finding.action();
    }

    private static void write(Path file, String text) throws IOException {
        Files.createDirectories(file.getParent());
        Files.writeString(file, text);
    }

    private void process(int pid, String name) throws IOException {
        Path folder =
                Files.createDirectories(proc.resolve(Integer.toString(pid)).resolve("ns"));
        Files.createSymbolicLink(folder.resolve("pid"), Path.of("pid:[4026531836]"));
        write(proc.resolve(pid + "/comm"), name + "\n");
    }

    @Test
    void nodeWithoutAnyRegisteredGpuFailsIfNoPartitionManagerIsThere() throws IOException {
        GpuSnapshot[] gpus = {in(2, 0), in(2, 0)};
        assertThat(judged(runs(41, gpus))).as("processes are hidden").isEqualTo("FAIL fabric-not-registered NONE");
        process(1, "systemd");
        assertThat(judged(runs(1, gpus))).isEqualTo("FAIL fabric-not-registered CONTACT_SUPPORT");
        process(900, "nv-fabricmanage");
        assertThat(judged(runs(1, gpus)))
                .as("its settings cannot be read")
                .isEqualTo("FAIL fabric-not-registered NONE");
        write(proc.resolve("900/cmdline"), "/usr/bin/nv-fabricmanager\0-c\0/etc/fm.cfg\0");
        write(proc.resolve("900/root/etc/fm.cfg"), "# FABRIC_MODE=2\nFABRIC_MODE=0\n");
        assertThat(judged(runs(1, gpus))).isEqualTo("FAIL fabric-not-registered CONTACT_SUPPORT");
        write(proc.resolve("900/root/etc/fm.cfg"), "FABRIC_MODE=1\n");
        assertThat(judged(runs(1, gpus))).isEqualTo("WARN fabric-not-registered NONE");
        young = Optional.of("the node is young");
        assertThat(judged(runs(1, gpus))).isEqualTo("UNKNOWN fabric-registering NONE");
    }

    @Test
    void oneRegisteredGpuProvesThatTheFabricWorks() throws IOException {
        process(1, "systemd");
        assertThat(judged(runs(41, in(2, 0), in(3, 0)))).isEqualTo("WARN fabric-not-registered NONE");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            3 | 999 | 0 | 0     | FAIL fabric-failed
            3 | 0   | 1 | 0x199 | PASS fabric-healthy
            3 | 0   | 2 | 0x1aa | FAIL fabric-unhealthy
            3 | 0   | 3 | 0x1aa | WARN fabric-limited
            3 | 0   | 0 | 0x1aa | PASS fabric-healthy
            3 | 0   | 0 | 0     | PASS fabric-healthy
            3 | 0   | 0 | 0x1a9 | WARN fabric-limited
            3 | 0   | 0 | 0x1a6 | WARN fabric-limited
            3 | 0   | 0 | 0x19a | FAIL fabric-unhealthy
            3 | 0   | 0 | 0x5aa | FAIL fabric-unhealthy
            0 | 0   | 0 | 0     | SKIPPED no-fabric
            """)
    void fabricHealthDecidesTheOutcome(long state, long status, long summary, String mask, String judged) {
        GpuSnapshot gpu = Gpus.gpu(frame -> {
            Gpus.put(frame, GpuMetric.FABRIC_STATE, state);
            Gpus.put(frame, GpuMetric.FABRIC_STATUS, status);
            Gpus.put(frame, GpuMetric.FABRIC_HEALTH_SUMMARY, summary);
            Gpus.put(frame, GpuMetric.FABRIC_HEALTH_MASK, Long.decode(mask));
        });
        Finding finding = runs(1, gpu);
        assertThat(finding.outcome() + " " + finding.code()).isEqualTo(judged);
        if (finding.code().equals("fabric-unhealthy") || finding.code().equals("fabric-limited")) {
            assertThat(finding.message()).doesNotEndWith("reports ");
        }
    }

    @Test
    void boardsWithoutAFabricAreSkipped() {
        GpuSnapshot t4 = Gpus.gpu(frame -> Gpus.absent(frame, Absence.NOT_SUPPORTED, GpuMetric.FABRIC_STATE));
        assertThat(runs(1, t4).code()).isEqualTo("not-supported");
        assertThat(notes).isEmpty();
    }
}
