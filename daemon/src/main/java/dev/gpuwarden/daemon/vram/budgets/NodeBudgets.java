package dev.gpuwarden.daemon.vram.budgets;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.util.BoundedMap;
import dev.gpuwarden.daemon.vram.budgets.BudgetEntry.Kind;
import dev.gpuwarden.watchdog.budget.Tenancy;
import dev.gpuwarden.watchdog.budget.Terms;
import dev.gpuwarden.watchdog.budget.TermsSource;
import java.lang.System.Logger.Level;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;

/**
 * The budgets of a file. A tenant without memory keeps its promise while its unit runs, and a container or a job for some
 * minutes after its last process: one that fails to allocate comes and goes. The owner must live. The last tenant of an entry
 * that has ended keeps its promise as long, since it may start again, also with another identity; a job never does. If it
 * cannot be determined that the owner lives, the promise does not count.
 */
public final class NodeBudgets implements TermsSource {

    private static final Duration PROMISE = Duration.ofMinutes(5);

    private static final int MOST_SEEN = 1024;
    private static final int MOST_TOLD = 16;

    private static final System.Logger LOG = System.getLogger(NodeBudgets.class.getName());

    private final List<BudgetEntry> entries;
    private final ContainerNames containers;
    private final OwnerGroups groups;
    private final LongSupplier nanoTime;
    private final Map<Place, Seen> seen = new BoundedMap<>(MOST_SEEN, true);

    private final Set<String> told = new HashSet<>();

    private record Place(String gpu, String tenant) {}

    /**
     * A tenant that held memory.
     *
     * @param group of its owner; empty where it is not visible, or the entry names processes
     * @param sinceNanos when it was seen first
     * @param atNanos when it was seen last
     */
    private record Seen(
            Terms terms, BudgetEntry entry, Optional<Path> group, String name, long sinceNanos, long atNanos) {}

    private NodeBudgets(
            List<BudgetEntry> entries, ContainerNames containers, OwnerGroups groups, LongSupplier nanoTime) {
        this.entries = List.copyOf(entries);
        this.containers = containers;
        this.groups = groups;
        this.nanoTime = nanoTime;
    }

    /**
     * Reads a file.
     *
     * @param procfs the node's /proc, which shows the control groups of tenants
     * @param sysfs the node's /sys, which shows whether these groups exist
     * @throws UserError with file and line of the first error
     */
    public static NodeBudgets read(
            Path file, ContainerNames containers, Path procfs, Path sysfs, LongSupplier nanoTime) {
        return new NodeBudgets(BudgetFile.read(file), containers, new OwnerGroups(procfs, sysfs), nanoTime);
    }

    @Override
    public synchronized Optional<Terms> of(GpuIdentity gpu, MemoryUse process) {
        for (BudgetEntry entry : entries) {
            Optional<String> name = entry.match(gpu, process, containers);
            if (name.isPresent()) {
                Terms terms = terms(entry, name.get(), process);
                Place place = new Place(gpu.selector(), terms.id());
                Optional<Seen> before = Optional.ofNullable(seen.get(place));
                long now = nanoTime.getAsLong();
                Optional<Path> group = entry.kind() == Kind.process
                        ? Optional.empty()
                        : before.flatMap(Seen::group)
                                .or(() -> groups.folder(process.process().pid(), process.owner()));
                long since = before.map(Seen::sinceNanos).orElse(now);
                seen.put(place, new Seen(terms, entry, group, name.get(), since, now));
                return Optional.of(terms);
            }
        }
        return nameless(gpu, process.owner());
    }

    /** Returns the terms of a container whose name its engine does not return, if an entry may be for it; empty otherwise. */
    private Optional<Terms> nameless(GpuIdentity gpu, Owner owner) {
        boolean mayMatch = owner instanceof Owner.Container container
                && !container.ofUser()
                && entries.stream().anyMatch(entry -> entry.kind() == Kind.container && entry.isOn(gpu));
        if (!mayMatch) {
            return Optional.empty();
        }
        return containers.name((Owner.Container) owner) instanceof Reading.Absent<String> none
                        && none.cause() == Absence.FAILED
                ? Optional.of(new Terms(
                        Tenancy.id(owner),
                        Tenancy.id(owner),
                        Tenancy.id(owner),
                        Reading.absent(Absence.FAILED, 0, none.detail()),
                        0,
                        Instant.EPOCH,
                        Optional.empty(),
                        false))
                : Optional.empty();
    }

    private static Terms terms(BudgetEntry entry, String name, MemoryUse process) {
        boolean byName = entry.kind() == Kind.process;
        String id = byName ? id(entry) : Tenancy.id(process.owner());
        String workload = byName ? id : entry.kind() + ":" + name;
        boolean itself = process.process().pid() == ProcessHandle.current().pid();
        return terms(entry, id, workload, itself);
    }

