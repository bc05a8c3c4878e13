package dev.gpuwarden.daemon.vram.budgets;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.process.MemoryUse;
import dev.gpuwarden.core.util.BoundedMap;
import dev.gpuwarden.daemon.vram.budgets.BudgetEntry.Kind;
import dev.gpuwarden.watchdog.budget.Tenancy;
import dev.gpuwarden.watchdog.budget.Terms;
import dev.gpuwarden.watchdog.budget.TermsSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * The budgets of a file. A tenant without memory keeps its promise while its unit runs, and for some minutes after its
 * last process: one that fails to allocate comes and goes.
 */
public final class NodeBudgets implements TermsSource {

    private static final Duration PROMISE = Duration.ofMinutes(5);

    private static final int MOST_SEEN = 1024;

    private final List<BudgetEntry> entries;
    private final ContainerNames containers;
    private final Path systemUnits;
    private final LongSupplier nanoTime;
    private final Map<Place, Seen> seen = new BoundedMap<>(MOST_SEEN, true);

    private record Place(String gpu, String tenant) {}

    private record Seen(Terms terms, Optional<String> unit, Optional<NotifySignal> signal, long atNanos) {}

    private NodeBudgets(List<BudgetEntry> entries, ContainerNames containers, Path sysfs, LongSupplier nanoTime) {
        this.entries = List.copyOf(entries);
        this.containers = containers;
        this.systemUnits = sysfs.resolve("fs/cgroup/system.slice");
        this.nanoTime = nanoTime;
    }

    /**
     * Reads a file.
     *
     * @param sysfs the node's /sys, whose cgroups show which units run
     * @throws UserError with file and line of the first error
     */
    public static NodeBudgets read(Path file, ContainerNames containers, Path sysfs, LongSupplier nanoTime) {
        return new NodeBudgets(BudgetFile.read(file), containers, sysfs, nanoTime);
    }

    @Override
    public synchronized Optional<Terms> of(GpuIdentity gpu, MemoryUse process) {
        for (BudgetEntry entry : entries) {
            Optional<String> name = entry.match(gpu, process, containers);
            if (name.isPresent()) {
                Terms terms = terms(entry, name.get(), process);
                Optional<String> unit = entry.kind() == Kind.unit ? name : Optional.empty();
                seen.put(
                        new Place(gpu.selector(), terms.id()),
                        new Seen(terms, unit, entry.signal(), nanoTime.getAsLong()));
                return Optional.of(terms);
            }
        }
        return Optional.empty();
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
        seen.forEach((place, last) -> {
            boolean recent = now - last.atNanos() < PROMISE.toNanos();
            if (place.gpu().equals(gpu.selector())
                    && (recent || last.unit().filter(this::runs).isPresent())) {
                expected.add(last.terms());
            }
        });
        for (BudgetEntry entry : entries) {
            boolean unit =
                    entry.kind() == Kind.unit && entry.isExact() && entry.gpu().isPresent();
            if (unit && entry.isOn(gpu) && runs(entry.pattern())) {
                expected.add(terms(entry, id(entry), id(entry), false));
            }
        }
        return expected;
    }

    /**
     * Returns the signal of a tenant for notices that it is over its budget; empty where its entry names none.
     *
     * @param gpu as {@link GpuIdentity#selector} returns it
     */
    public synchronized Optional<NotifySignal> signal(String gpu, String tenant) {
        return Optional.ofNullable(seen.get(new Place(gpu, tenant))).flatMap(Seen::signal);
    }

    private boolean runs(String unit) {
        return !unit.contains("/") && Files.isDirectory(systemUnits.resolve(unit));
    }
}
