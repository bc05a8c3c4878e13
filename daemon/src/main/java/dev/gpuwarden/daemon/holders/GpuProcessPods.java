package dev.gpuwarden.daemon.holders;

import dev.gpuwarden.checks.process.OpenFiles;
import dev.gpuwarden.checks.process.ProcessOwners;
import dev.gpuwarden.core.holder.ProcessHolder;
import dev.gpuwarden.core.holder.ProcessSearch;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.process.ProcessFacts;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.daemon.view.ProcessNames;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/**
 * The pods whose processes have a GPU open, by the files of the processes. The kubelet does not list a pod that got the GPU without a
 * request, and a reset fails for it. The reason why the pods are not all has each process that is in no pod of a known name, that has a
 * GPU open which the driver does not list, or that may have been missed. Processes that a reset makes let go are left out: this daemon's own, and nvidia-persistenced. Thread-safe.
 *
 * @param node returns the GPUs; must not call the driver
 * @param owners used by this object alone
 * @param devices the node's /dev
 */
public record GpuProcessPods(Supplier<NodeSnapshot> node, ProcessOwners owners, Path devices)
        implements Supplier<ProcessSearch> {

    private static final int MOST_NAMES = 3;

    /** Reads /proc of each process of the node. */
    @Override
    public ProcessSearch get() {
        Map<Path, String> gpus = new HashMap<>();
        for (GpuSnapshot gpu : node.get().gpus()) {
            gpu.identity()
                    .minor()
                    .asOptional()
                    .map(minor -> devices.resolve("nvidia" + minor))
                    .filter(Files::exists)
                    .ifPresent(file -> gpu.identity().uuid().asOptional().ifPresent(uuid -> gpus.put(file, uuid)));
        }
        if (owners.hiddenBecause().isPresent()) {
            return new ProcessSearch(List.of(), owners.hiddenBecause());
        }
        Reading<OpenFiles.Search> search = OpenFiles.search(gpus.keySet());
        return search instanceof Reading.Present<OpenFiles.Search> present
                ? found(present.value(), gpus)
                : new ProcessSearch(List.of(), Optional.of(((Reading.Absent<OpenFiles.Search>) search).text()));
    }

    ProcessSearch found(OpenFiles.Search search, Map<Path, String> gpus) {
        int own = (int) ProcessHandle.current().pid();
        Map<Integer, Long> asked = new HashMap<>();
        Set<Integer> pids = new TreeSet<>(search.byPid().keySet());
        pids.addAll(search.gpus());
        pids.forEach(pid -> asked.put(pid, 0L));
        asked.put(own, 0L);
        Map<Integer, ProcessFacts> facts = owners.lookUp(asked);
        Optional<Owner> self = Optional.ofNullable(facts.get(own)).map(ProcessFacts::owner);
        Set<ProcessHolder> found = new LinkedHashSet<>();
        List<String> others = new ArrayList<>();
        List<String> unlisted = new ArrayList<>();
        pids.forEach(pid -> {
            ProcessFacts known = facts.get(pid);
            if (known == null
                    || ProcessNames.isProgram(pid, known, ProcessNames.PERSISTENCE_DAEMON)
                    || self.filter(me -> isSame(me, known.owner())).isPresent()) {
                return;
            }
            Set<Path> open = search.byPid().getOrDefault(pid, Set.of());
            List<ProcessHolder> named = known.owner() instanceof Owner.Pod pod
                    ? open.stream()
                            .flatMap(file -> holder(pod, gpus.getOrDefault(file, "")).stream())
                            .toList()
                    : List.of();
            found.addAll(named);
            if (named.isEmpty() && !open.isEmpty()) {
                others.add(ProcessNames.text(pid, known));
            }
            if (search.gpus().contains(pid)) {
                unlisted.add(ProcessNames.text(pid, known));
            }
        });
        return new ProcessSearch(new ArrayList<>(found), missing(others, unlisted, search.unread()));
    }

    /** Returns true for the pod of this daemon. Two processes outside pods are not compared: their owners may be one for all. */
    private static boolean isSame(Owner self, Owner other) {
        return self instanceof Owner.Pod mine
                && other instanceof Owner.Pod its
                && mine.uid().equals(its.uid());
    }

    private static Optional<String> missing(List<String> others, List<String> unlisted, Optional<String> unread) {
        List<String> reasons = new ArrayList<>();
        if (!others.isEmpty()) {
            reasons.add("no pod of a known name, and has a GPU open: " + names(others));
        }
        if (!unlisted.isEmpty()) {
            reasons.add("has a GPU open that the driver does not list: " + names(unlisted));
        }
        unread.ifPresent(process -> reasons.add("the open files cannot be listed of " + process));
        return reasons.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", reasons));
    }

    private static String names(List<String> processes) {
        int more = processes.size() - MOST_NAMES;
        return String.join(", ", processes.stream().sorted().limit(MOST_NAMES).toList())
                + (more > 0 ? " and " + more + " more" : "");
    }

    private static Optional<ProcessHolder> holder(Owner.Pod pod, String gpu) {
        return pod.namespace()
                .asOptional()
                .flatMap(namespace -> pod.name()
                        .asOptional()
                        .map(name -> new ProcessHolder(
                                namespace, name, pod.container().asOptional().orElse(""), gpu)));
    }
}
