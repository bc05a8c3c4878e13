package dev.gpuwarden.watchdog.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Random sequences of readings, most of them bad, of a card under pressure whose tenant is far over its budget. */
class BadTelemetryTest {

    /** -Dgpuwarden.sequences=1000000 is the full run. */
    private static final int SEQUENCES = Integer.getInteger("gpuwarden.sequences", 20_000);

    private static final long MIB = 1 << 20;
    private static final long SECOND = 1_000_000_000;

    private final Random random = new Random(17);

    /** @param good whether a decision may rest on it */
    private record Step(GpuObservation seen, boolean good) {}

    @Test
    void noTenantIsRecycledOnABadReading() {
        int recycles = 0;
        for (int i = 0; i < SEQUENCES; i++) {
            GpuWatchdog watchdog = new GpuWatchdog(
                    PressureRules.DEFAULT, RecycleRules.DEFAULT, new RecycleHistory(RecycleRules.DEFAULT));
            long newest = 0;
            for (Step step : sequence(10)) {
                Decision decision = watchdog.decide(step.seen());
                boolean good = step.good() && step.seen().sequence() > newest;
                newest = Math.max(newest, step.seen().sequence());
                if (decision.verdict() == Verdict.RECYCLE) {
                    recycles++;
                    assertThat(good).as("sequence %d: %s", i, step.seen()).isTrue();
                }
            }
        }
        assertThat(recycles).as("good readings among the bad ones").isGreaterThan(SEQUENCES / 10);
    }

    private List<Step> sequence(int length) {
        List<Step> steps = new ArrayList<>();
        long now = random.nextInt(1000) * SECOND;
        for (long sequence = 1; sequence <= length; sequence++) {
            now += SECOND / 4;
            steps.add(step(now, sequence));
        }
        return steps;
    }

    private Step step(long now, long sequence) {
        Reading<GpuBytes> memory = Reading.of(new GpuBytes(15360 * MIB, 0, 14800 * MIB, 560 * MIB));
        Reading<List<Tenant>> tenants = Reading.of(List.of(tenant("a", 14000 * MIB), tenant("b", 800 * MIB)));
        return switch (random.nextInt(16)) {
            case 0 -> new Step(seen(now, sequence, Reading.absent(Absence.GPU_LOST), tenants, now), false);
            case 1 -> bytes(now, sequence, tenants, new GpuBytes(15360 * MIB, 0, -1, 560 * MIB));
            case 2 -> bytes(now, sequence, tenants, new GpuBytes(15360 * MIB, 0, 14800 * MIB, -1));
            case 3 -> bytes(now, sequence, tenants, new GpuBytes(0, 0, 0, 0));
            case 4 -> bytes(now, sequence, tenants, new GpuBytes(15360 * MIB, 0, 4000 * MIB, 560 * MIB));
            case 5 -> bytes(now, sequence, tenants, new GpuBytes(15360 * MIB, 0, Long.MAX_VALUE, 0));
            case 6 -> new Step(seen(now, sequence - 1, memory, tenants, now), true);
            case 7 -> new Step(seen(now, sequence, memory, Reading.absent(Absence.NO_PERMISSION), now), false);
            case 8 -> new Step(seen(now, sequence, memory, tenants, now - 3 * SECOND), false);
            case 9 -> new Step(seen(now, sequence, memory, tenants, now + SECOND), false);
            case 10 ->
                new Step(
                        seen(now, sequence, memory, Reading.of(List.of(tenant("a", 1), tenant("a", 14000 * MIB))), now),
                        false);
            case 11 -> new Step(seen(now, sequence, memory, Reading.of(List.of(tenant("a", -5))), now), false);
            default -> new Step(seen(now, sequence, memory, tenants, now), true);
        };
    }

    private static Step bytes(long now, long sequence, Reading<List<Tenant>> tenants, GpuBytes bytes) {
        return new Step(seen(now, sequence, Reading.of(bytes), tenants, now), false);
    }

    private static GpuObservation seen(
            long now, long sequence, Reading<GpuBytes> memory, Reading<List<Tenant>> tenants, long listed) {
        return new GpuObservation("GPU-1", now, sequence, memory, tenants, listed);
    }

    private static Tenant tenant(String id, long used) {
        return new Tenant(
                id,
                id,
                id,
                Reading.of(1000 * MIB),
                Reading.of(used),
                Set.of(new ProcessKey(1, 1)),
                0,
                Instant.EPOCH,
                Optional.empty(),
                false);
    }
}
