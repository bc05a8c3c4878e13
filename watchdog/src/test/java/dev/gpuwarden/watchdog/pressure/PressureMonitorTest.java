package dev.gpuwarden.watchdog.pressure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.observation.GpuBytes;
import dev.gpuwarden.watchdog.observation.ProcessKey;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PressureMonitorTest {

    private static final long MIB = 1 << 20;
    private static final long TICK = Duration.ofMillis(250).toNanos();

    private final PressureMonitor monitor = new PressureMonitor(PressureRules.DEFAULT, PressureState.NONE);
    private long now;

    private Pressure free(long mib, Tenant... tenants) {
        return free(mib * MIB, now, tenants);
    }

    private Pressure free(long bytes, long listedAt, Tenant... tenants) {
        now += TICK;
        return monitor.add(
                new GpuBytes(16384 * MIB, 0, 16384 * MIB - bytes, bytes),
                List.of(tenants),
                List.of(),
                now,
                listedAt,
                true);
    }

    private static Tenant tenant(String name, long budgetMib, long usedMib, int pid) {
        Set<ProcessKey> processes = pid == 0 ? Set.of() : Set.of(new ProcessKey(pid, 1));
        return new Tenant(
                name,
                name,
                name,
                Reading.of(budgetMib * MIB),
                Reading.of(usedMib * MIB),
                processes,
                0,
                Instant.EPOCH,
                Optional.empty(),
                false);
    }

    @Test
    void theFloorIsExclusiveAndNeedsTwoOfThreeReadings() {
        long floor = 1536 * MIB;
        for (int i = 0; i < 5; i++) {
            assertThat(free(floor, now).triggers()).isEmpty();
        }
        assertThat(free(floor - 1, now).triggers()).isEmpty();
        assertThat(free(floor, now).triggers()).isEmpty();
        assertThat(free(floor - 1, now).triggers()).containsExactly(Trigger.FLOOR);
    }

    @Test
    void pressureEndsHalfAMinuteAfterTheLastReadingWithoutMargin() {
        free(1000);
        assertThat(free(1000).triggers()).containsExactly(Trigger.FLOOR);
        for (int i = 0; i < 200; i++) {
            assertThat(free(1536 + 255).triggers()).containsExactly(Trigger.FLOOR);
        }
        for (int i = 0; i < 119; i++) {
            assertThat(free(1536 + 256).triggers()).as("reading %d", i).containsExactly(Trigger.FLOOR);
        }
        assertThat(free(1536 + 256).triggers()).isEmpty();
    }

    @Test
    void aSmallCardHasAFloorOfATenth() {
        assertThat(PressureRules.DEFAULT.floorOf(8192 * MIB)).isEqualTo(8192 * MIB / 10);
        assertThat(PressureRules.DEFAULT.floorOf(81920 * MIB)).isEqualTo(1536 * MIB);
    }

    @Test
    void aDeficitIsTheSumOfUnmetBudgets() {
        Tenant over = tenant("over", 1000, 9000, 1);
        Tenant half = tenant("half", 3000, 1000, 2);
        Tenant none = tenant("none", 2500, 0, 0);
        free(4499, over, half, none);
        Pressure pressure = free(4499, over, half, none);
        assertThat(pressure.triggers()).containsExactly(Trigger.DEFICIT);
        assertThat(pressure.promisedBytes()).isEqualTo(4500 * MIB);
        assertThat(pressure.deficitSinceNanos()).isEqualTo(2 * TICK);
    }

    @Test
    void brieflyLivingProcessesOfATenantThatHasItsBudgetAreNoFailedDemand() {
        for (int i = 1; i < 200; i++) {
            Tenant fed = tenant("fed", 2000, i % 2 == 0 ? 1700 : 1600, i % 2 == 0 ? i : 0);
            assertThat(free(2000, fed, tenant("starved", 5000, 0, 0)).starved()).isEmpty();
        }
    }

    @Test
    void failedAttemptsAreForgottenAfterFiveMinutes() {
        for (int i = 1; i <= 3; i++) {
            free(2000, tenant("model", 5000, 300, i));
            free(2000, tenant("model", 5000, 0, 0));
        }
        assertThat(free(2000).starved()).containsExactly("model");
        now += Duration.ofMinutes(6).toNanos();
        assertThat(free(2000).starved()).isEmpty();
    }

    @Test
    void rulesWithoutSenseAreRefused() {
        PressureRules good = PressureRules.DEFAULT;
        assertThatThrownBy(() -> new PressureRules(
                        good.triggers(),
                        good.floorBytes(),
                        good.floorShare(),
                        good.marginBytes(),
                        3,
                        4,
                        good.leaveAfter(),
                        good.attempts(),
                        good.attemptsWithin(),
                        good.attemptLasts(),
                        good.starvedShare(),
                        good.reservationWaits()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("expected 1 to 64 samples and at most as many below the limit, seen 4 of 3");
    }
}
