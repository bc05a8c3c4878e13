package dev.gpuwarden.aggregator.nodehealth;

import dev.gpuwarden.core.holder.GpuHolders;
import java.time.Instant;

/** What has become of the question who holds a node's GPUs. */
public sealed interface LookupAnswer {

    /**
     * The kubelet was asked after the question, and told this. {@link GpuHolders#complete} says whether a GPU of nobody is surely
     * nobody's. Pods are by name: those of kubelets before Kubernetes 1.34 may have ended.
     */
    record Answered(GpuHolders holders) implements LookupAnswer {}

    /** Nobody has answered yet. */
    record Pending(Instant since) implements LookupAnswer {}

    /** It will not be known by this question. */
    record Failed(String why) implements LookupAnswer {}
}
