package dev.gpuwarden.watchdog.budget;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.watchdog.observation.Bytes;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Instant;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The tenants of a GPU, from its processes and the terms of their owners. Processes without a known owner and without
 * terms belong to no tenant, so that their memory counts as unattributed.
 */
public final class Tenancy {

    private final GpuIdentity gpu;
    private final Map<String, Group> groups = new LinkedHashMap<>();

    private static final class Group {
        private final Terms terms;
        /** A process that is listed twice holds its memory once. */
        private final Map<Integer, Reading<Long>> usedByPid = new LinkedHashMap<>();

        private final Set<ProcessKey> processes = new HashSet<>();

        Group(Terms terms) {
            this.terms = terms;
        }

        /** Returns the sum; absent where one is. A value that no driver can mean is more than one that it does not have. */
        Reading<Long> used() {
            long sum = 0;
            Optional<Reading<Long>> unknown = Optional.empty();
            for (Reading<Long> one : usedByPid.values()) {
                if (one instanceof Reading.Absent<Long> none) {
                    unknown = unknown.filter(first -> none.cause() != Absence.IMPLAUSIBLE)
                            .or(() -> Optional.of(one));
                }
                sum = Bytes.plus(sum, one.asOptional().orElse(0L));
            }
            return unknown.orElse(Reading.of(sum));
        }
    }

    private Tenancy(GpuIdentity gpu) {
        this.gpu = gpu;
    }

    /**
     * Returns the tenants; absent where the processes are unknown.
     *
     * @param sources the first that is responsible for a process decides
     */
    public static Reading<List<Tenant>> tenants(GpuMemoryUse memory, List<TermsSource> sources) {
        return memory.uses().map(uses -> {
            Tenancy tenancy = new Tenancy(memory.gpu());
            uses.forEach(process -> tenancy.add(process, sources));
            sources.forEach(source -> source.expected(memory.gpu()).forEach(tenancy::group));
            return tenancy.list();
        });
    }

    /**
     * Returns the terms of the tenant that a process belongs to on this GPU; empty where it belongs to none.
     *
     * @param sources the first that is responsible for the process decides
     */
    public static Optional<Terms> terms(GpuIdentity gpu, MemoryUse process, List<TermsSource> sources) {
        return sources.stream()
                .flatMap(source -> source.of(gpu, process).stream())
                .findFirst()
                .or(() -> process.owner() instanceof Owner.Unknown
                        ? Optional.empty()
                        : Optional.of(withoutBudget(process.owner())));
    }

    private void add(MemoryUse process, List<TermsSource> sources) {
        Optional<Terms> terms = terms(gpu, process, sources);
        if (terms.isEmpty()) {
            return;
        }
        Group group = group(terms.get());
        group.usedByPid.merge(process.process().pid(), process.usedBytes(), Tenancy::larger);
        process.startTicks()
                .asOptional()
                .ifPresent(ticks ->
                        group.processes.add(new ProcessKey(process.process().pid(), ticks)));
    }

    /** Returns the larger of two readings of one process; that of a GPU without partitions has its memory in each of them. */
    private static Reading<Long> larger(Reading<Long> one, Reading<Long> other) {
        if (one instanceof Reading.Present<Long> a && other instanceof Reading.Present<Long> b) {
            return a.value() >= b.value() ? one : other;
        }
        return one instanceof Reading.Absent<Long> ? one : other;
    }

    private Group group(Terms terms) {
        return groups.computeIfAbsent(terms.id(), id -> new Group(terms));
    }

    private List<Tenant> list() {
        return groups.values().stream()
                .map(group -> new Tenant(
                        group.terms.id(),
                        group.terms.name(),
                        group.terms.workload(),
                        group.terms.budgetBytes(),
                        group.used(),
                        group.processes,
                        group.terms.priority(),
                        group.terms.started(),
                        group.terms.exempt(),
                        group.terms.leaving()))
                .toList();
    }

    private static Terms withoutBudget(Owner owner) {
        String id = id(owner);
        Reading<Long> none = Reading.absent(Absence.NO_DATA, 0, "none is configured");
        return new Terms(id, id, id, none, 0, Instant.EPOCH, Optional.empty(), false);
    }

    /** Returns the identity of an owner as a tenant: its kind, of a container its runtime, and its name in that kind. */
    public static String id(Owner owner) {
        if (owner instanceof Owner.Pod pod) {
            return "pod:" + pod.uid();
        } else if (owner instanceof Owner.Container container) {
            return container.runtime() + ":" + container.containerId();
        } else if (owner instanceof Owner.Unit unit) {
            return "unit:" + unit.name();
        } else if (owner instanceof Owner.SlurmJob job) {
            return "slurm:" + job.jobId();
        } else if (owner instanceof Owner.BatchJob job) {
            return job.system() + ":" + job.jobId();
        } else if (owner instanceof Owner.Guest guest) {
            return guest.type() + ":" + guest.name();
        }
        return "unknown";
    }
}
