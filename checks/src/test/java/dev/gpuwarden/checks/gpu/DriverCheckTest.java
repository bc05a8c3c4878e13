package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.port.Opening.Reason;
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

class DriverCheckTest {

    private static final NodeSnapshot RUNNING = Snapshots.running(8, Snapshots.healthy(0));
    private static final NodeSnapshot NOT_LOADED = Snapshots.without(Reason.DRIVER_NOT_LOADED, 9, Snapshots.bus(8));

    @TempDir
    Path proc;

    private final Map<String, Long> notes = new HashMap<>();
    private final DriverCheck check = new DriverCheck();
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private Optional<String> young = Optional.empty();

    private String run(NodeSnapshot node) {
        now = now.plus(check.info().every());
        Finding finding = check.run(Gpus.context(node, notes, now, young, proc)).get(0);
        return finding.outcome() + " " + finding.code();
    }

    private void process(int pid, String name) throws IOException {
        Path folder = Files.createDirectories(proc.resolve(Integer.toString(pid)));
        Files.writeString(folder.resolve("comm"), name + "\n");
    }

    @Test
    void driverMayComeWhileTheNodeIsYoung() {
        young = Optional.of("the node is young");
        assertThat(run(NOT_LOADED)).isEqualTo("UNKNOWN driver-not-loaded");
        young = Optional.empty();
        assertThat(run(NOT_LOADED)).isEqualTo("FAIL driver-not-loaded");
    }

    @Test
    void driverThatWasThereInThisBootIsMissedImmediately() {
        young = Optional.of("the node is young");
        assertThat(run(RUNNING)).isEqualTo("PASS driver-answering");
        assertThat(run(NOT_LOADED)).isEqualTo("FAIL driver-not-loaded");
    }

    @ParameterizedTest
    @CsvSource({
        "12.550.163.01, 550.54.15, true",
        "12.550.54.15, 550.163.01, false",
        "12.550.163.01, 550.163.01, false",
        "13.580.65.06, 550.163.01, true",
        "unknown, 550.163.01, false",
        "12.550.163.01, '', false",
    })
    void aLibraryThatIsNewerThanTheModuleIsNoStaleOne(String library, String module, boolean newer) {
        String text =
                module.isEmpty() ? "" : "NVRM version: NVIDIA UNIX x86_64 Kernel Module  " + module + "  Wed Sep 17";
        assertThat(OwnLibrary.isNewer("answered 18; the library is of version " + library, text))
                .isEqualTo(newer);
    }

    @Test
    void anInstallerMayReplaceADriverForAnHour() throws IOException {
        run(RUNNING);
        process(1, "systemd");
        process(4711, "nvidia-driver");
        assertThat(run(NOT_LOADED)).isEqualTo("FAIL driver-not-loaded");
        process(4712, "dkms");
        assertThat(run(NOT_LOADED)).isEqualTo("UNKNOWN driver-not-loaded");
        for (int i = 0; i < 238; i++) {
            run(NOT_LOADED);
        }
        assertThat(run(NOT_LOADED)).isEqualTo("UNKNOWN driver-not-loaded");
        assertThat(run(NOT_LOADED)).as("a program that hangs").isEqualTo("FAIL driver-not-loaded");
    }
}
