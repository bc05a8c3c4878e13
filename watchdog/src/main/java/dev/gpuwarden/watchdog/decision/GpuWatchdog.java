package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.watchdog.observation.Bytes;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.Pressure;
import dev.gpuwarden.watchdog.pressure.PressureMonitor;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import dev.gpuwarden.watchdog.pressure.PressureState;
import dev.gpuwarden.watchdog.pressure.Trigger;
import dev.gpuwarden.watchdog.reservation.Room;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The decisions about one GPU, one for each observation. Equal observations give equal decisions, so a dry run decides
 * as an armed one does. Not thread-safe.
 */
public final class GpuWatchdog {

    private static final String STALE = " free may be too little; the process list is too old to decide";
    private static final String ENOUGH = " free: enough by the last readings";

    private final PressureRules pressureRules;
    private final RecycleRules rules;
    private final RecycleHistory history;
    private final ReleaseWatch releases;
    private final PeakUse peaks;
    private final Basis basis;
    /** The first decision of this deficit in which a tenant was over its budget, by its identity. */
    private final Map<String, Long> overSince;

    private PressureMonitor monitor;
    private OptionalLong lastGoodNanos;
    /** The last observation, or why no decision can rest on it. */
    private Optional<Round> last = Optional.empty();

    private String doubt = "nothing was observed";

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
        releases = new ReleaseWatch(rules, state.endings(), state.othersEndSinceNanos());
        peaks = new PeakUse(state.peaks());
        basis = new Basis(state);
        lastGoodNanos = state.lastGoodNanos();
    }

    /** Returns everything on which the next decision depends, besides rules and observation. */
    public WatchdogState state() {
        return new WatchdogState(
                basis.newest(),
                lastGoodNanos,
                basis.listed(),
                monitor.state(),
                overSince,
                releases.endings(),
                releases.othersSince(),
                peaks.state(),
                history.state());
    }

    /** Returns the decision that a watchdog in this state takes. */
    public static Decision decide(
            PressureRules pressureRules, RecycleRules rules, WatchdogState state, GpuObservation seen) {
        RecycleHistory history = new RecycleHistory(rules, state.history());
        return new GpuWatchdog(pressureRules, rules, history, state).decide(seen);
    }

    /** Returns the decision about an observation. A decision to recycle counts as carried out until {@link #notRecycled}. */
    public Decision decide(GpuObservation seen) {
        Optional<String> blind = basis.doubt(seen);
        if (blind.isPresent()) {
            last = Optional.empty();
            doubt = blind.get();
            return new Decision(seen, Verdict.BLIND, Optional.empty(), List.of(), doubt, List.of());
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
        Round round = new Round(seen, memory, tenants, pressure);
        last = Optional.of(round);
        return round.decide();
    }

    /**
     * Takes the last decision to recycle this tenant back, because it was not carried out.
     *
     * @param nanos present time, by the clock of the observations
     */
    public void notRecycled(Tenant tenant, NotRecycled why, long nanos) {
        history.takeBack(tenant.workload(), why, nanos);
        releases.takeBack(tenant, why);
    }

    /** Returns whether a decision to recycle this tenant still stands by the last observation. Call it before each act. */
    public Standing standing(Tenant chosen) {
        return last.map(round -> round.standing(chosen))
                .orElseGet(() -> Standing.unknown("the last reading is no basis: " + doubt));
    }

    private boolean hasCurrentTenants(GpuObservation seen) {
        long age = seen.atNanos() - seen.tenantsAtNanos();
        return age >= 0 && age <= rules.newestWithin().toNanos();
    }

    /** The reason not to recycle, with its verdict. */
    private record Objection(Verdict verdict, String text) {}

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
            if (pending.isEmpty()) {
                return judge();
            }
            Verdict waits = pending.get().late() ? Verdict.NOT_RELEASED : Verdict.RELEASING;
            if (pending.get().blocks()) {
                return end(waits, pending.get().text());
            }
            Decision others = judge();
            if (others.verdict() == Verdict.RECYCLE) {
                return others;
            }
            if (others.verdict() == Verdict.RECOVERING) {
                // Tenants are compared while memory is short alone: those over their budgets get notices by it.
                ranking = List.of();
            }
            return end(waits, pending.get().text() + "; without it: " + others.reason());
        }

        private Decision judge() {
            boolean isPossible = pressureRules.triggers().stream().anyMatch(this::isShort);
            if (!hasCurrentTenants(seen) && (isPossible || !pressure.triggers().isEmpty())) {
                return end(Verdict.STALE_TENANTS, Mib.text(memory.free()) + STALE);
            }
            if (pressure.triggers().isEmpty()) {
                return end(Verdict.CALM, Mib.text(memory.free()) + " free");
            }
            ranking = ranked(workload -> history.refusal(workload, seen.atNanos()));
            Set<String> over = ranking.stream()
                    .filter(candidate -> candidate.isOver(rules, 0))
                    .map(candidate -> candidate.tenant().id())
                    .collect(Collectors.toSet());
            overSince.keySet().retainAll(over);
            over.forEach(id -> overSince.putIfAbsent(id, seen.atNanos()));
            if (acute().isEmpty()) {
                return end(Verdict.RECOVERING, Mib.text(memory.free()) + ENOUGH);
            }
            if (over.isEmpty()) {
                return end(Verdict.NOBODY_OVER, reasons() + "; no tenant is over its budget");
            }
            Optional<Tenant> worst = Candidate.worst(ranking);
            if (worst.isEmpty()) {
                return end(Verdict.CAPPED, reasons() + "; each tenant over its budget is spared");
            }
            Optional<Objection> objection = objection(worst.get());
            if (objection.isPresent()) {
                return end(
                        objection.get().verdict(),
                        reasons() + "; " + objection.get().text());
            }
            Optional<String> refusal = history.refusal(seen.atNanos());
            if (refusal.isPresent()) {
                return end(Verdict.CAPPED, reasons() + "; " + refusal.get());
            }
            return recycle(worst.get());
        }

        private List<Candidate> ranked(Function<String, Optional<String>> refusal) {
            return Candidate.ranked(tenants, pressure.starved(), rules, Basis.overclaimed(memory, tenants), refusal);
        }

        /** Returns the reasons for pressure that hold by the last readings themselves. */
        private Set<Trigger> acute() {
            return pressure.triggers().stream().filter(monitor::isBreached).collect(Collectors.toSet());
        }

        /** Returns why the end of this tenant is not justified, though it is over its budget under pressure; empty if it is. */
        private Optional<Objection> objection(Tenant worst) {
            Set<Trigger> acute = acute();
            boolean isProven =
                    acute.contains(Trigger.FLOOR) || acute.contains(Trigger.DEMAND) && demandWouldFit(excessBytes());
            if (!isProven) {
                long since = Math.max(pressure.deficitSinceNanos(), overSince.getOrDefault(worst.id(), seen.atNanos()));
                if (seen.atNanos() - since < rules.deficitGrace().toNanos()) {
                    return Optional.of(
                            new Objection(Verdict.DEFICIT_GRACE, "no allocation failed that a recycle would help"));
                }
                if (!aShareWouldFit(excessBytes())) {
                    return Optional.of(
                            new Objection(Verdict.FUTILE, "no share that lacks memory would fit after a recycle"));
                }
            }
            return unattributedBytes() <= worst.overBytes()
                    ? Optional.empty()
                    : Optional.of(new Objection(
                            Verdict.UNATTRIBUTED,
                            Mib.text(unattributedBytes()) + " have no known owner, more than " + worst.name()
                                    + " is over its budget"));
        }

        /** Judges this tenant as a new decision would, but for its own recycle, which the history has already. */
        Standing standing(Tenant chosen) {
            Optional<Tenant> now = tenants.stream()
                    .filter(tenant -> tenant.id().equals(chosen.id()))
                    .findFirst();
            if (acute().isEmpty()) {
                return Standing.over(Mib.text(memory.free()) + ENOUGH);
            }
            if (!hasCurrentTenants(seen)) {
                return Standing.unknown(Mib.text(memory.free()) + STALE);
            }
            if (now.isEmpty()) {
                return Standing.over("it is no tenant of the GPU any more");
            }
            if (!chosen.processes().isEmpty()
                    && Collections.disjoint(chosen.processes(), now.get().processes())) {
                return Standing.over("its processes have ended");
            }
            ranking = ranked(workload ->
                    workload.equals(chosen.workload()) ? Optional.empty() : history.refusal(workload, seen.atNanos()));
            return ranking.stream()
                    .filter(candidate -> candidate.tenant().id().equals(chosen.id()))
                    .findFirst()
                    .flatMap(Candidate::spared)
                    .or(() -> objection(now.get()).map(Objection::text))
                    .map(Standing::over)
                    .orElse(Standing.NEEDED);
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
                    .reduce(0, Bytes::plus);
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

        /** Returns whether a share that does not fit now would fit with this much more. Shares that fit one by one harm no tenant yet. */
        private boolean aShareWouldFit(long more) {
            return tenants.stream()
                    .filter(tenant -> !tenant.leaving() && tenant.unmetBytes() > memory.free())
                    .anyMatch(tenant -> tenant.unmetBytes() <= memory.free() + more);
        }

        /** Returns the used memory that no tenant is known to have; that of a tenant whose use is unknown is part of it. */
        private long unattributedBytes() {
            return memory.clientBytes() - Basis.claimed(tenants);
        }

        private String reasons() {
            return Reasons.text(memory, pressure, monitor.failing());
        }

        private Decision end(Verdict verdict, String reason) {
            return new Decision(
                    seen, verdict, Optional.of(pressure), ranking, reason, peaks.outgrown(tenants, pressure.starved()));
        }
    }
}
