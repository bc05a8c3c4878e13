package dev.gpuwarden.daemon.vram.reserve;

import dev.gpuwarden.checks.node.NodePaths;
import dev.gpuwarden.checks.process.CallingProcess;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.process.ProcessFacts;
import dev.gpuwarden.watchdog.budget.Tenancy;
import dev.gpuwarden.watchdog.budget.Terms;
import dev.gpuwarden.watchdog.budget.TermsSource;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.List;
import java.util.Optional;

/** The tenants of processes that call the daemon, found as the owners of allocated memory are. Thread-safe. */
public final class Applicants {

    private final NodePaths paths;
    private final List<TermsSource> sources;

    /** @param sources of budgets: the first that is responsible for a process names its tenant */
    public Applicants(NodePaths paths, List<TermsSource> sources) {
        this.paths = paths;
        this.sources = List.copyOf(sources);
    }

    /** A tenant on one GPU. */
    public record Named(String id, String name) {}

    /** Returns the process of a caller. Reads /proc. */
    public MemoryUse process(Request.Caller caller) {
        ProcessFacts facts = CallingProcess.facts(paths, caller.pid(), caller.connectedAtNanos());
        Reading<Long> holdsNone = Reading.absent(Absence.NO_DATA, 0, "it has allocated nothing yet");
        Reading<Integer> unpartitioned = Reading.absent(Absence.NOT_SUPPORTED);
        GpuProcess process =
                new GpuProcess(caller.pid(), GpuProcess.Type.COMPUTE, holdsNone, unpartitioned, unpartitioned);
        return new MemoryUse(process, facts.startTicks(), facts.command(), facts.owner());
    }

    /** Returns the tenant of a process on this GPU, and lets its budget count from now on; empty where it has no owner. */
    public Optional<Named> own(GpuIdentity gpu, MemoryUse process) {
        return Tenancy.terms(gpu, process, sources).map(Applicants::named);
    }

    private static Named named(Terms terms) {
        return new Named(terms.id(), terms.name());
    }

    /** Returns the tenant with this identity, or the only one with this name or workload. */
    static Optional<Named> among(List<Tenant> tenants, String name) {
        Optional<Tenant> exact =
                tenants.stream().filter(tenant -> tenant.id().equals(name)).findFirst();
        List<Tenant> alike = tenants.stream()
                .filter(tenant ->
                        tenant.name().equals(name) || tenant.workload().equals(name))
                .toList();
        return exact.or(() -> alike.size() == 1 ? Optional.of(alike.get(0)) : Optional.empty())
                .map(tenant -> new Named(tenant.id(), tenant.name()));
    }

    /** @throws Refusal if the caller may not name another tenant */
    static void permit(Request.Caller caller, Owner owner) {
        boolean contained = !(owner instanceof Owner.Unit || owner instanceof Owner.Unknown);
        if (!caller.administers() || contained) {
            throw new Refusal(
                    Refusal.Cause.FORBIDDEN,
                    "only root, the daemon's user and those of --grpc.admin-uids may name another tenant, outside"
                            + " containers and jobs; this is uid " + caller.uid() + " in " + Tenancy.id(owner));
        }
    }
}
