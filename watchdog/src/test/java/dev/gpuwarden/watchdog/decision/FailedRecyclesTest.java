package dev.gpuwarden.watchdog.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Decisions to recycle that have no effect: the attempt fails, or it is withheld. */
class FailedRecyclesTest {

    private static final Duration HOUR = Duration.ofHours(1);

    private final Card card = new Card(15360, 0);

    /** Two tenants beyond their budgets, and 460 MiB free. */
    @BeforeEach
    void leak() {
        card.add("hog", 3000, 11_900);
        card.add("second", 1000, 3000);
    }

    private void spareTheSecond() {
        card.residents.get("second").exempt = Optional.of("the file of budgets exempts it");
    }

    private Tenant next(Duration most) {
        return nextWithin(most).orElseThrow();
    }

    private Optional<Tenant> nextWithin(Duration most) {
        return card.until(Verdict.RECYCLE, most, now -> {}).flatMap(Decision::recycled);
    }

    private void end(Tenant tenant, NotRecycled why) {
        card.watchdog.notRecycled(tenant, why, card.now().toNanos());
    }

    /** Ends seven decisions in a row, and returns the times until the next ones, in seconds. */
    private List<Long> pausesAfter(NotRecycled why) {
        List<Long> pauses = new ArrayList<>();
        Tenant hog = next(HOUR);
        for (int i = 0; i < 7; i++) {
            Duration ended = card.now();
            end(hog, why);
            hog = next(HOUR);
            pauses.add(card.now().minus(ended).toSeconds());
        }
        return pauses;
    }

    @Test
    void aFailedAttemptIsNoRecycle() {
        Tenant hog = next(HOUR);
        assertThat(card.history.state().lastHourNanos()).hasSize(1);
        end(hog, NotRecycled.FAILED);
        assertThat(card.history.state().lastHourNanos()).isEmpty();
        assertThat(card.history.state().byWorkload()).isEmpty();
    }

    @Test
    void aFailureTakesBackItsOwnRecycleAlone() {
        spareTheSecond();
        Tenant hog = next(HOUR);
        card.residents.get("hog").restart(11_900);
        Tenant again = next(HOUR);
        var before = card.history.state().byWorkload().get("hog");
        assertThat(before.returns()).isEqualTo(2);
        end(again, NotRecycled.FAILED);
        assertThat(card.history.state().byWorkload().get("hog").returns()).isEqualTo(1);
        assertThat(card.history.state().lastHourNanos()).hasSize(1);
        assertThat(hog.workload()).isEqualTo(again.workload());
    }

    /** An attempt that failed may have an effect later, so the second offender waits as it does for a tenant that ends. */
    @Test
    void anotherOffenderIsRecycledOnceTheFirstCannotBe() {
        Tenant hog = next(HOUR);
        assertThat(hog.name()).isEqualTo("hog");
        end(hog, NotRecycled.FAILED);
        assertThat(nextWithin(Duration.ofSeconds(55))).isEmpty();
        assertThat(card.last().verdict()).isEqualTo(Verdict.RELEASING);
        assertThat(next(Duration.ofSeconds(10)).name()).isIn("hog", "second");
    }

    /** A pod that its label spares, for example: its memory cannot come back, so the second offender does not wait for it. */
    @Test
    void anotherOffenderDoesNotWaitForARefusedOne() {
        Tenant hog = next(HOUR);
        end(hog, NotRecycled.REFUSED);
        assertThat(card.watchdog.state().endings()).isEmpty();
        assertThat(next(Duration.ofSeconds(1)).name()).isEqualTo("second");
    }

    @Test
    void refusalsInARowWaitForDoubledTimesAndAreNoFailures() {
        spareTheSecond();
        assertThat(pausesAfter(NotRecycled.REFUSED)).containsExactly(60L, 120L, 240L, 480L, 600L, 600L, 600L);
        end(card.last().recycled().orElseThrow(), NotRecycled.REFUSED);
        assertThat(card.history.state().undone().get("hog").failures()).isZero();
        assertThat(card.history.state().lastHourNanos()).isEmpty();
        assertThat(card.history.refusal("hog", card.now().toNanos()))
                .hasValueSatisfying(why -> assertThat(why)
                        .startsWith("its recycle was refused before an attempt, 8 in a row, the last one 0 s ago;"
                                + " the next one is after 600 s"));
    }

    @Test
    void failuresInARowWaitForDoubledTimesUpToTheCooldown() {
        spareTheSecond();
        assertThat(pausesAfter(NotRecycled.FAILED)).containsExactly(60L, 120L, 240L, 480L, 600L, 600L, 600L);
        end(card.last().recycled().orElseThrow(), NotRecycled.FAILED);
        card.tick();
        assertThat(card.history.refusal("hog", card.now().toNanos()))
                .hasValueSatisfying(why -> assertThat(why)
                        .startsWith(
                                "8 attempts to recycle it failed, the last one 0 s ago; the next one is after 600 s"));
    }

    @Test
    void aRecycleEndsTheRowOfFailures() {
        spareTheSecond();
        end(next(HOUR), NotRecycled.FAILED);
        next(HOUR);
        card.residents.get("hog").restart(11_900);
        end(next(HOUR), NotRecycled.FAILED);
        assertThat(card.history.state().undone().get("hog").failures()).isEqualTo(1);
    }

    /** A refusal before an attempt does not show that the next one would fail. */
    @Test
    void aWithheldRecycleIsNeitherARecycleNorAFailure() {
        spareTheSecond();
        for (int i = 0; i < 4; i++) {
            Tenant hog = next(Duration.ofSeconds(70));
            end(hog, NotRecycled.WITHHELD);
            assertThat(card.history.state().lastHourNanos()).isEmpty();
            assertThat(card.history.state().undone().get("hog").failures()).isZero();
            assertThat(nextWithin(Duration.ofSeconds(55))).isEmpty();
            assertThat(card.last().verdict()).isEqualTo(Verdict.CAPPED);
        }
    }

    @Test
    void theStateOfAnotherProgramKeepsThePause() {
        Tenant hog = next(HOUR);
        end(hog, NotRecycled.FAILED);
        WatchdogState after = card.watchdog.state().afterRestart(5_000_000_000L);
        RecycleHistory later = new RecycleHistory(RecycleRules.DEFAULT, after.history());
        long now = card.now().toNanos() + 5_000_000_000L;
        assertThat(later.refusal("hog", now)).isPresent();
        assertThat(later.refusal("hog", now + Duration.ofSeconds(60).toNanos())).isEmpty();
    }
}
