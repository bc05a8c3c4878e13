package dev.gpuwarden.daemon.vram;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.watch.VramStatus;
import dev.gpuwarden.watchdog.decision.Decision;
import dev.gpuwarden.watchdog.decision.GpuWatchdog;
import dev.gpuwarden.watchdog.decision.RecycleHistory;
import dev.gpuwarden.watchdog.decision.RecycleRules;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** States of a real watchdog on a T4 with 15360 MiB, 300 MiB of them reserved. */
public final class VramFixture {

    /** The tenants of 2026-06-02 with 2789 MiB free, one without a budget and one with a text that is none. */
    public static final Reading<List<Tenant>> INCIDENT = Reading.of(List.of(
            tenant("immich-ml", 3000, 10_726),
            tenant("llama-swap", 5000, 0),
            tenant("frigate", Reading.absent(Absence.NO_DATA, 0, "none is configured"), 1300),
            tenant("portal-stt", Reading.absent(Absence.IMPLAUSIBLE, 0, "5x is no quantity"), 545)));

    private VramFixture() {}

    public static Tenant tenant(String name, Reading<Long> budget, long usedMib) {
        return new Tenant(
                "pod:" + name,
                name,
                "deployment/" + name,
                budget,
                Reading.of(usedMib << 20),
                Set.of(new ProcessKey(7, 1)),
                0,
                Instant.EPOCH,
                Optional.empty(),
                false);
    }

    public static Tenant tenant(String name, long budgetMib, long usedMib) {
        return tenant(name, Reading.of(budgetMib << 20), usedMib);
    }

    public static Reading<GpuBytes> memory(long freeMib) {
        return Reading.of(new GpuBytes(15_360L << 20, 300L << 20, 15_060 - freeMib << 20, freeMib << 20));
    }

    public static VramStatus incident(GpuIdentity gpu, Instant now) {
        return status(gpu, now, memory(2789), INCIDENT, RecycleRules.DEFAULT, Map.of());
    }

    /** Lets a watchdog decide three times within a second, so that pressure begins, and returns its state at this time. */
    public static VramStatus status(
            GpuIdentity gpu,
            Instant now,
            Reading<GpuBytes> memory,
            Reading<List<Tenant>> tenants,
            RecycleRules rules,
            Map<String, Long> recycles) {
        GpuWatchdog watchdog = new GpuWatchdog(PressureRules.DEFAULT, rules, new RecycleHistory(rules));
        Map<Verdict, Long> decisions = new EnumMap<>(Verdict.class);
        Optional<Decision> last = Optional.empty();
        for (int i = 1; i <= 3; i++) {
            long nanos = i * 250_000_000L;
            last = Optional.of(watchdog.decide(new GpuObservation("GPU-0", nanos, i, memory, tenants, nanos)));
            decisions.merge(last.get().verdict(), 1L, Long::sum);
        }
        boolean blind = last.orElseThrow().verdict() == Verdict.BLIND;
        Instant at = now.minusMillis(250);
        return new VramStatus(gpu, last.orElseThrow(), at, blind ? Instant.EPOCH : at, decisions, recycles);
    }
}
