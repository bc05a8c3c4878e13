package dev.gpuwarden.daemon.holders;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.Supplier;

/**
 * The pods that hold GPUs, without those that have ended, for programs that use free GPUs. On a node that never had a
 * kubelet no pod holds any. Blocks as {@link GpuHolderLookup} does. Thread-safe.
 */
public record PresentPods(
        Supplier<Reading<GpuHolders>> lookup, Predicate<GpuHolders.Pod> ended, NodePaths paths, Clock clock)
        implements Supplier<Reading<GpuHolders>> {

    /**
     * @param node returns the GPUs; must not call the driver
     * @param patience that of {@link GpuHolderLookup}
     */
    public static PresentPods of(NodePaths paths, Supplier<NodeSnapshot> node, Duration patience) {
        return new PresentPods(
                new GpuHolderLookup(paths.podResources(), node, patience, Clock.systemUTC()),
                new EndedPods(paths.podLogs(), paths.sysfs().resolve("fs/cgroup")),
                paths,
                Clock.systemUTC());
    }

    @Override
    public Reading<GpuHolders> get() {
        Instant asOf = clock.instant();
        Reading<GpuHolders> listed = lookup.get();
        if (listed instanceof Reading.Absent<GpuHolders> absent) {
            return absent.cause() == Absence.NO_DATA && !hasKubelet()
                    ? Reading.of(new GpuHolders(asOf, List.of(), List.of(), 0))
                    : listed;
        }
        return listed.map(all -> new GpuHolders(
                all.asOf(),
                all.holders().stream()
                        .filter(holder -> !ended.test(new GpuHolders.Pod(holder.namespace(), holder.pod())))
                        .toList(),
                all.unresolved().stream()
                        .filter(device -> !ended.test(new GpuHolders.Pod(device.namespace(), device.pod())))
                        .toList(),
                all.unlisted()));
    }

    /** Returns whether the node has the folder of a kubelet's socket, or runs one whose folder is another. */
    private boolean hasKubelet() {
        Path folder = paths.podResources().getParent();
        if (folder == null || Files.exists(folder)) {
            return true;
        }
        try (DirectoryStream<Path> processes = Files.newDirectoryStream(paths.procfs(), "[0-9]*")) {
            for (Path process : processes) {
                if (isKubelet(process)) {
                    return true;
                }
            }
            return false;
        } catch (IOException | DirectoryIteratorException e) {
            return true;
        }
    }

    private static boolean isKubelet(Path process) {
        try {
            return Files.readString(process.resolve("comm")).trim().equals("kubelet");
        } catch (IOException e) {
            // The process has ended.
            return false;
        }
    }
}
