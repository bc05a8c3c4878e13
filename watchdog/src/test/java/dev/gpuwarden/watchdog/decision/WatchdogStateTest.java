package dev.gpuwarden.watchdog.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Reservation;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import dev.gpuwarden.watchdog.pressure.PressureState;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Test;

class WatchdogStateTest {

    private static final long SECOND = Duration.ofSeconds(1).toNanos();

    private final Random random = new Random(22);
    private final Set<Verdict> seen = EnumSet.noneOf(Verdict.class);

    @Test
    void aRestoredWatchdogDecidesAsTheOriginal() {
        for (int i = 0; i < 60; i++) {
            Card card = new Card(15360, 0);
            for (int tenant = 0; tenant < 4; tenant++) {
                card.add("tenant-" + tenant, 1000 + random.nextInt(6000), random.nextInt(4000));
            }
            compare(card);
        }
        // No deficit of these cards lasts for ten minutes, after which a recycle may be futile.
        assertThat(seen).containsAll(EnumSet.complementOf(EnumSet.of(Verdict.FUTILE)));
    }

    private void compare(Card card) {
        GpuWatchdog twin = restored(WatchdogState.NONE);
        for (int tick = 0; tick < 1500; tick++) {
            if (tick % 8 == 0) {
                change(card);
            }
            WatchdogState before = card.watchdog.state();
            Decision decision = tick > 0 && random.nextInt(50) == 0
                    ? card.decide(bad(card.last().seen()))
                    : card.tick();
            seen.add(decision.verdict());
            assertThat(GpuWatchdog.decide(PressureRules.DEFAULT, RecycleRules.DEFAULT, before, decision.seen()))
                    .isEqualTo(decision);
            assertThat(twin.decide(decision.seen())).isEqualTo(decision);
            if (random.nextInt(20) == 0) {
                twin = restored(twin.state());
            }
        }
    }

    private static GpuWatchdog restored(WatchdogState state) {
        RecycleHistory history = new RecycleHistory(RecycleRules.DEFAULT, state.history());
        return new GpuWatchdog(PressureRules.DEFAULT, RecycleRules.DEFAULT, history, state);
    }

    /** Lets one tenant grow, shrink, fail to load, end or return, or hides it, or lets time pass. */
    private void change(Card card) {
        List<Card.Resident> all = List.copyOf(card.residents.values());
        Card.Resident one = all.get(random.nextInt(all.size()));
        long room = Math.max(0, card.freeMib()) + one.usedMib;
        switch (random.nextInt(11)) {
            case 0, 1 -> one.usedMib = Math.min(room, one.usedMib + random.nextInt(6000));
            case 2 -> one.usedMib = one.usedMib / 2;
            case 3, 4, 5 -> one.restart(Math.min(room, random.nextInt(300)));
            case 6 -> one.usedMib = 0;
            case 7 -> one.leaving = !one.leaving && random.nextInt(4) == 0;
            case 8 -> {
                if (!card.hidden.remove(one.name) && random.nextInt(4) == 0) {
                    card.hidden.add(one.name);
                }
            }
            case 9 ->
                card.reservations = random.nextInt(3) == 0
                        ? List.of()
                        : List.of(new Reservation(
                                1,
                                one.id,
                                random.nextInt(6000) << 20,
                                0,
                                card.now().toNanos() - random.nextInt(30) * SECOND,
                                random.nextInt(4) == 0,
                                false,
                                random.nextInt(4) == 0));
            default -> card.pass(Duration.ofSeconds(random.nextInt(8) == 0 ? 600 : 0));
        }
    }

    /** Returns an observation without memory, or one that is not newer. */
    private GpuObservation bad(GpuObservation last) {
        return random.nextBoolean()
                ? last
                : new GpuObservation(
                        last.gpu(),
                        last.atNanos(),
                        last.sequence() + 1,
                        Reading.absent(Absence.GPU_LOST),
                        last.tenants(),
                        last.tenantsAtNanos());
    }

    @Test
    void aRestartForgetsPressureAndRemembersRecycles() {
        Card card = new Card(15360, 0);
        card.add("offender", 1000, 14500);
        Decision recycle =
                card.until(Verdict.RECYCLE, Duration.ofSeconds(2), now -> {}).orElseThrow();
        WatchdogState after = card.watchdog.state();
        long shift = -3 * SECOND;
        WatchdogState restart = after.afterRestart(shift);
        assertThat(restart.pressure()).isEqualTo(PressureState.NONE);
        assertThat(restart.newest()).isEmpty();
        assertThat(restart.endings())
                .isEqualTo(Map.of(
                        "offender-1", new WatchdogState.Ending(recycle.seen().atNanos() + shift, true)));
        assertThat(restart.peaks()).isEqualTo(Map.of("offender", 14500L << 20));
        assertThat(restart.history().lastHourNanos())
                .containsExactly(recycle.seen().atNanos() + shift);
        assertThat(restart.history().byWorkload())
                .isEqualTo(
                        Map.of("offender", new RecycleHistory.Row(recycle.seen().atNanos() + shift, 1)));
    }

    @Test
    void aRestartLeadsToNoRecycleThatWouldNotHaveBeen() {
        RecycleHistory history = new RecycleHistory(RecycleRules.DEFAULT);
        for (int i = 0; i < RecycleRules.DEFAULT.mostPerHour(); i++) {
            history.add("workload-" + i, i * SECOND);
        }
        RecycleHistory restored =
                new RecycleHistory(RecycleRules.DEFAULT, history.state().shifted(-2 * SECOND));
        long hour = 3600 * SECOND;
        assertThat(restored.refusal(hour - 2 * SECOND - 1))
                .isEqualTo(history.refusal(hour - 1))
                .isPresent();
        assertThat(restored.refusal(hour - 2 * SECOND)).isEmpty();
        assertThat(restored.refusal("workload-5", 100 * SECOND)).isPresent();
    }
}
