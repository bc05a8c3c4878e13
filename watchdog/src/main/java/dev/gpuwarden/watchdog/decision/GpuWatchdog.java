package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.Pressure;
import dev.gpuwarden.watchdog.pressure.PressureMonitor;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import dev.gpuwarden.watchdog.pressure.PressureState;
import dev.gpuwarden.watchdog.pressure.Trigger;
import dev.gpuwarden.watchdog.reservation.Room;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The decisions about one GPU, one for each observation. Equal observations give equal decisions, so a dry run decides
 * as an armed one does. Not thread-safe.
 */
public final class GpuWatchdog {

    private final PressureRules pressureRules;
    private final RecycleRules rules;
    private final RecycleHistory history;
    private final ReleaseWatch releases;
    private final PeakUse peaks;
    /** The first decision of this deficit in which a tenant was over its budget, by its identity. */
    private final Map<String, Long> overSince;

    private PressureMonitor monitor;
    private Optional<WatchdogState.Newest> newest;
    private OptionalLong lastGoodNanos;

    /** @param history of the node, shared by its GPUs */
    public GpuWatchdog(PressureRules pressureRules, RecycleRules rules, RecycleHistory history) {
        this(pressureRules, rules, history, WatchdogState.NONE);
    }

    /**
     * Continues where another watchdog was.
     *
     * @param history of the node, shared by its GPUs; that of the state is not used
     */
    public GpuWatchdog(PressureRules pressureRules, RecycleRules rules, RecycleHistory history, WatchdogState state) {
        this.pressureRules = pressureRules;
        this.rules = rules;
        this.history = history;
        monitor = new PressureMonitor(pressureRules, state.pressure());
        overSince = new HashMap<>(state.overSince());
        releases = new ReleaseWatch(rules, state.endings());
        peaks = new PeakUse(state.peaks());
        newest = state.newest();
        lastGoodNanos = state.lastGoodNanos();
    }

    /** Returns everything on which the next decision depends, besides rules and observation. */
    public WatchdogState state() {
        return new WatchdogState(
                newest, lastGoodNanos, monitor.state(), overSince, releases.state(), peaks.state(), history.state());
    }

    /** Returns the decision that a watchdog in this state takes. */
    public static Decision decide(
            PressureRules pressureRules, RecycleRules rules, WatchdogState state, GpuObservation seen) {
        RecycleHistory history = new RecycleHistory(rules, state.history());
        return new GpuWatchdog(pressureRules, rules, history, state).decide(seen);
    }

    /** Returns the decision about an observation. A decision to recycle counts as carried out from now on. */
    public Decision decide(GpuObservation seen) {
        Optional<String> blind = blindBecause(seen);
        newest = newest.filter(before -> before.sequence() >= seen.sequence())
                .or(() -> Optional.of(new WatchdogState.Newest(seen.sequence(), seen.atNanos())));
        if (blind.isPresent()) {
            return new Decision(seen, Verdict.BLIND, Optional.empty(), List.of(), blind.get(), List.of());
        }
        if (lastGoodNanos.isPresent()
                && seen.atNanos() - lastGoodNanos.getAsLong()
                        > rules.longestGap().toNanos()) {
            monitor = new PressureMonitor(pressureRules, PressureState.NONE);
        }
        lastGoodNanos = OptionalLong.of(seen.atNanos());
        GpuBytes memory = seen.memory().asOptional().orElseThrow();
        List<Tenant> tenants = seen.tenants().asOptional().orElseThrow();
        peaks.add(tenants);
        Pressure pressure = monitor.add(
                memory, tenants, seen.reservations(), seen.atNanos(), seen.tenantsAtNanos(), hasCurrentTenants(seen));
        if (!pressure.has(Trigger.DEFICIT)) {
            overSince.clear();
        }
        return new Round(seen, memory, tenants, pressure).decide();
    }

    private boolean hasCurrentTenants(GpuObservation seen) {
        long age = seen.atNanos() - seen.tenantsAtNanos();
        return age >= 0 && age <= rules.newestWithin().toNanos();
    }

