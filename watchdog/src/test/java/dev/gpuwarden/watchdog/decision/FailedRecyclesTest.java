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

    private void end(Tenant tenant, boolean failed) {
        card.watchdog.notRecycled(tenant, failed, card.now().toNanos());
    }

    @Test
    void aFailedAttemptIsNoRecycle() {
        Tenant hog = next(HOUR);
        assertThat(card.history.state().lastHourNanos()).hasSize(1);
        end(hog, true);
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
        end(again, true);
        assertThat(card.history.state().byWorkload().get("hog").returns()).isEqualTo(1);
        assertThat(card.history.state().lastHourNanos()).hasSize(1);
        assertThat(hog.workload()).isEqualTo(again.workload());
    }

    /** An attempt that failed may have an effect later, so the second offender waits as it does for a tenant that ends. */
    @Test
    void anotherOffenderIsRecycledOnceTheFirstCannotBe() {
        Tenant hog = next(HOUR);
        assertThat(hog.name()).isEqualTo("hog");
        end(hog, true);
        assertThat(nextWithin(Duration.ofSeconds(55))).isEmpty();
        assertThat(card.last().verdict()).isEqualTo(Verdict.RELEASING);
        assertThat(next(Duration.ofSeconds(10)).name()).isIn("hog", "second");
    }

    @Test
    void failuresInARowWaitForDoubledTimesUpToTheCooldown() {
        spareTheSecond();
        List<Long> pauses = new ArrayList<>();
        Tenant hog = next(HOUR);
        for (int i = 0; i < 7; i++) {
            Duration failed = card.now();
            end(hog, true);
            hog = next(HOUR);
            pauses.add(card.now().minus(failed).toSeconds());
        }
        assertThat(pauses).containsExactly(60L, 120L, 240L, 480L, 600L, 600L, 600L);
        end(hog, true);
        card.tick();
        assertThat(card.history.refusal("hog", card.now().toNanos()))
                .hasValueSatisfying(why -> assertThat(why)
                        .startsWith(
                                "8 attempts to recycle it failed, the last one 0 s ago; the next one is after 600 s"));
    }

    @Test
    void aRecycleEndsTheRowOfFailures() {
        spareTheSecond();
        end(next(HOUR), true);
        next(HOUR);
        card.residents.get("hog").restart(11_900);
        end(next(HOUR), true);
        assertThat(card.history.state().undone().get("hog").failures()).isEqualTo(1);
    }

    /** A refusal before an attempt does not show that the next one would fail. */
    @Test
    void aWithheldRecycleIsNeitherARecycleNorAFailure() {
        spareTheSecond();
        for (int i = 0; i < 4; i++) {
            Tenant hog = next(Duration.ofSeconds(70));
            end(hog, false);
            assertThat(card.history.state().lastHourNanos()).isEmpty();
            assertThat(card.history.state().undone().get("hog").failures()).isZero();
            assertThat(nextWithin(Duration.ofSeconds(55))).isEmpty();
            assertThat(card.last().verdict()).isEqualTo(Verdict.CAPPED);
        }
    }

    @Test
    void theStateOfAnotherProgramKeepsThePause() {
        Tenant hog = next(HOUR);
        end(hog, true);
        WatchdogState after = card.watchdog.state().afterRestart(5_000_000_000L);
        RecycleHistory later = new RecycleHistory(RecycleRules.DEFAULT, after.history());
        long now = card.now().toNanos() + 5_000_000_000L;
        assertThat(later.refusal("hog", now)).isPresent();
        assertThat(later.refusal("hog", now + Duration.ofSeconds(60).toNanos())).isEmpty();
    }
}
