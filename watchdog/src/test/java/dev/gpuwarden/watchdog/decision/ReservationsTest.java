package dev.gpuwarden.watchdog.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.watchdog.decision.Card.Resident;
import dev.gpuwarden.watchdog.observation.Reservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import dev.gpuwarden.watchdog.pressure.Trigger;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** A tenant that asks for memory and waits, on a card that another one has filled beyond its budget. No allocation fails. */
class ReservationsTest {

    private static final Duration HOUR = Duration.ofHours(1);

    private final Card card = new Card(16384, 384);
    private final Resident hog = card.add("hog", 3000, 11_000);
    private final Resident victim = card.add("victim", 6000, 2000);

    private Reservation wants(Resident tenant, long mib) {
        return new Reservation(1, tenant.id, mib << 20, mib << 20, card.now().toNanos(), false, false, false);
    }

    private Optional<Decision> recycled(Duration most, Reservation... all) {
        card.reservations = List.of(all);
        return card.until(Verdict.RECYCLE, most, now -> {});
    }

    /** The budgets of both together fit, so 3000 MiB are free and 4000 MiB promised: a deficit, which alone waits ten minutes. */
    @Test
    void aTenantWithinItsBudgetWaitsForFifteenSecondsAndTheOffenderIsRecycled() {
        Duration begin = card.now();
        Decision recycle = recycled(HOUR, wants(victim, 3000)).orElseThrow();
        assertThat(recycle.recycled().map(Tenant::name)).contains("hog");
        assertThat(recycle.pressure().orElseThrow().triggers()).contains(Trigger.DEMAND);
        assertThat(recycle.pressure().orElseThrow().starved()).containsExactly("victim");
        assertThat(recycle.reason())
                .contains("no room for reservations of victim", "hog uses 11000 MiB of a budget of 3000 MiB");
        assertThat(card.now().minus(begin)).isBetween(Duration.ofSeconds(15), Duration.ofSeconds(17));
    }

    @Test
    void theFloorIsKeptForOthersAlsoWithoutADeficit() {
        hog.budgetMib = 9000;
        victim.budgetMib = 4000;
        Decision recycle = recycled(HOUR, wants(victim, 2000)).orElseThrow();
        assertThat(recycle.pressure().orElseThrow().triggers()).containsExactly(Trigger.DEMAND);
    }

    @Test
    void aShorterWaitIsNoEvidence() {
        for (int i = 0; i < 40; i++) {
            assertThat(recycled(Duration.ofSeconds(14), wants(victim, 3000))).isEmpty();
            card.reservations = List.of();
            card.tick();
        }
    }

    @Test
    void aRequestBeyondTheBudgetCausesNoRecycle() {
        hog.usedMib = 8000;
        assertThat(recycled(HOUR, wants(victim, 4001))).isEmpty();
        assertThat(card.verdicts()).containsExactly(Verdict.CALM);
    }

    @Test
    void aTenantWithoutABudgetMayWaitWithoutLimit() {
        victim.budgetMib = 0;
        assertThat(recycled(HOUR, wants(victim, 3000))).isEmpty();
        assertThat(card.verdicts()).containsExactly(Verdict.CALM);
    }

    @Test
    void aRequestThatAnotherGpuCouldServeIsNoEvidence() {
        victim.budgetMib = 5000;
        Reservation any = new Reservation(1, victim.id, 3000L << 20, 3000L << 20, 0, false, false, true);
        assertThat(recycled(HOUR, any)).isEmpty();
        assertThat(card.verdicts()).containsExactly(Verdict.CALM);
    }

    @Test
    void noTenantIsRecycledForARequestThatWouldStillNotFit() {
        victim.budgetMib = 5000;
        hog.budgetMib = 10_700;
        assertThat(recycled(HOUR, wants(victim, 3000))).isEmpty();
        assertThat(card.last().verdict()).isEqualTo(Verdict.DEFICIT_GRACE);
        assertThat(card.last().reason()).endsWith("no allocation failed that a recycle would help");
    }

    @Test
    void theWorkloadThatWaitsIsNotItsOwnCulprit() {
        hog.workload = victim.workload;
        assertThat(recycled(Duration.ofMinutes(9), wants(victim, 3000))).isEmpty();
        assertThat(card.last().verdict()).isEqualTo(Verdict.CAPPED);
    }

    @Test
    void aLongWaitCountsFromTheBeginningAfterAGap() {
        Reservation waits = wants(victim, 3000);
        card.reservations = List.of(waits);
        card.tick();
        card.pass(Duration.ofMinutes(1));
        card.tick();
        assertThat(card.last().pressure().orElseThrow().has(Trigger.DEMAND)).isFalse();
        assertThat(recycled(Duration.ofSeconds(1), waits)).isPresent();
    }
}