    private Optional<String> blindBecause(GpuObservation seen) {
        if (seen.memory() instanceof Reading.Absent<GpuBytes> none) {
            return Optional.of("the memory of the GPU is unknown: " + none.text());
        }
        Optional<String> doubt = seen.memory().asOptional().orElseThrow().doubt();
        if (doubt.isPresent()) {
            return doubt.map(why -> "the memory of the GPU is implausible: " + why);
        }
        if (newest.filter(before -> seen.sequence() <= before.sequence() || seen.atNanos() < before.atNanos())
                .isPresent()) {
            return Optional.of("the reading is not newer than the one before");
        }
        if (seen.tenants() instanceof Reading.Absent<List<Tenant>> none) {
            return Optional.of("the tenants are unknown: " + none.text());
        }
        List<Tenant> tenants = seen.tenants().asOptional().orElseThrow();
        long ids = tenants.stream().map(Tenant::id).distinct().count();
        if (ids != tenants.size()) {
            return Optional.of("two tenants have the same identity");
        }
        return tenants.stream()
                .filter(tenant -> isNegative(tenant.used()) || isNegative(tenant.budget()))
                .findFirst()
                .map(tenant -> "use or budget of " + tenant.name() + " is negative");
    }

    private static boolean isNegative(Reading<Long> bytes) {
        return bytes.asOptional().filter(value -> value < 0).isPresent();
    }

    /** One decision with a basis. */
    private final class Round {
        private final GpuObservation seen;
        private final GpuBytes memory;
        private final List<Tenant> tenants;
        private final Pressure pressure;
        private List<Candidate> ranking = List.of();

        Round(GpuObservation seen, GpuBytes memory, List<Tenant> tenants, Pressure pressure) {
            this.seen = seen;
            this.memory = memory;
            this.tenants = tenants;
            this.pressure = pressure;
        }

        Decision decide() {
            Optional<ReleaseWatch.Pending> pending = releases.pending(tenants, seen.atNanos(), seen.tenantsAtNanos());
            if (pending.isPresent()) {
                return end(
                        pending.get().late() ? Verdict.NOT_RELEASED : Verdict.RELEASING,
                        pending.get().text());
            }
            boolean isPossible = pressureRules.triggers().stream().anyMatch(this::isShort);
            if (!hasCurrentTenants(seen) && (isPossible || !pressure.triggers().isEmpty())) {
                return end(
                        Verdict.STALE_TENANTS,
                        Mib.text(memory.free()) + " free may be too little; the process list is too old to decide");
            }
            if (pressure.triggers().isEmpty()) {
                return end(Verdict.CALM, Mib.text(memory.free()) + " free");
            }
            ranking = Candidate.ranked(
                    tenants, pressure.starved(), rules, workload -> history.refusal(workload, seen.atNanos()));
            return judge();
        }

        private Decision judge() {
            Set<String> over = ranking.stream()
                    .filter(candidate -> candidate.isOver(rules))
                    .map(candidate -> candidate.tenant().id())
                    .collect(Collectors.toSet());
            overSince.keySet().retainAll(over);
            over.forEach(id -> overSince.putIfAbsent(id, seen.atNanos()));
            Set<Trigger> acute =
                    pressure.triggers().stream().filter(monitor::isBreached).collect(Collectors.toSet());
            if (acute.isEmpty()) {
                return end(Verdict.RECOVERING, Mib.text(memory.free()) + " free: enough by the last readings");
            }
            if (over.isEmpty()) {
                return end(Verdict.NOBODY_OVER, reasons() + "; no tenant is over its budget");
            }
            Optional<Tenant> worst = Candidate.worst(ranking);
            if (worst.isEmpty()) {
                return end(Verdict.CAPPED, reasons() + "; each tenant over its budget is spared");
            }
            boolean isProven =
                    acute.contains(Trigger.FLOOR) || acute.contains(Trigger.DEMAND) && demandWouldFit(excessBytes());
            if (!isProven) {
                long since = Math.max(
                        pressure.deficitSinceNanos(),
                        overSince.getOrDefault(worst.get().id(), seen.atNanos()));
                if (seen.atNanos() - since < rules.deficitGrace().toNanos()) {
                    return end(Verdict.DEFICIT_GRACE, reasons() + "; no allocation failed that a recycle would help");
                }
                if (!aShareWouldFit(excessBytes())) {
                    return end(Verdict.FUTILE, reasons() + "; no share that lacks memory would fit after a recycle");
                }
            }
            if (unattributedBytes() > worst.get().overBytes()) {
                return end(
                        Verdict.UNATTRIBUTED,
                        reasons() + "; " + Mib.text(unattributedBytes()) + " have no known owner, more than "
                                + worst.get().name() + " is over its budget");
            }
            Optional<String> refusal = history.refusal(seen.atNanos());
            if (refusal.isPresent()) {
                return end(Verdict.CAPPED, reasons() + "; " + refusal.get());
            }
            return recycle(worst.get());
        }

