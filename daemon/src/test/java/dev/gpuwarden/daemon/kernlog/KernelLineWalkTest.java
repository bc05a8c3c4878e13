package dev.gpuwarden.daemon.kernlog;

import static dev.gpuwarden.testkit.Await.until;

import dev.gpuwarden.checks.node.NodeName;
import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.daemon.store.EventStore;
import dev.gpuwarden.daemon.store.StoreSettings;
import dev.gpuwarden.testkit.walk.EnteredFiles;
import dev.gpuwarden.testkit.walk.Walk;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.List;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;

/** Records the files that a line of the kernel log enters on its way to the store. */
class KernelLineWalkTest {

    @Test
    void lineOfTheKernelLogGoesThroughTheseFiles() throws Exception {
        new Walk("From a line of the kernel log to the store", 30).check(Line.class);
    }

    /** A pipe in place of the kernel's device: each write is a record, and a read waits for the next. */
    public static final class Line implements Callable<Integer> {

        private int sequence;

        @Override
        public Integer call() throws Exception {
            Path folder = Files.createTempDirectory("walk");
            Path boot = Files.createDirectories(folder.resolve("proc/sys/kernel/random"));
            Files.writeString(boot.resolve("boot_id"), "11111111-1111-1111-1111-111111111111\n");
            Files.writeString(folder.resolve("proc/uptime"), "10.00 1.0\n");
            Path device = folder.resolve("kmsg");
            new ProcessBuilder("mkfifo", device.toString()).start().waitFor();
            try (EventStore store = EventStore.open(StoreSettings.at(folder.resolve("events.db")), Clock.systemUTC());
                    KernelLogMonitor monitor = monitor(folder, device, store)) {
                monitor.start();
                try (OutputStream kernel = Files.newOutputStream(device)) {
                    write(kernel, "Linux version 6.1.0");
                    // Otherwise the snapshot is searched for their names, at most once a second.
                    for (int gpu = 1; gpu < 5; gpu++) {
                        write(
                                kernel,
                                "NVRM: GPU at PCI:0000:0" + gpu + ":00: GPU-00000000-0000-0000-0000-00000000000" + gpu);
                    }
                    // The first event creates what later events use.
                    fault(kernel, monitor, 1);
                    EnteredFiles.begin();
                    // Not one: the end of an event's way is behind the event that the test sees.
                    for (int gpu = 2; gpu < 5; gpu++) {
                        fault(kernel, monitor, gpu);
                    }
                    EnteredFiles.end();
                }
            }
            return sequence;
        }

        private void fault(OutputStream kernel, KernelLogMonitor monitor, int gpu) throws Exception {
            write(
                    kernel,
                    "NVRM: Xid (PCI:0000:0" + gpu + ":00): 79, pid=1234, name=python3, GPU has fallen off the bus.");
            until(() -> monitor.stats().events() == gpu);
        }

        private void write(OutputStream kernel, String text) throws Exception {
            kernel.write(("4," + sequence + "," + (1_000_000 + sequence++) + ",-;" + text + "\n")
                    .getBytes(StandardCharsets.US_ASCII));
        }

        private static KernelLogMonitor monitor(Path folder, Path device, EventStore store) {
            return new KernelLogMonitor(
                    MonitoredKernelLog.settings(KernelLogSettings.Source.KMSG, device),
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
                            record -> {}));
        }
    }
}
