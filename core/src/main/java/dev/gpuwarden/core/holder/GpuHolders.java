package dev.gpuwarden.core.holder;

import dev.gpuwarden.core.model.Identifiers;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The pods to which the GPUs of a node are allocated.
 *
 * @param asOf time of the kubelet's answer; later pods are missing
 * @param unlisted number of holders and unresolved devices that found no room in the lists
 * @param processes pods whose processes hold a GPU open
 * @param unlistedProcesses number of further such containers that found no room; empty if an older version filled the list and
 *     did not count
 * @param unsearched reason why the search of processes may have missed some; empty if it was complete, and from older versions,
 *     which do not report it
 */
public record GpuHolders(
        Instant asOf,
        List<GpuHolder> holders,
        List<UnresolvedDevice> unresolved,
        long unlisted,
        List<ProcessHolder> processes,
        OptionalLong unlistedProcesses,
        Optional<String> unsearched) {

    private static final Comparator<GpuHolder> BY_GPU = Comparator.comparing(GpuHolder::gpuUuid)
            .thenComparing(GpuHolder::namespace)
            .thenComparing(GpuHolder::pod)
            .thenComparing(GpuHolder::container)
            .thenComparing(GpuHolder::deviceId);

    /** A pod by its name. Only the API server can confirm that it is still the same pod. */
    public record Pod(String namespace, String name) implements Comparable<Pod> {
        private static final Comparator<Pod> ORDER =
                Comparator.comparing(Pod::namespace).thenComparing(Pod::name);

        @Override
        public int compareTo(Pod other) {
            return ORDER.compare(this, other);
        }

        @Override
        public String toString() {
            return namespace + "/" + name;
        }
    }

    public GpuHolders {
        holders = holders.stream().sorted(BY_GPU).toList();
        unresolved = List.copyOf(unresolved);
        processes = List.copyOf(processes);
    }

    /** Creates the kubelet's answer alone. */
    public GpuHolders(Instant asOf, List<GpuHolder> holders, List<UnresolvedDevice> unresolved, long unlisted) {
        this(asOf, holders, unresolved, unlisted, List.of(), OptionalLong.of(0), Optional.empty());
    }

    public GpuHolders with(List<ProcessHolder> found) {
        return with(found, OptionalLong.of(0));
    }

    public GpuHolders with(List<ProcessHolder> found, OptionalLong more) {
        return new GpuHolders(asOf, holders, unresolved, unlisted, found, more, unsearched);
    }

    public GpuHolders with(ProcessSearch search) {
        return with(search.found()).missing(search.missing());
    }

    /** @param why the reason why processes may be missing */
    public GpuHolders missing(Optional<String> why) {
        return new GpuHolders(asOf, holders, unresolved, unlisted, processes, unlistedProcesses, why);
    }

    /** Returns whether a GPU without a listed holder certainly has none. */
    public boolean complete() {
        return unresolved.isEmpty() && unlisted == 0;
    }

    /** Returns false if {@code processes} was cut, so that a GPU without one in it may still be open. */
    public boolean listsAllProcesses() {
        return unlistedProcesses.isPresent() && unlistedProcesses.getAsLong() == 0;
    }

    /** Returns whether a pod holds any GPU. */
    public boolean isHolder(String namespace, String pod) {
        return holders.stream()
                .anyMatch(
                        holder -> holder.pod().equals(pod) && holder.namespace().equals(namespace));
    }

    /** Returns the pods by the GPU of which they hold any part. */
    public Map<String, TreeSet<Pod>> podsByGpu() {
        return holders.stream()
                .collect(Collectors.groupingBy(
                        GpuHolder::gpuUuid,
                        TreeMap::new,
                        Collectors.mapping(
                                holder -> new Pod(holder.namespace(), holder.pod()),
                                Collectors.toCollection(TreeSet::new))));
    }

    /** Returns the pods that hold any part of a GPU. */
    public TreeSet<Pod> podsOf(String gpuUuid) {
        return podsByGpu().getOrDefault(Identifiers.gpu(gpuUuid), new TreeSet<>());
    }

    /** Returns the pods whose processes hold a GPU open. */
    public TreeSet<Pod> podsWithProcesses(String gpuUuid) {
        return processes.stream()
                .filter(process -> process.gpuUuid().equals(Identifiers.gpu(gpuUuid)))
                .map(process -> new Pod(process.namespace(), process.pod()))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
