package dev.gpuwarden.core.holder;

import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Who was given the GPUs of a node.
 *
 * @param asOf when the kubelet was asked: who came later is not in it
 * @param unlisted how many holders and unresolved devices found no room in the lists
 */
public record GpuHolders(Instant asOf, List<GpuHolder> holders, List<UnresolvedDevice> unresolved, long unlisted) {

    private static final Comparator<GpuHolder> BY_GPU = Comparator.comparing(GpuHolder::gpuUuid)
            .thenComparing(GpuHolder::namespace)
            .thenComparing(GpuHolder::pod)
            .thenComparing(GpuHolder::container)
            .thenComparing(GpuHolder::deviceId);

    /** A pod by its name; whether it is still the same one only the API server knows. */
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
    }

    /** Whether a GPU that nobody is listed for is surely nobody's. */
    public boolean complete() {
        return unresolved.isEmpty() && unlisted == 0;
    }

    /** Whether a pod is listed, for any GPU. */
    public boolean isHolder(String namespace, String pod) {
        return holders.stream()
                .anyMatch(
                        holder -> holder.pod().equals(pod) && holder.namespace().equals(namespace));
    }

    /** Pods by the GPU that they have any part of. */
    public Map<String, TreeSet<Pod>> podsByGpu() {
        return holders.stream()
                .collect(Collectors.groupingBy(
                        holder -> canonical(holder.gpuUuid()),
                        TreeMap::new,
                        Collectors.mapping(
                                holder -> new Pod(holder.namespace(), holder.pod()),
                                Collectors.toCollection(TreeSet::new))));
    }

    /** Pods that have any part of a GPU. */
    public TreeSet<Pod> podsOf(String gpuUuid) {
        return podsByGpu().getOrDefault(canonical(gpuUuid), new TreeSet<>());
    }

    /** Programs differ in the case of the digits. */
    private static String canonical(String uuid) {
        return "GPU-" + uuid.replaceFirst("^(?i)GPU-", "").toLowerCase(Locale.ROOT);
    }
}
