package dev.gpuwarden.aggregator.drain;

import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan;
import dev.gpuwarden.aggregator.drain.DrainPlan.PodPlan.Step;
import dev.gpuwarden.aggregator.pods.PodView;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The pods whose processes have GPUs of a drain open, and to which the kubelet gave none of these. Pure.
 *
 * @param byPod UUIDs of the GPUs that each pod has open, by `NAMESPACE/NAME` of the pod
 * @param unknown the reason why such pods may be missing; empty if the node's daemon has named them
 * @param cut true if the daemon had no room for all, so that no drain may end with this list
 */
public record GpuProcesses(Map<String, Set<String>> byPod, Optional<String> unknown, boolean cut) {

    public GpuProcesses {
        byPod = Map.copyOf(byPod);
    }

    /** Returns the state of a daemon that is not asked, or does not answer: the reset finds such pods. */
    static GpuProcesses unknown(String why) {
        return new GpuProcesses(Map.of(), Optional.of(why), false);
    }

    static GpuProcesses cut(Map<String, Set<String>> byPod, String why) {
        return new GpuProcesses(byPod, Optional.of(why), true);
    }

    /** Returns the reason why further pods must be expected to have the GPUs open; empty if none are. */
    public Optional<String> missing() {
        return unknown.filter(why -> cut);
    }

    /**
     * Returns the holders together with the pods that are here. One that cannot leave is a holder too, since a reset would be refused
     * for it.
     */
    public Map<String, Set<String>> and(Map<String, Set<String>> holders, Collection<PodView> pods) {
        Map<String, Set<String>> all = new TreeMap<>(holders);
        for (PodView pod : pods) {
            if (byPod.containsKey(pod.path())) {
                Set<String> gpus = new TreeSet<>(holders.getOrDefault(pod.path(), Set.of()));
                gpus.addAll(of(pod));
                all.put(pod.path(), gpus);
            }
        }
        return all;
    }

    /**
     * Returns the plan with the pods that are here and would not leave: an operator must end each of them.
     *
     * @param permits the option that evicts them, for operators
     */
    List<PodPlan> named(List<PodPlan> plan, String permits) {
        return plan.stream()
                .map(one -> one.step() == Step.LEFT
                                && !one.pod().ended()
                                && byPod.containsKey(one.pod().path())
                        ? named(one, permits)
                        : one)
                .toList();
    }

    private PodPlan named(PodPlan plan, String permits) {
        PodView pod = plan.pod();
        String holds = of(pod).stream().sorted().collect(Collectors.joining(", ", "a process of it has ", " open"));
        if (!pod.services().isEmpty()) {
            return plan;
        }
        if (pod.deleted().isPresent()) {
            return new PodPlan(pod, Step.GOING, "", pod.deleted(), plan.began());
        }
        boolean permitted = plan.reason().equals(DrainPlan.OTHER_GPUS);
        String why = holds + (permitted ? " without a request (" + permits + ")" : ", and " + plan.reason());
        return new PodPlan(pod, Step.STAYS, why, Optional.empty(), plan.began(), true);
    }

    private Set<String> of(PodView pod) {
        return byPod.getOrDefault(pod.path(), Set.of());
    }
}
