package dev.gpuwarden.daemon.vram.watch;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.daemon.vram.VramFixture;
import dev.gpuwarden.daemon.vram.rules.WatchdogRules;
import dev.gpuwarden.daemon.vram.watch.Observations.Observed;
import dev.gpuwarden.watchdog.decision.RecycleHistory;
import dev.gpuwarden.watchdog.decision.Standing;
import dev.gpuwarden.watchdog.decision.Verdict;
import dev.gpuwarden.watchdog.decision.WatchdogState;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which readings of a GPU are worth a decision. */
class WatchedGpuTest {

    private static final long ENOUGH = 8000;
    private static final long BELOW_FLOOR = 1000;

    private final GpuIdentity identity = NodeFixture.identity(0);
    private final WatchedGpu gpu = new WatchedGpu(
            identity.selector(),
            WatchdogRules.DEFAULT,
            new RecycleHistory(WatchdogRules.DEFAULT.recycle()),
            WatchdogState.NONE);
    private final long listedAtNanos = System.nanoTime();
    private long sequence;
    private List<Tenant> tenants = List.of();

    private GpuObservation reading(long freeMib) {
        sequence++;
        return new GpuObservation(
                identity.selector(),
                listedAtNanos + sequence,
                sequence,
                VramFixture.memory(freeMib),
                Reading.of(tenants),
                listedAtNanos);
    }

    private Verdict decide(long freeMib) {
        return gpu.decide(new Observed(identity, reading(freeMib)), Instant.EPOCH)
                .verdict();
    }

    private boolean isNew(long freeMib) {
        return gpu.isNew(reading(freeMib), System.nanoTime());
    }

    @Test
    void equalReadingsOfACalmGpuAreDecidedEveryFiveSeconds() {
        assertThat(isNew(ENOUGH)).isTrue();
        assertThat(decide(ENOUGH)).isEqualTo(Verdict.CALM);
        assertThat(isNew(ENOUGH)).isFalse();
        assertThat(gpu.isNew(
                        reading(ENOUGH),
                        System.nanoTime() + Duration.ofSeconds(5).toNanos()))
                .isTrue();
        assertThat(isNew(ENOUGH - 1)).isTrue();
    }

    /** Pressure needs several readings below the floor, which are often equal. */
    @Test
    void equalReadingsBelowTheFloorAreEachDecided() {
        assertThat(decide(ENOUGH)).isEqualTo(Verdict.CALM);
        for (int i = 1; i < WatchdogRules.DEFAULT.pressure().least(); i++) {
            assertThat(decide(BELOW_FLOOR)).isEqualTo(Verdict.CALM);
            assertThat(isNew(BELOW_FLOOR)).isTrue();
        }
        assertThat(decide(BELOW_FLOOR)).isNotEqualTo(Verdict.CALM);
    }

    @Test
    void anOldReadingShowsNoReasonToActAnyMore() {
        Tenant hog = VramFixture.tenant("hog", 3000, 14060);
        tenants = List.of(hog);
        assertThat(gpu.standing(hog, listedAtNanos).state()).isEqualTo(Standing.State.UNKNOWN);
        decide(BELOW_FLOOR);
        assertThat(decide(BELOW_FLOOR)).isEqualTo(Verdict.RECYCLE);
        assertThat(gpu.standing(hog, listedAtNanos)).isEqualTo(Standing.NEEDED);
        assertThat(gpu.standing(hog, listedAtNanos + Duration.ofSeconds(3).toNanos()))
                .isEqualTo(Standing.unknown("the last reading is 2999 ms old"));
    }
}
