package dev.gpuwarden.daemon.checkpoint;

import dev.gpuwarden.checks.process.PodProcess;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Selects the main process of each container. Pure. */
final class MainProcesses {

    /** The name of the process that only holds a pod's namespaces and ignores signals. */
    private static final String SANDBOX = "pause";

    private MainProcesses() {}

    /**
     * Returns for each container the first process whose parent is not in it. A process that was started in it later
     * (`kubectl exec`) has such a parent too, but a later start.
     *
     * @param processes all of one pod
     */
    static List<PodProcess> of(Collection<PodProcess> processes) {
        Map<Integer, PodProcess> byPid =
                processes.stream().collect(Collectors.toMap(PodProcess::pid, one -> one, (a, b) -> a));
        Map<String, PodProcess> mains = new HashMap<>();
        for (PodProcess one : processes) {
            PodProcess parent = byPid.get(one.parent());
            boolean entered = parent == null || !parent.containerId().equals(one.containerId());
            if (entered && !one.command().equals(SANDBOX)) {
                mains.merge(one.containerId(), one, (a, b) -> a.startTicks() <= b.startTicks() ? a : b);
            }
        }
        return mains.values().stream()
                .sorted(Comparator.comparing(PodProcess::startTicks).thenComparing(PodProcess::pid))
                .toList();
    }
}
