package dev.gpuwarden.daemon.app;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.testkit.Execution;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Each writer of files on a disk that is full from each byte on: it loses no whole line, joins none and goes on once there is room.
 * {@code -Dgpuwarden.cuts.step=1} cuts at each byte, in place of a sample.
 */
@Tag("programs")
class FullDiskTest {

    @TempDir
    Path folder;

    private static String run(ProcessBuilder builder) {
        Execution run = Execution.of(builder.redirectErrorStream(true));
        assertThat(run.code()).as(run.output()).isZero();
        return run.output();
    }

    private static ProcessBuilder writer(String name, List<String> arguments) {
        ProcessBuilder builder = ChildJvm.of("dev.gpuwarden.daemon." + name, arguments);
        builder.command().add(1, "-Dgpuwarden.cuts.step=" + FullDisk.STEP);
        return builder;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "repair.RepairLogOnFullDisk",
                "sink.FileSinkOnFullDisk",
                "vram.trace.DecisionFileOnFullDisk",
                "store.StoreOnFullDisk",
                "app.FilesOnFullDisk"
            })
    void noWholeLineIsLostAtAnyCut(String name) throws IOException {
        Path memory = Path.of("/dev/shm");
        // Thousands of syncs need no disk.
        Path place = Files.isWritable(memory) ? Files.createTempDirectory(memory, "gpuwarden-full") : folder;
        try {
            assertThat(run(writer(name, List.of(place.toString())))).contains("cuts");
        } finally {
            if (!place.equals(folder)) {
                try (var all = Files.list(place)) {
                    for (Path each : all.toList()) {
                        Files.delete(each);
                    }
                }
                Files.delete(place);
            }
        }
    }

    /** A real disk without room, which reports another error than a limit on files does. */
    @ParameterizedTest
    @ValueSource(strings = {"repair.RepairLogOnFullDisk", "sink.FileSinkOnFullDisk", "store.StoreOnFullDisk"})
    void noWholeLineIsLostOnAFullTmpfs(String name) throws IOException {
        Path mount = Files.createDirectory(folder.resolve("mount"));
        List<String> inside = List.of(
                "unshare", "-m", "sh", "-c", "mount -t tmpfs -o size=1m none \"$0\" && exec \"$@\"", mount.toString());
        List<String> probe = new ArrayList<>(inside);
        probe.add("true");
        assumeTrue(
                Execution.of(new ProcessBuilder(probe)).code() == 0,
                "this user may not mount a tmpfs, so no test runs on a full one");
        ProcessBuilder writer = writer(name, List.of(mount.toString(), "tmpfs"));
        writer.command().addAll(0, inside);
        assertThat(run(writer)).contains("cuts");
    }
}
