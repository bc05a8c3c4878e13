package dev.gpuwarden.watchdog.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.watchdog.decision.Card.Resident;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import dev.gpuwarden.watchdog.pressure.Trigger;
import java.time.Duration;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** The two incidents of facts/vram.md on a Tesla T4, with their published amounts, and states that were no incident. */
class IncidentsTest {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Consumer<Duration> NOTHING = now -> {};

    /** The T4 with the residents that were measured on 2026-06-17. */
    private final Card card = new Card(15360, 0);

    private final Resident ml = card.add("immich-ml", 3000, 2100);
    private final Resident llama = card.add("llama-swap", 5000, 0);
    private final Resident frigate = card.add("frigate", 2000, 1900);
    private final Resident server = card.add("immich-server", 1800, 1200);

    /** A model that is loaded by a new process every 8 s, which fails and lives for 3 s. */
    private Consumer<Duration> loads(long wantedMib, long[] firstFailure) {
        return now -> {
            long second = now.toSeconds() % 8;
            if (second == 0) {
                llama.restart(300);
                assertThat(card.freeMib()).isLessThan(wantedMib);
                firstFailure[0] = firstFailure[0] == 0 ? now.toSeconds() : firstFailure[0];
            } else if (second == 3) {
                llama.usedMib = 0;
            }
        };
    }

    private void othersOf0602() {
        frigate.usedMib = 1700;
        server.usedMib = 145;
    }

    @Test
    void theGrowthOf0602IsStoppedBeforeItsEnd() {
        othersOf0602();
        // 2.0 to 10.7 GiB in 24 minutes.
        Decision recycle = card.until(
                        Verdict.RECYCLE,
                        Duration.ofMinutes(24),
                        now -> ml.usedMib = 2048 + now.toSeconds() * 8678 / 1440)
                .orElseThrow();
        assertThat(recycle.recycled().map(Tenant::name)).contains("immich-ml");
        assertThat(recycle.pressure().orElseThrow().triggers()).containsExactly(Trigger.DEFICIT);
        assertThat(card.verdicts()).endsWith(Verdict.DEFICIT_GRACE, Verdict.RECYCLE);
    }

    @Test
    void theStarvationOf0602EndsWithItsCulprit() {
        othersOf0602();
        ml.usedMib = 10726;
        assertThat(card.freeMib()).isEqualTo(2789).isGreaterThan(1536);
        long[] failed = new long[1];
        Decision recycle =
                card.until(Verdict.RECYCLE, HOUR, loads(4455, failed)).orElseThrow();
        assertThat(recycle.recycled().map(Tenant::name)).contains("immich-ml");
        assertThat(recycle.pressure().orElseThrow().triggers()).contains(Trigger.DEMAND);
        assertThat(card.now().toSeconds() - failed[0]).isLessThanOrEqualTo(60);
        assertThat(recycle.reason())
                .contains("failed allocations of llama-swap", "immich-ml uses 10726 MiB of a budget of 3000 MiB");
    }

    @Test
    void theCollisionOf0707EndsWithItsCulpritAndTheVictimsBudgetIsTooSmall() {
        // It once ran with 6996 MiB on an emptier card.
        llama.usedMib = 6996;
        card.until(Verdict.RECYCLE, Duration.ofMinutes(1), NOTHING);
        llama.usedMib = 0;
        ml.usedMib = 6750;
        long[] failed = new long[1];
        Decision recycle =
                card.until(Verdict.RECYCLE, HOUR, loads(6996, failed)).orElseThrow();
        assertThat(recycle.recycled().map(Tenant::name)).contains("immich-ml");
        assertThat(card.now().toSeconds() - failed[0]).isLessThanOrEqualTo(60);
        assertThat(recycle.notices())
                .containsExactly("the budget of llama-swap is too small: 5000 MiB, but it has used 6996 MiB");
    }

    @Test
    void theSpecifiedFloorAloneMissesBoth() {
        Card floor = new Card(15360, 0, floorAlone());
        floor.add("immich-ml", 3000, 10726);
        floor.add("llama-swap", 5000, 0);
        floor.add("others", 3800, 1845);
        assertThat(floor.until(Verdict.RECYCLE, HOUR, NOTHING)).isEmpty();
        assertThat(floor.verdicts()).containsExactly(Verdict.CALM);
    }

    private static PressureRules floorAlone() {
        PressureRules rules = PressureRules.DEFAULT;
        return new PressureRules(
                Set.of(Trigger.FLOOR),
                rules.floorBytes(),
                rules.floorShare(),
                rules.marginBytes(),
                rules.samples(),
                rules.least(),
                rules.leaveAfter(),
                rules.attempts(),
                rules.attemptsWithin(),
                rules.attemptLasts(),
                rules.starvedShare(),
                rules.reservationWaits());
    }

    @Test
    void theSteadyCardOf0617IsCalm() {
        llama.usedMib = 4455;
        card.add("portal-stt", 1500, 1500);
        assertThat(card.until(Verdict.RECYCLE, HOUR, NOTHING)).isEmpty();
        assertThat(card.verdicts()).containsExactly(Verdict.CALM);
    }

    @Test
    void aBurstIntoSlackIsCalm() {
        ml.usedMib = 4000;
        llama.usedMib = 4455;
        assertThat(card.until(Verdict.RECYCLE, HOUR, NOTHING)).isEmpty();
        assertThat(card.verdicts()).containsExactly(Verdict.CALM);
    }

    @Test
    void aDeficitWithoutAFailedLoadAlertsImmediatelyAndRecyclesAfterTenMinutes() {
        ml.usedMib = 10000;
        Decision alert = card.until(Verdict.DEFICIT_GRACE, Duration.ofSeconds(1), NOTHING)
                .orElseThrow();
        assertThat(alert.reason()).contains("2260 MiB free", "budgets promise 5700 MiB more");
        assertThat(card.until(Verdict.RECYCLE, Duration.ofMinutes(9), NOTHING)).isEmpty();
        assertThat(card.until(Verdict.RECYCLE, Duration.ofMinutes(2), NOTHING)).isPresent();
    }

    @Test
    void aBreachedFloorIsDecidedWithinASecond() {
        card.tick();
        ml.usedMib = 10726;
        llama.usedMib = 1000;
        Duration before = card.now();
        Decision recycle =
                card.until(Verdict.RECYCLE, Duration.ofMinutes(1), NOTHING).orElseThrow();
        assertThat(recycle.pressure().orElseThrow().has(Trigger.FLOOR)).isTrue();
        assertThat(card.now().minus(before)).isLessThanOrEqualTo(Duration.ofSeconds(1));
    }
}
