package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Reservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/**
 * A card with tenants, observed as a node observes it: memory four times a second, processes every 15 s, and every
 * second while a decision needs them.
 */
final class Card {

    static final long TICK_NANOS = Duration.ofMillis(250).toNanos();

    final RecycleHistory history = new RecycleHistory(RecycleRules.DEFAULT);
    final Map<String, Resident> residents = new LinkedHashMap<>();
    /** The next observations have these. */
    List<Reservation> reservations = List.of();
    /** Names whose processes are in no list. */
    final Set<String> hidden = new HashSet<>();

    final List<Decision> changes = new ArrayList<>();
    final GpuWatchdog watchdog;
    private final long totalMib;
    private final long reservedMib;
    private long nanos;
    private long sequence;
    private int pids;
    private List<Tenant> listed = List.of();
    private long listedAtNanos = Long.MIN_VALUE / 2;
    private Optional<Decision> last = Optional.empty();

    /** One tenant; a test changes its fields. */
    final class Resident {
        final String name;
        String id;
        String workload;
        long budgetMib;
        long usedMib;
        int priority;
        boolean leaving;
        Optional<String> exempt = Optional.empty();
        /** The amount that the driver lists in place of its use. */
        Optional<Reading<Long>> claims = Optional.empty();

        ProcessKey process = new ProcessKey(++pids, 1);

        Resident(String name, long budgetMib, long usedMib) {
            this.name = name;
            this.id = name + "-1";
            this.workload = name;
            this.budgetMib = budgetMib;
            this.usedMib = usedMib;
        }

        /** Ends its process and starts another one, which loads this much. */
        void restart(long mib) {
            process = new ProcessKey(++pids, 1);
            usedMib = mib;
        }

        private Tenant tenant() {
            Reading<Long> budget = budgetMib == 0 ? Reading.absent(Absence.NOT_SUPPORTED) : Reading.of(budgetMib << 20);
            return new Tenant(
                    id,
                    name,
                    workload,
                    budget,
                    claims.orElse(Reading.of(usedMib << 20)),
                    usedMib == 0 ? Set.of() : Set.of(process),
                    priority,
                    Instant.EPOCH,
                    exempt,
                    leaving);
        }
    }

    Card(long totalMib, long reservedMib) {
        this(totalMib, reservedMib, PressureRules.DEFAULT);
    }

    Card(long totalMib, long reservedMib, PressureRules rules) {
        this.totalMib = totalMib;
        this.reservedMib = reservedMib;
        watchdog = new GpuWatchdog(rules, RecycleRules.DEFAULT, history);
    }

    /** @param budgetMib 0 for none */
    Resident add(String name, long budgetMib, long usedMib) {
        Resident resident = new Resident(name, budgetMib, usedMib);
        residents.put(name, resident);
        return resident;
    }

    long freeMib() {
        return totalMib
                - reservedMib
                - residents.values().stream()
                        .mapToLong(resident -> resident.usedMib)
                        .sum();
    }

    Duration now() {
        return Duration.ofNanos(nanos);
    }

    /** Lets time pass without an observation. */
    void pass(Duration time) {
        nanos += time.toNanos();
    }

    /** Lets a quarter of a second pass, and returns the decision after it. */
    Decision tick() {
        nanos += TICK_NANOS;
        boolean wanted = last.filter(Decision::wantsTenants).isPresent();
        if (nanos - listedAtNanos >= Duration.ofSeconds(wanted ? 1 : 15).toNanos()) {
            listed = residents.values().stream()
                    .filter(resident -> !hidden.contains(resident.name))
                    .map(Resident::tenant)
                    .toList();
            listedAtNanos = nanos;
        }
        GpuBytes memory = new GpuBytes(
                totalMib << 20, reservedMib << 20, totalMib - reservedMib - freeMib() << 20, freeMib() << 20);
        return decide(
                new GpuObservation("GPU-1", nanos, ++sequence, Reading.of(memory), Reading.of(listed), listedAtNanos)
                        .with(reservations));
    }

    Decision decide(GpuObservation seen) {
        Decision decision = watchdog.decide(seen);
        if (last.isEmpty() || last.get().verdict() != decision.verdict()) {
            changes.add(decision);
        }
        last = Optional.of(decision);
        return decision;
    }

    /** Lets time pass until a verdict, or at most this long; each second, the event happens. */
    Optional<Decision> until(Verdict wanted, Duration most, Consumer<Duration> eachSecond) {
        long end = nanos + most.toNanos();
        while (nanos < end) {
            if (nanos % Duration.ofSeconds(1).toNanos() == 0) {
                eachSecond.accept(now());
            }
            Decision decision = tick();
            if (decision.verdict() == wanted) {
                return Optional.of(decision);
            }
        }
        return Optional.empty();
    }

    Decision last() {
        return last.orElseThrow();
    }

    List<Verdict> verdicts() {
        return changes.stream().map(Decision::verdict).toList();
    }
}
