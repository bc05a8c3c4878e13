package dev.gpuwarden.daemon.vram.budgets;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.process.Owner;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * One entry of the file of budgets.
 *
 * @param pattern name of the tenant; {@code *} stands for any text
 * @param names matches such names
 * @param gpu index or UUID; empty for every GPU
 * @param exempt whether it must never be recycled
 * @param signal its notice that it is over its budget while memory is short; empty for none
 */
record BudgetEntry(
        Kind kind,
        String pattern,
        Pattern names,
        long budgetBytes,
        Optional<String> gpu,
        int priority,
        boolean exempt,
        Optional<NotifySignal> signal) {

    BudgetEntry(
            Kind kind,
            String pattern,
            long budgetBytes,
            Optional<String> gpu,
            int priority,
            boolean exempt,
            Optional<NotifySignal> signal) {
        this(kind, pattern, regex(pattern), budgetBytes, gpu, priority, exempt, signal);
    }

    /** The kind of tenant, as the key of its name in the file. */
    enum Kind {
        unit,
        container,
        slurm,
        process
    }

    /**
     * Returns the name by which the process matches this entry; empty where it does not.
     *
     * @param containers names by container ID
     */
    Optional<String> match(GpuIdentity on, MemoryUse use, ContainerNames containers) {
        return isOn(on)
                ? namesOf(use, containers)
                        .filter(name -> names.matcher(name).matches())
                        .findFirst()
                : Optional.empty();
    }

    boolean isOn(GpuIdentity on) {
        return gpu.isEmpty() || gpu.get().equals(on.selector()) || gpu.get().equals(Integer.toString(on.index()));
    }

    /** Returns whether it names one tenant rather than a pattern of several. */
    boolean isExact() {
        return pattern.indexOf('*') < 0;
    }

    private Stream<String> namesOf(MemoryUse use, ContainerNames containers) {
        return switch (kind) {
            case unit -> use.owner() instanceof Owner.Unit unit ? Stream.of(unit.name()) : Stream.empty();
            case slurm -> use.owner() instanceof Owner.SlurmJob job ? Stream.of(job.jobId()) : Stream.empty();
            case container ->
                use.owner() instanceof Owner.Container container && !container.ofUser()
                        ? Stream.concat(
                                Stream.of(container.containerId()), containers.name(container).asOptional().stream())
                        : Stream.empty();
            // Strangers name the processes of a pod and of a guest. A pod's budget comes with the pod; a guest has
            // none.
            case process ->
                use.owner() instanceof Owner.Pod || use.owner() instanceof Owner.Guest
                        ? Stream.empty()
                        : use.command().asOptional().stream();
        };
    }

    private static Pattern regex(String pattern) {
        return Pattern.compile(
                Stream.of(pattern.split("\\*", -1)).map(Pattern::quote).collect(Collectors.joining(".*")),
                Pattern.DOTALL);
    }
}
