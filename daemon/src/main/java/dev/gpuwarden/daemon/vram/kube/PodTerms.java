package dev.gpuwarden.daemon.vram.kube;

import dev.gpuwarden.api.VramCodec;
import dev.gpuwarden.api.v1.BudgetedPod;
import dev.gpuwarden.api.v1.ContainerBudget;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.watchdog.budget.PodBudget;
import dev.gpuwarden.watchdog.budget.Tenancy;
import dev.gpuwarden.watchdog.budget.Terms;
import dev.gpuwarden.watchdog.budget.TermsSource;
import java.time.Instant;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.IntSupplier;
import java.util.function.Supplier;

/**
 * The terms of pods, from the list of budgets and the kubelet's allocation of GPUs.
 *
 * @param pods the last list; does not block
 * @param allocation the last known allocation of GPUs to containers; does not block
 * @param gpus number of GPUs of the node; with one, each pod has that one
 */
public record PodTerms(Supplier<Reading<Pods>> pods, Supplier<Reading<GpuHolders>> allocation, IntSupplier gpus)
        implements TermsSource {

    @Override
    public Optional<Terms> of(GpuIdentity gpu, MemoryUse process) {
        if (!(process.owner() instanceof Owner.Pod owner)) {
            return Optional.empty();
        }
        Reading<Pods> list = pods.get();
        if (list instanceof Reading.Present<Pods> present) {
            return Optional.ofNullable(present.value().byUid().get(owner.uid())).map(pod -> terms(gpu, pod));
        }
        String id = Tenancy.id(owner);
        String name = owner.namespace().asOptional().orElse("?") + "/"
                + owner.name().asOptional().orElse(owner.uid());
        Reading<Long> unknown = list.map(any -> 0L);
        return Optional.of(new Terms(id, name, id, unknown, 0, Instant.EPOCH, Optional.empty(), false));
    }

    @Override
    public List<Terms> expected(GpuIdentity gpu) {
        return pods.get()
                .map(list -> list.byUid().values().stream()
                        // A pod that the kubelet has not accepted yet holds no GPU; one that ends allocates no more.
                        .filter(pod -> pod.hasStarted() && !pod.getLeaving())
                        .map(pod -> terms(gpu, pod))
                        .filter(terms -> terms.budgetBytes() instanceof Reading.Present<Long>)
                        .toList())
                .asOptional()
                .orElse(List.of());
    }

    /** Returns the pod of a tenant, by the last list; empty if it has no budget. */
    public Optional<BudgetedPod> pod(String tenantId) {
        return pods.get()
                .asOptional()
                .flatMap(list -> list.byUid().values().stream()
                        .filter(pod -> tenantId.equals("pod:" + pod.getUid()))
                        .findFirst());
    }

    private Terms terms(GpuIdentity gpu, BudgetedPod pod) {
        String name = pod.getNamespace() + "/" + pod.getName();
        String id = "pod:" + pod.getUid();
        PodBudget.Amount amount = amount(gpu, pod);
        Optional<String> split =
                amount.state() == PodBudget.State.UNKNOWN_SPLIT && amount.bytes() instanceof Reading.Absent<Long> why
                        ? Optional.of(why.text())
                        : Optional.empty();
        return new Terms(
                id,
                name,
                pod.getController().isEmpty() ? id : pod.getNamespace() + "/" + pod.getController(),
                amount.state() == PodBudget.State.NONE
                        ? Reading.absent(Absence.NO_DATA, 0, "its budget is for another GPU")
                        : amount.bytes(),
                pod.getPriority(),
                VramCodec.started(pod),
                mark(pod).or(() -> split),
                pod.getLeaving());
    }

    private static Optional<String> mark(BudgetedPod pod) {
        if (pod.getMirror()) {
            return Optional.of("it belongs to a file of this node: a deletion would not end it");
        }
        if (pod.getDaemonSet()) {
            return Optional.of("it belongs to a DaemonSet, which would start it on this node again");
        }
        if (pod.getPriority() >= VramCodec.CRITICAL_PRIORITY) {
            return Optional.of("it has the priority of a system pod");
        }
        return pod.getOptedOut() ? Optional.of("its label " + VramCodec.OPT_OUT_LABEL + " is off") : Optional.empty();
    }

    private PodBudget.Amount amount(GpuIdentity gpu, BudgetedPod pod) {
        String here = gpu.uuid().asOptional().orElse(gpu.label());
        if (pod.getIncomplete()) {
            return unknown("it has more containers with a budget than a list of pods has");
        }
        PodBudget budget = new PodBudget(
                pod.getNamespace() + "/" + pod.getName(),
                pod.getContainersList().stream().map(PodTerms::container).toList(),
                Optional.of(pod.getOverhead()).filter(text -> !text.isEmpty()));
        if (gpus.getAsInt() == 1) {
            return budget.total();
        }
        Reading<GpuHolders> holders = allocation.get();
        if (holders instanceof Reading.Absent<GpuHolders> absent) {
            return unknown("its GPUs are unknown: " + absent.text());
        }
        return budget.on(here, byContainer(holders.asOptional().orElseThrow(), pod));
    }

    private static PodBudget.Amount unknown(String why) {
        return new PodBudget.Amount(PodBudget.State.UNKNOWN_SPLIT, Reading.absent(Absence.NO_DATA, 0, why));
    }

    private static PodBudget.Container container(ContainerBudget container) {
        PodBudget.Kind kind = switch (container.getRole()) {
            case CONTAINER_ROLE_INIT -> PodBudget.Kind.INIT;
            case CONTAINER_ROLE_SIDECAR -> PodBudget.Kind.SIDECAR;
            default -> PodBudget.Kind.MAIN;
        };
        return new PodBudget.Container(container.getName(), kind, Optional.of(container.getQuantity()));
    }

    private static Map<String, Set<String>> byContainer(GpuHolders holders, BudgetedPod pod) {
        Map<String, Set<String>> gpus = new HashMap<>();
        for (GpuHolder holder : holders.holders()) {
            if (holder.namespace().equals(pod.getNamespace()) && holder.pod().equals(pod.getName())) {
                gpus.computeIfAbsent(holder.container(), any -> new HashSet<>()).add(holder.gpuUuid());
            }
        }
        return gpus;
    }
}
