package dev.gpuwarden.daemon.holders;

import dev.gpuwarden.core.holder.GpuHolders.Pod;
import java.io.IOException;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/**
 * Detects pods that have ended but that the kubelet still lists: before Kubernetes 1.34 its PodResources have the
 * devices of finished pods too. A pod has ended if the kubelet has a folder of its logs, and none of its UIDs has a
 * cgroup. If the cgroups of pods are not visible, no pod counts as ended.
 *
 * @param cgroups where the node's cgroup file systems are mounted
 */
record EndedPods(Path podLogs, Path cgroups) implements Predicate<Pod> {

    private static final int MOST_ENTRIES = 10_000;
    private static final String KUBEPODS = "kubepods";

    /** Reads the folders. False if it cannot be determined. */
    @Override
    public boolean test(Pod pod) {
        String prefix = pod.namespace() + "_" + pod.name() + "_";
        List<String> uids = names(podLogs).stream()
                .filter(name -> name.startsWith(prefix))
                .map(name -> name.substring(prefix.length()))
                .toList();
        List<String> live = cgroupNames();
        return !uids.isEmpty()
                && !live.isEmpty()
                && uids.stream().noneMatch(uid -> live.stream().anyMatch(name -> name.contains(uid)));
    }

    /** Returns the names of the cgroups of pods and of their parents, with hyphens in UIDs; empty if none is visible. */
    private List<String> cgroupNames() {
        List<Path> level = new ArrayList<>();
        for (Path tree : withChildren(cgroups)) {
            names(tree).stream()
                    .filter(name -> name.startsWith(KUBEPODS))
                    .forEach(name -> level.add(tree.resolve(name)));
        }
        List<String> found = new ArrayList<>();
        for (Path pods : level) {
            for (Path quality : withChildren(pods)) {
                found.add(quality.getFileName().toString());
                names(quality).forEach(found::add);
            }
        }
        // systemd's names of cgroups have underscores in place of hyphens.
        return found.stream().map(name -> name.replace('_', '-')).toList();
    }

    /** A controller's tree of version 1 is one level below the tree of version 2. */
    private static List<Path> withChildren(Path folder) {
        List<Path> all = new ArrayList<>(List.of(folder));
        names(folder).forEach(name -> all.add(folder.resolve(name)));
        return all;
    }

    private static List<String> names(Path folder) {
        List<String> names = new ArrayList<>();
        if (!Files.isDirectory(folder)) {
            return names;
        }
        try (DirectoryStream<Path> entries = Files.newDirectoryStream(folder)) {
            for (Path entry : entries) {
                if (names.size() >= MOST_ENTRIES) {
                    return List.of();
                }
                names.add(entry.getFileName().toString());
            }
        } catch (IOException | DirectoryIteratorException e) {
            return List.of();
        }
        return names;
    }
}
