package dev.gpuwarden.daemon.checkpoint;

import dev.gpuwarden.daemon.process.PodProcess;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Which processes are those that their containers were started for. Pure. */
final class MainProcesses {

    /** What container engines call the one that only holds a pod's namespaces. A signal means nothing to it. */
    private static final String SANDBOX = "pause";

    private MainProcesses() {}

    /**
     * For each container the first process whose parent is not in it. What somebody runs in it later (`kubectl exec`) has such a
     * parent too, and began later.
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
