package dev.gpuwarden.watchdog.lint;

import dev.gpuwarden.watchdog.budget.PodBudget;
import java.util.List;
import java.util.Optional;

/**
 * An object with pods, as its manifest has it.
 *
 * @param origin file and line
 * @param kind for example {@code Deployment}
 * @param namespace empty where the manifest leaves it to the command that applies it
 * @param replicas pods that run together; 1 where the manifest has none
 * @param surge pods that an update starts before it ends the old ones, as in the manifest: a number or a percentage; empty where an
 *     update of this kind starts none
 */
public record Workload(
        String origin,
        String kind,
        Optional<String> namespace,
        String name,
        long replicas,
        Optional<String> surge,
        Pod pod) {

    /**
     * The pod that it makes.
     *
     * @param overhead quantity of the resource in {@code spec.overhead}
     * @param ofPod quantity of the resource in {@code spec.resources}
     * @param usesGpus whether it may use GPUs without a request for one: by a resource claim, a runtime class of NVIDIA, or the
     *     privileges of a container
     */
    public record Pod(List<Container> containers, Optional<String> overhead, Optional<String> ofPod, boolean usesGpus) {

        public Pod {
            containers = List.copyOf(containers);
        }

        /** Returns the GPUs that the pod needs: those of its containers together, or of an init container that needs more. */
        public long gpus() {
            long together = 0;
            long starting = 0;
            for (Container container : containers) {
                if (container.kind() == PodBudget.Kind.INIT) {
                    starting = Math.max(starting, container.gpus());
                } else {
                    together += container.gpus();
                }
            }
            return Math.max(together, starting);
        }

        /**
         * Returns what the scheduler charges for one pod.
         *
         * @param name of the pod, for messages
         */
        public PodBudget budget(String name) {
            List<PodBudget.Container> budgets = containers.stream()
                    .map(container -> new PodBudget.Container(
                            container.name(),
                            container.kind(),
                            container.limit().or(container::request)))
                    .toList();
            return new PodBudget(name, budgets, overhead);
        }
    }

    /**
     * A container.
     *
     * @param request quantity of the resource in {@code requests}
     * @param limit quantity of the resource in {@code limits}
     * @param gpus GPUs, shares of GPUs and partitions that it requests
     */
    public record Container(
            String name, PodBudget.Kind kind, Optional<String> request, Optional<String> limit, long gpus) {}

    /** Returns namespace, where it is known, and name. */
    public String fullName() {
        return namespace.map(in -> in + "/").orElse("") + name;
    }

    /** Returns kind, namespace and name. */
    public String label() {
        return kind + " " + fullName();
    }
}
