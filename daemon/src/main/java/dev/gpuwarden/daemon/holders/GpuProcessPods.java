package dev.gpuwarden.daemon.holders;

import dev.gpuwarden.core.holder.ProcessHolder;
import dev.gpuwarden.core.holder.ProcessSearch;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.process.ProcessFacts;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.daemon.process.OpenFiles;
import dev.gpuwarden.daemon.process.ProcessOwners;
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
import java.util.function.Supplier;

/**
 * The pods whose processes have a GPU open, by the files of the processes. The kubelet does not list a pod that got the GPU without a
 * request, and a reset fails for it. A process that is in no pod of a known name, and one that may have been missed, is in the reason why
 * the pods are not all. Processes that a reset makes let go are left out: this daemon's own, and nvidia-persistenced. Thread-safe.
 */
public final class GpuProcessPods implements Supplier<ProcessSearch> {

    private static final int MOST_NAMES = 3;

    private final Supplier<NodeSnapshot> node;
    private final ProcessOwners owners;
    private final Path devices;

    /**
     * @param node returns the GPUs; must not call the driver
     * @param owners used by this object alone
     * @param devices the node's /dev
     */
    public GpuProcessPods(Supplier<NodeSnapshot> node, ProcessOwners owners, Path devices) {
        this.node = node;
        this.owners = owners;
        this.devices = devices;
    }

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

    private ProcessSearch found(OpenFiles.Search search, Map<Path, String> gpus) {
        int own = (int) ProcessHandle.current().pid();
        Map<Integer, Long> asked = new HashMap<>();
        search.byPid().keySet().forEach(pid -> asked.put(pid, 0L));
        asked.put(own, 0L);
        Map<Integer, ProcessFacts> facts = owners.lookUp(asked);
        Optional<Owner> self = Optional.ofNullable(facts.get(own)).map(ProcessFacts::owner);
        Set<ProcessHolder> found = new LinkedHashSet<>();
        List<String> others = new ArrayList<>();
        search.byPid().forEach((pid, open) -> {
            ProcessFacts known = facts.get(pid);
            if (known == null
                    || ProcessNames.isProgram(pid, known, ProcessNames.PERSISTENCE_DAEMON)
                    || self.filter(me -> isSame(me, known.owner())).isPresent()) {
                return;
            }
            List<ProcessHolder> named = known.owner() instanceof Owner.Pod pod
                    ? open.stream()
                            .flatMap(file -> holder(pod, gpus.getOrDefault(file, "")).stream())
                            .toList()
                    : List.of();
            found.addAll(named);
            if (named.isEmpty()) {
                others.add(ProcessNames.text(pid, known));
            }
        });
        return new ProcessSearch(new ArrayList<>(found), missing(others, search.unread()));
    }

    /** Returns true for the pod of this daemon. Two processes outside pods are not compared: their owners may be one for all. */
    private static boolean isSame(Owner self, Owner other) {
        return self instanceof Owner.Pod mine
                && other instanceof Owner.Pod its
                && mine.uid().equals(its.uid());
    }

    private static Optional<String> missing(List<String> others, Optional<String> unread) {
        List<String> reasons = new ArrayList<>();
        if (!others.isEmpty()) {
            int more = others.size() - MOST_NAMES;
            reasons.add("no pod of a known name, and has a GPU open: "
                    + String.join(
                            ", ", others.stream().sorted().limit(MOST_NAMES).toList())
                    + (more > 0 ? " and " + more + " more" : ""));
        }
        unread.ifPresent(process -> reasons.add("the open files cannot be listed of " + process));
        return reasons.isEmpty() ? Optional.empty() : Optional.of(String.join("; ", reasons));
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
