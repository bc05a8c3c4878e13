package dev.gpuwarden.daemon.vram.audit;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.BoundedMap;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.daemon.vram.audit.Fault.Kind;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeSet;

/** Collects the use of workloads from observations, and finds faults in their budgets. Not thread-safe. */
public final class BudgetAudit {

    private static final int MOST_WORKLOADS = 1024;
    private static final int MOST_TOTALS = 64;
    /** A difference below this is no waste. */
    private static final long WASTE = 512L << 20;

    private final WatchdogRules rules;
    private final Map<Name, Use> uses = new BoundedMap<>(MOST_WORKLOADS, true);
    private final Map<String, TreeSet<Long>> totals = new LinkedHashMap<>();

    private record Name(String gpu, String workload) {}

    private static final class Use {
        private final Amounts amounts = new Amounts();
        private Reading<Long> budget = Reading.absent(Absence.NO_DATA);
    }

    public BudgetAudit(WatchdogRules rules) {
        this.rules = rules;
    }

    /** Adds a reading. One without memory or tenants, or with implausible memory, adds nothing. */
    public void add(GpuObservation seen) {
        Optional<GpuBytes> memory =
                seen.memory().asOptional().filter(bytes -> bytes.doubt().isEmpty());
        if (memory.isEmpty() || seen.tenants().asOptional().isEmpty()) {
            return;
        }
        TreeSet<Long> known = totals.computeIfAbsent(seen.gpu(), gpu -> new TreeSet<>());
        if (known.size() < MOST_TOTALS) {
            known.add(memory.get().total());
        }
        for (Tenant tenant : seen.tenants().asOptional().get()) {
            Use use = uses.computeIfAbsent(new Name(seen.gpu(), tenant.workload()), name -> new Use());
            use.budget = tenant.budget();
            tenant.used().asOptional().filter(used -> used > 0).ifPresent(use.amounts::add);
        }
    }

    /** Returns the workloads of all GPUs, those of one GPU together and by their names. */
    public List<WorkloadUse> uses() {
        List<WorkloadUse> list = new ArrayList<>();
        uses.forEach((name, use) -> list.add(new WorkloadUse(
                name.gpu(),
                name.workload(),
                use.budget,
                use.amounts.count(),
                use.amounts.percentile(0.5),
                use.amounts.percentile(0.95),
                use.amounts.largest())));
        list.sort(Comparator.comparing(WorkloadUse::gpu).thenComparing(WorkloadUse::workload));
        return list;
    }

    /**
     * Returns the faults, those of settings first.
     *
     * @param advertised bytes that a node advertises to a scheduler; empty if none was given
     * @param assumed sizes of a card that other programs assume, by name
     */
    public List<Fault> faults(Optional<Long> advertised, Map<String, Long> assumed) {
        List<Fault> faults = new ArrayList<>();
        List<WorkloadUse> uses = uses();
        totals.forEach((gpu, known) -> {
            sizes(gpu, known, assumed, faults);
            long total = known.first();
            long floor = rules.pressure().floorOf(total);
            advertised
                    .filter(bytes -> bytes + floor > total)
                    .ifPresent(bytes -> faults.add(new Fault(
                            Kind.FLOOR_ABOVE_SLACK,
                            gpu,
                            Mib.text(bytes) + " advertised and a floor of " + Mib.text(floor) + " exceed the card's "
                                    + Mib.text(total) + " by " + Mib.text(bytes + floor - total))));
            long promised = uses.stream()
                    .filter(use -> use.gpu().equals(gpu))
                    .mapToLong(use -> use.budget().asOptional().orElse(0L))
                    .sum();
            if (promised + floor > total) {
                faults.add(new Fault(
                        Kind.BUDGETS_ABOVE_CARD,
                        gpu,
                        "budgets of " + Mib.text(promised) + " and a floor of " + Mib.text(floor)
                                + " exceed the card's " + Mib.text(total) + " by "
                                + Mib.text(promised + floor - total)));
            }
        });
        swapped(uses, faults);
        uses.forEach(use -> budget(use).ifPresent(faults::add));
        return faults;
    }

    private static void sizes(String gpu, TreeSet<Long> known, Map<String, Long> assumed, List<Fault> faults) {
        if (known.size() > 1) {
            faults.add(new Fault(
                    Kind.TWO_TOTALS,
                    gpu,
                    "its memory was " + Mib.text(known.first()) + " and " + Mib.text(known.last())
                            + " in the same file"));
        }
        assumed.forEach((name, bytes) -> {
            if (!known.contains(bytes)) {
                faults.add(new Fault(
                        Kind.TWO_TOTALS,
                        gpu,
                        name + " assumes " + Mib.text(bytes) + ", the driver reports " + Mib.text(known.first())));
            }
        });
    }

    private void swapped(List<WorkloadUse> uses, List<Fault> faults) {
        for (WorkloadUse one : uses) {
            for (WorkloadUse other : uses) {
                boolean pair = one.gpu().equals(other.gpu()) && !one.workload().equals(other.workload());
                if (pair && !fits(one, one) && fits(one, other) && fits(other, one)) {
                    faults.add(new Fault(
                            Kind.SWAPPED,
                            one.workload(),
                            "its budget and that of " + other.workload() + " (" + words(one.budget()) + " and "
                                    + words(other.budget()) + ") would fit each other's use of "
                                    + Mib.text(other.p95Bytes()) + " and " + Mib.text(one.p95Bytes())));
                }
            }
        }
    }

    /** Returns whether the use of one fits the budget of the other. */
    private boolean fits(WorkloadUse use, WorkloadUse budgeted) {
        return use.samples() > 0
                && budgeted.budget()
                        .asOptional()
                        .filter(budget -> use.p95Bytes() <= budget + tolerance(budget))
                        .isPresent();
    }

    private long tolerance(long budget) {
        return Math.max(rules.recycle().toleranceBytes(), (long)
                (budget * rules.recycle().toleranceShare()));
    }

    private Optional<Fault> budget(WorkloadUse use) {
        if (use.budget() instanceof Reading.Absent<Long> none) {
            return none.cause() == Absence.NO_DATA
                    ? Optional.empty()
                    : Optional.of(new Fault(Kind.UNREADABLE, use.workload(), "no budget: " + none.text()));
        }
        long budget = use.budget().asOptional().orElseThrow();
        if (use.samples() == 0) {
            return Optional.empty();
        }
        if (use.p95Bytes() > budget + tolerance(budget)) {
            return Optional.of(new Fault(
                    Kind.BELOW_USE,
                    use.workload(),
                    "budget " + Mib.text(budget) + ", but it used more than " + Mib.text(use.p95Bytes())
                            + " in 5 % of the time"));
        }
        if (use.p50Bytes() > budget) {
            return Optional.of(new Fault(
                    Kind.OVER_AT_REST,
                    use.workload(),
                    "budget " + Mib.text(budget) + ", but it used " + Mib.text(use.p50Bytes()) + " half of the time"));
        }
        return budget > 2 * use.largestBytes() && budget - use.largestBytes() > WASTE
                ? Optional.of(new Fault(
                        Kind.FAR_ABOVE_USE,
                        use.workload(),
                        "budget " + Mib.text(budget) + ", but it never used more than " + Mib.text(use.largestBytes())))
                : Optional.empty();
    }

    private static String words(Reading<Long> bytes) {
        return bytes.asOptional().map(Mib::text).orElse("none");
    }
}
