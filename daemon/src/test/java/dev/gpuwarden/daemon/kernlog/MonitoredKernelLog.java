package dev.gpuwarden.daemon.kernlog;

import static dev.gpuwarden.testkit.Await.until;

import dev.gpuwarden.checks.node.NodeName;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A node whose kernel log is a file, and monitors that read it. */
abstract class MonitoredKernelLog {

    static final String BOOT_1 = "11111111-1111-1111-1111-111111111111";

    @TempDir
    Path folder;

    final RecordingIntake store = new RecordingIntake(Clock.systemUTC());
    final List<KernelRecord> tapped = Collections.synchronizedList(new ArrayList<>());
    KernelLogSettings settings;
    int sequence;

    @BeforeEach
    void node() throws IOException {
        Files.createDirectories(folder.resolve("proc/sys/kernel/random"));
        boot(BOOT_1);
        settings = settings(KernelLogSettings.Source.FILE, log());
    }

    static KernelLogSettings settings(KernelLogSettings.Source source, @Nullable Path path) {
        KernelLogSettings settings = new KernelLogSettings();
        settings.source = source;
        settings.path = path;
        return settings;
    }

    Path log() {
        return folder.resolve("kmsg");
    }

    /** The ring of a node that boots is empty. */
    void boot(String id) throws IOException {
        Files.writeString(folder.resolve("proc/sys/kernel/random/boot_id"), id + "\n");
        Files.writeString(folder.resolve("proc/uptime"), "10.00 1.0\n");
        Files.writeString(log(), "");
        sequence = 0;
        write("Linux version 6.1.0");
    }

    void write(String... texts) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (String text : texts) {
            lines.append("4,")
                    .append(sequence)
                    .append(',')
                    .append(1_000_000 + sequence++)
                    .append(",-;")
                    .append(text)
                    .append('\n');
        }
        Files.writeString(log(), lines, StandardOpenOption.APPEND);
    }

    KernelLogMonitor start() {
        KernelLogMonitor monitor = monitor();
        monitor.start();
        return monitor;
    }

    KernelLogMonitor monitor() {
        return new KernelLogMonitor(
                settings,
                new KernelLogMonitor.Surroundings(
                        NodeName.of("node1"),
                        NodePaths.of(folder.resolve("proc"), folder.resolve("sys"), folder.resolve("pods")),
                        KernelLogParser.standard(),
                        () -> new NodeSnapshot(
                                new NodeSnapshot.DriverState.Opening(), Reading.absent(Absence.PENDING), List.of()),
                        store,
                        store::faults,
                        longest -> {},
                        DriverSource.Feed.NONE,
                        tapped::add));
    }

    /** Waits until a source was opened or failed to open. */
    static KernelLogStatus status(KernelLogMonitor monitor) {
        until(() -> monitor.status() instanceof Reading.Present);
        return monitor.status().asOptional().orElseThrow();
    }
}
