package dev.gpuwarden.checks.process;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.CgroupPath;
import dev.gpuwarden.core.process.Owner;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * A search for the processes of a pod's containers, whether or not they use a GPU. Reads every process of the node, so
 * it is for rare queries.
 */
public final class PodProcesses {

    private final Procfs procfs;
    private final boolean privateNamespace;
    private final CgroupPath.NodeRoot nodeRoot;

    /** @param proc the /proc whose PIDs the caller can use */
    public PodProcesses(Path proc) {
        this.procfs = new Procfs(proc);
        this.privateNamespace = procfs.inPrivatePidNamespace();
        this.nodeRoot = procfs.nodeRoot();
    }

    /** Returns the pod's processes; absent if processes of pods are invisible from here. */
    public Reading<List<PodProcess>> of(String podUid) {
        if (procfs.hidesProcesses()) {
            return Reading.absent(Absence.NO_PERMISSION, 0, ProcessOwners.HIDDEN);
        }
        Reading<List<PodProcess>> seen = procfs.pids().map(pids -> {
            List<PodProcess> found = new ArrayList<>();
            pids.forEach(pid -> find(pid, podUid).ifPresent(found::add));
            return found;
        });
        // A node that is a container itself also has a namespace of its own, and all of its pods are in it.
        boolean nothing = seen.asOptional().filter(List::isEmpty).isPresent();
        return nothing && privateNamespace
                ? Reading.absent(Absence.NO_PERMISSION, 0, ProcessOwners.OWN_NAMESPACE)
                : seen;
    }

    /** Returns the process with this PID now, if it is in a container of the pod. */
    public Optional<PodProcess> find(int pid, String podUid) {
        Optional<String> container = procfs.cgroup(pid).asOptional().flatMap(text -> container(text, podUid));
        Optional<Long> start = procfs.startTicks(pid).asOptional();
        if (container.isEmpty() || start.isEmpty()) {
            return Optional.empty();
        }
        return procfs.parent(pid)
                .asOptional()
                .map(parent -> new PodProcess(
                        pid,
                        parent,
                        start.get(),
                        container.get(),
                        procfs.command(pid).asOptional().orElse("?")));
    }

    private Optional<String> container(String cgroup, String podUid) {
        return CgroupPath.parse(cgroup, nodeRoot).owner() instanceof Owner.Pod pod
                        && pod.uid().equals(podUid)
                ? pod.containerId().asOptional()
                : Optional.empty();
    }
}
