package dev.gpuwarden.daemon.vram.watch;

import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.daemon.vram.watch.Observations.Observed;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.GpuWatchdog;
import dev.gpuwarden.watchdog.decision.NotRecycled;
import dev.gpuwarden.watchdog.decision.RecycleHistory;
import dev.gpuwarden.watchdog.decision.Standing;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.decision.WatchdogState;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** One GPU of the monitor: its watchdog, its last decision, and the news about it. Not thread-safe. */
final class WatchedGpu {

    /** An observation without a new reading is a decision too, so that a sampler that stands still is seen. */
    private static final long STANDSTILL_NANOS = Duration.ofSeconds(3).toNanos();

    /** Pause while no memory changes; the sampler ends it when one does. */
    static final long CALM_NANOS = Duration.ofSeconds(5).toNanos();

    /** Less than that, which turns would otherwise miss by a little. */
    private static final long EQUAL_NANOS = CALM_NANOS * 9 / 10;

    /** Pause before pressure that may begin with the next reading; the shortest one. */
    static final long LOW_NANOS = Duration.ofMillis(50).toNanos();

    /** Pause while there is something to wait for. */
    static final long WAITING_NANOS = Duration.ofMillis(250).toNanos();

    /** Verdicts that alternate with others by the second, so they are no news. */
    private static final Set<Verdict> PASSING = EnumSet.of(Verdict.STALE_TENANTS, Verdict.BLIND);

    /** Verdicts after which the next reading may bring pressure. */
    private static final Set<Verdict> BEFORE_PRESSURE = EnumSet.of(Verdict.CALM, Verdict.STALE_TENANTS);

    /** Blindness of one reading is no news; of this many in a row it is. */
    private static final int BLIND_IN_A_ROW = 8;

    private final String name;
    private final GpuWatchdog watchdog;
    private final long newestWithinNanos;
    private final Map<Verdict, Long> counts = new EnumMap<>(Verdict.class);
    private @Nullable GpuIdentity gpu;
    private @Nullable Decision last;
    private Instant decidedAt = Instant.EPOCH;
    private Instant lastGoodAt = Instant.EPOCH;
    private long decidedAtNanos;
    private Verdict told = Verdict.CALM;
    private List<String> toldNotices = List.of();
    private int blind;

    /**
     * @param name as observations name it
     * @param state that of an earlier daemon, with which it begins
     */
    WatchedGpu(String name, WatchdogRules rules, RecycleHistory history, WatchdogState state) {
        this.name = name;
        watchdog = new GpuWatchdog(rules.pressure(), rules.recycle(), history, state);
        newestWithinNanos = rules.recycle().newestWithin().toNanos();
    }

    /** Returns the state before the next decision. */
    WatchdogState state() {
        return watchdog.state();
    }

    /**
     * Returns whether there is something to decide: a reading that differs, or one that shows that the same goes on. A
     * calm GPU with equal memory and tenants is decided every five seconds, because equal readings add nothing. If memory
     * is low, they add up to pressure.
     */
    boolean isNew(GpuObservation seen, long nowNanos) {
        Decision before = last;
        if (before == null) {
            return true;
        }
        long age = nowNanos - decidedAtNanos;
        if (seen.sequence() == before.seen().sequence()) {
            return age >= STANDSTILL_NANOS;
        }
        return before.verdict() != Verdict.CALM
                || isLow()
                || age >= EQUAL_NANOS
                || seen.tenantsAtNanos() != before.seen().tenantsAtNanos()
                || !seen.memory().equals(before.seen().memory());
    }

    String name() {
        return name;
    }

    Decision decide(Observed seen, Instant now) {
        Decision decision = watchdog.decide(seen.observation());
        gpu = seen.gpu();
        last = decision;
        decidedAt = now;
        decidedAtNanos = System.nanoTime();
        counts.merge(decision.verdict(), 1L, Long::sum);
        if (decision.verdict() == Verdict.BLIND) {
            blind++;
        } else {
            blind = 0;
            lastGoodAt = now;
        }
        return decision;
    }

    /** Returns whether a decision to recycle this tenant stands by the newest state, which must not be old. */
    Standing standing(Tenant tenant, long nowNanos) {
        if (last == null) {
            return Standing.unknown("nothing was observed");
        }
        Standing standing = watchdog.standing(tenant);
        long age = nowNanos - last.seen().atNanos();
        return standing.state() == Standing.State.NEEDED && age > newestWithinNanos
                ? Standing.unknown("the last reading is " + age / 1_000_000 + " ms old")
                : standing;
    }

    /** Takes the last decision to recycle this tenant back, because it was not carried out. */
    void notRecycled(Tenant tenant, NotRecycled why, long nowNanos) {
        watchdog.notRecycled(tenant, why, nowNanos);
    }

    /** Returns the free memory below which the next reading must come soon; 0 while there is pressure already. */
    long hastenBelowBytes() {
        return last == null || !BEFORE_PRESSURE.contains(last.verdict())
                ? 0
                : last.pressure()
                        .map(pressure -> Math.max(pressure.floorBytes(), pressure.promisedBytes()))
                        .orElse(0L);
    }

    /** Returns the longest pause until it must be decided about again. */
    long pauseNanos() {
        boolean calm = last != null
                && last.verdict() == Verdict.CALM
                && last.seen().tenants().asOptional().isPresent();
        return isLow() ? LOW_NANOS : calm ? CALM_NANOS : WAITING_NANOS;
    }

    /** Returns whether too little memory is free, and pressure may begin with the next reading. */
    private boolean isLow() {
        long limit = hastenBelowBytes();
        return last != null
                && last.seen()
                        .memory()
                        .asOptional()
                        .filter(memory -> memory.free() < limit)
                        .isPresent();
    }

    /** Returns lines for the log: a verdict that changed, and notices that are new. */
    List<String> news(Decision decision) {
        List<String> lines = new ArrayList<>();
        boolean passing = PASSING.contains(decision.verdict()) && blind != BLIND_IN_A_ROW;
        if (decision.verdict() != told && !passing) {
            told = decision.verdict();
            lines.add("VRAM "
                    + decision.verdict()
                            .name()
                            .toLowerCase(java.util.Locale.ROOT)
                            .replace('_', ' ') + ": " + decision.reason());
        }
        decision.notices().stream()
                .filter(notice -> !toldNotices.contains(notice))
                .forEach(lines::add);
        toldNotices = Stream.concat(toldNotices.stream(), decision.notices().stream())
                .distinct()
                .limit(64)
                .toList();
        return lines;
    }

    VramStatus status(Map<String, Long> recycles) {
        return new VramStatus(
                Objects.requireNonNull(gpu), Objects.requireNonNull(last), decidedAt, lastGoodAt, counts, recycles);
    }
}