    private static String id(BudgetEntry entry) {
        return entry.kind() + ":" + entry.pattern();
    }

    private static Terms terms(BudgetEntry entry, String id, String workload, boolean itself) {
        Optional<String> exempt = itself
                ? Optional.of("it is gpuwarden itself")
                : entry.exempt() ? Optional.of("the file of budgets exempts it") : Optional.empty();
        return new Terms(
                id,
                workload.substring(workload.indexOf(':') + 1),
                workload,
                Reading.of(entry.budgetBytes()),
                entry.priority(),
                Instant.EPOCH,
                exempt,
                false);
    }

    @Override
    public synchronized List<Terms> expected(GpuIdentity gpu) {
        List<Terms> expected = new ArrayList<>();
        long now = nanoTime.getAsLong();
        Map<BudgetEntry, Seen> lastEnded = new IdentityHashMap<>();
        Map<BudgetEntry, Seen> lastBegun = new IdentityHashMap<>();
        for (Map.Entry<Place, Seen> each : List.copyOf(seen.entrySet())) {
            Seen last = each.getValue();
            if (!each.getKey().gpu().equals(gpu.selector())) {
                continue;
            }
            lastBegun.merge(last.entry(), last, (a, b) -> a.sinceNanos() > b.sinceNanos() ? a : b);
            boolean recent = now - last.atNanos() < PROMISE.toNanos();
            Reading<Boolean> lives = lives(last);
            if (lives instanceof Reading.Absent<Boolean> none && recent) {
                expected.add(unverified(last.terms(), none));
            } else if (lives.asOptional().orElse(false)) {
                if (recent || last.entry().kind() == Kind.unit) {
                    expected.add(last.terms());
                }
            } else if (!recent) {
                if (last.entry().kind() != Kind.unit) {
                    seen.remove(each.getKey());
                }
            } else if (last.entry().kind() != Kind.slurm) {
                lastEnded.merge(last.entry(), last, (a, b) -> a.atNanos() > b.atNanos() ? a : b);
            }
        }
        lastEnded.forEach((entry, ended) -> {
            Seen begun = lastBegun.get(entry);
            // One that began later has taken its place: a workload that starts again with another identity has one
            // promise.
            if (begun == null || begun.equals(ended) || begun.sinceNanos() < ended.atNanos()) {
                expected.add(ended.terms());
            }
        });
        for (BudgetEntry entry : entries) {
            boolean unit =
                    entry.kind() == Kind.unit && entry.isExact() && entry.gpu().isPresent();
            if (unit && entry.isOn(gpu)) {
                Terms terms = terms(entry, id(entry), id(entry), false);
                Reading<Boolean> runs = groups.runs(entry.pattern());
                if (runs instanceof Reading.Absent<Boolean> none) {
                    expected.add(unverified(terms, none));
                } else if (runs.asOptional().orElseThrow()) {
                    expected.add(terms);
                }
            }
        }
        return expected;
    }

    /** Returns whether the owner lives; the name of a process has no owner but itself. */
    private Reading<Boolean> lives(Seen last) {
        if (last.entry().kind() == Kind.process) {
            return Reading.of(true);
        }
        if (last.group().isPresent()) {
            return groups.exists(last.group().get());
        }
        return last.entry().kind() == Kind.unit
                ? groups.runs(last.name())
                : Reading.absent(Absence.NO_DATA, 0, "its control group is not visible from here");
    }

    /** Returns the terms without the promise, which no owner is known to keep. It holds no memory, so it needs no budget. */
    private Terms unverified(Terms terms, Reading.Absent<Boolean> why) {
        String text = "its budget promises nothing: whether it still exists is unknown: " + why.detail();
        if (told.size() < MOST_TOLD && told.add(terms.id())) {
            LOG.log(Level.WARNING, terms.name() + ": " + text);
        }
        return new Terms(
                terms.id(),
                terms.name(),
                terms.workload(),
                Reading.absent(Absence.NO_DATA, 0, text),
                terms.priority(),
                terms.started(),
                terms.exempt(),
                terms.leaving());
    }

    /**
     * Returns the signal of a tenant for notices that it is over its budget; empty where its entry names none.
     *
     * @param gpu as {@link GpuIdentity#selector} returns it
     */
    public synchronized Optional<NotifySignal> signal(String gpu, String tenant) {
        return Optional.ofNullable(seen.get(new Place(gpu, tenant)))
                .flatMap(last -> last.entry().signal());
    }
}