        private Decision recycle(Tenant tenant) {
            history.add(tenant.workload(), seen.atNanos());
            releases.begin(tenant, seen.atNanos());
            return end(
                    Verdict.RECYCLE,
                    reasons() + "; " + tenant.name() + " uses "
                            + Mib.text(tenant.used().asOptional().orElseThrow()) + " of a budget of "
                            + Mib.text(tenant.budget().asOptional().orElseThrow()));
        }

        /** Returns whether the last reading itself is below the limit of this trigger. */
        private boolean isShort(Trigger trigger) {
            return memory.free() < (trigger == Trigger.FLOOR ? pressure.floorBytes() : pressure.promisedBytes());
        }

        /** Returns the bytes above their budgets of the tenants that may be recycled. */
        private long excessBytes() {
            return ranking.stream()
                    .filter(candidate -> candidate.spared().isEmpty())
                    .mapToLong(candidate -> candidate.tenant().overBytes())
                    .sum();
        }

        private boolean demandWouldFit(long more) {
            Room after = new Room(memory.free() + more, pressure.floorBytes(), tenants, seen.reservations());
            return starvedWouldFit(more) || monitor.acutelyWaiting().stream().anyMatch(after::has);
        }

        /**
         * Returns whether a tenant whose allocations failed would have room with this much more, and has none now. It
         * needs its share, or the most that it ever used. Otherwise it failed for another reason.
         */
        private boolean starvedWouldFit(long more) {
            List<String> failing = monitor.acutelyFailing();
            return tenants.stream()
                    .filter(tenant -> failing.contains(tenant.workload()))
                    .mapToLong(tenant -> Math.max(
                            tenant.unmetBytes(),
                            peaks.of(tenant.workload())
                                    - tenant.used().asOptional().orElse(0L)))
                    .anyMatch(needed -> needed > memory.free() && needed <= memory.free() + more);
        }

        /** Returns whether a share that does not fit now would fit with this much more, or shares that fit one by one lack memory together. */
        private boolean aShareWouldFit(long more) {
            List<Long> unfit = tenants.stream()
                    .filter(tenant -> !tenant.leaving() && tenant.unmetBytes() > memory.free())
                    .map(Tenant::unmetBytes)
                    .toList();
            return unfit.isEmpty() || unfit.stream().anyMatch(needed -> needed <= memory.free() + more);
        }

        /** Returns the used memory that no known tenant has; 0 where the use of one of them is unknown. */
        private long unattributedBytes() {
            if (tenants.stream().anyMatch(tenant -> tenant.used().asOptional().isEmpty())) {
                return 0;
            }
            long known = tenants.stream()
                    .mapToLong(tenant -> tenant.used().asOptional().orElseThrow())
                    .sum();
            return memory.total() - memory.free() - memory.reserved() - known;
        }

        private String reasons() {
            return pressure.triggers().stream().sorted().map(this::reason).collect(Collectors.joining("; "));
        }

        private String reason(Trigger trigger) {
            return switch (trigger) {
                case FLOOR -> Mib.text(memory.free()) + " free, floor " + Mib.text(pressure.floorBytes());
                case DEFICIT ->
                    Mib.text(memory.free()) + " free, budgets promise " + Mib.text(pressure.promisedBytes()) + " more";
                case DEMAND -> demand();
            };
        }

        private String demand() {
            List<String> failing = monitor.failing();
            List<String> waiting = pressure.starved().stream()
                    .filter(workload -> !failing.contains(workload))
                    .toList();
            return Stream.of(
                            failing.isEmpty() ? "" : "failed allocations of " + String.join(", ", failing),
                            waiting.isEmpty() ? "" : "no room for reservations of " + String.join(", ", waiting))
                    .filter(text -> !text.isEmpty())
                    .collect(Collectors.joining("; "));
        }

        private Decision end(Verdict verdict, String reason) {
            return new Decision(
                    seen, verdict, Optional.of(pressure), ranking, reason, peaks.outgrown(tenants, pressure.starved()));
        }
    }
}
