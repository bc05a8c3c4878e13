package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.daemon.vram.trace.ObservationFile;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class VramRecordCommandTest {

    @TempDir
    Path folder;

    @Test
    void aTraceOfThisNodeCanBeReplayed() throws Exception {
        String file = folder.resolve("trace").toString();
        try (SimulatedNode node = SimulatedNode.start("h100x8")) {
            Program record = Program.run(node, "vram", "record", file, "--for=1500ms", "--node.name=n1");
            assertThat(record.err()).isEmpty();
            assertThat(record.exitCode()).isZero();
            Program again = Program.run(node, "vram", "record", file, "--for=1s");
            assertThat(again.exitCode()).isEqualTo(2);
            assertThat(again.err()).contains("trace already exists");
        }
        List<GpuObservation> seen = new ArrayList<>();
        ObservationFile.read(Path.of(file), seen::add);
        List<GpuObservation> first = seen.stream()
                .filter(each -> each.gpu().equals(seen.get(0).gpu()))
                .toList();
        assertThat(first).hasSizeBetween(4, 8);
        assertThat(first).extracting(GpuObservation::sequence).isSorted().doesNotHaveDuplicates();
        assertThat(first).extracting(GpuObservation::tenantsAtNanos).isSorted();
        assertThat(first.stream().map(GpuObservation::tenantsAtNanos).distinct())
                .hasSizeBetween(1, 3);
        assertThat(first).allSatisfy(each -> {
            assertThat(each.memory().asOptional()).isPresent();
            assertThat(each.tenantsAtNanos()).isLessThanOrEqualTo(each.atNanos());
        });
        assertThat(first.get(0).tenants().asOptional().orElseThrow())
                .extracting(Tenant::id)
                .isNotEmpty();
        Program replay = Program.run("vram", "replay", file);
        assertThat(replay.exitCode()).isZero();
        assertThat(replay.out()).contains(" observations of 8 GPUs: ");
    }

    @Test
    void withoutAGpuNothingIsRecorded() throws Exception {
        Program record = Program.spawn(
                "vram",
                "record",
                folder.resolve("trace").toString(),
                "--for=10ms",
                "--driver.library-path=/nonexistent",
                "--driver.open-deadline=1s");
        assertThat(record.exitCode()).isEqualTo(3);
        assertThat(record.err()).contains("no GPU was read");
        assertThat(folder.resolve("trace")).doesNotExist();
        Program unwritable = Program.run("vram", "record", "/proc/trace", "--for=10ms");
        assertThat(unwritable.exitCode()).isEqualTo(2);
        assertThat(unwritable.err()).contains("/proc/trace: ");
    }
}
