package dev.gpuwarden.watchdog.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.watchdog.decision.Card.Resident;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

class GpuWatchdogTest {

    private static final Consumer<Duration> NOTHING = now -> {};

    private final Card card = new Card(16384, 384);

    /** Lets the floor be breached by these tenants, and returns the decision of the next seconds. */
    private Decision underPressure() {
        for (int i = 0; i < 8; i++) {
            card.tick();
        }
        return card.tick();
    }

    private Optional<String> nextRecycled(Duration most) {
        return card.until(Verdict.RECYCLE, most, NOTHING)
                .flatMap(Decision::recycled)
                .map(Tenant::name);
    }

    private static String spared(Decision decision, String name) {
        return decision.ranking().stream()
                .filter(candidate -> candidate.tenant().name().equals(name))
                .findFirst()
                .flatMap(Candidate::spared)
                .orElseThrow();
    }

    @Test
    void theLargestUseOverBudgetGoesFirst() {
        card.add("small", 1000, 4000);
        card.add("large", 6000, 10500);
        assertThat(nextRecycled(Duration.ofSeconds(2))).contains("large");
    }

    @Test
    void amongEqualOffendersTheShareOfTheBudgetThenThePriorityDecides() {
        card.add("a", 4000, 7500);
        card.add("b", 3500, 7000);
        assertThat(nextRecycled(Duration.ofSeconds(2))).contains("b");
        Card other = new Card(16384, 384);
        other.add("a", 4000, 7500).priority = 5;
        other.add("b", 4000, 7500).priority = 1;
        assertThat(other.until(Verdict.RECYCLE, Duration.ofSeconds(2), NOTHING)
                        .flatMap(Decision::recycled)
                        .map(Tenant::name))
                .contains("b");
    }

    @Test
    void useWithinTheToleranceIsNoOffence() {
        card.add("portal-stt", 1500, 1536);
        card.add("unbudgeted", 0, 13500);
        Decision decision = underPressure();
        assertThat(decision.verdict()).isEqualTo(Verdict.NOBODY_OVER);
        assertThat(decision.reason()).contains("964 MiB free, floor 1536 MiB", "no tenant is over its budget");
        card.residents.get("portal-stt").usedMib = 1600;
        assertThat(nextRecycled(Duration.ofSeconds(2))).contains("portal-stt");
    }

    @Test
    void exemptAndEndingTenantsAreSpared() {
        card.add("critical", 1000, 8000).exempt = Optional.of("its priority is that of system pods");
        card.add("none", 0, 7500);
        Decision decision = underPressure();
        assertThat(decision.verdict()).isEqualTo(Verdict.CAPPED);
        assertThat(spared(decision, "critical")).isEqualTo("its priority is that of system pods");
        assertThat(spared(decision, "none")).startsWith("no budget");
        Resident offender = card.add("offender", 100, 300);
        offender.leaving = true;
        assertThat(nextRecycled(Duration.ofSeconds(30))).isEmpty();
        assertThat(card.tick().verdict()).isEqualTo(Verdict.RELEASING);
        assertThat(nextRecycled(Duration.ofSeconds(40))).isEmpty();
        assertThat(card.tick().verdict()).isEqualTo(Verdict.NOT_RELEASED);
    }

    @Test
    void oneTenantIsRecycledAtATimeUntilItsMemoryIsBack() {
        Resident first = card.add("first", 1000, 9000);
        card.add("second", 1000, 6500);
        assertThat(nextRecycled(Duration.ofSeconds(2))).contains("first");
        assertThat(nextRecycled(Duration.ofSeconds(55))).isEmpty();
        assertThat(card.tick().reason()).matches("the memory of first is not back after 5\\d s");
        first.usedMib = 8900;
        assertThat(nextRecycled(Duration.ofSeconds(20))).isEmpty();
        assertThat(card.tick().verdict()).isEqualTo(Verdict.NOT_RELEASED);
        card.residents.remove("first");
        card.add("third", 0, 8000);
        assertThat(nextRecycled(Duration.ofSeconds(20))).contains("second");
    }

    @Test
    void aWorkloadThatReturnsTwiceHasAWrongBudget() {
        card.add("offender", 1000, 15000);
        assertThat(nextRecycled(Duration.ofSeconds(2))).contains("offender");
        replace("offender");
        assertThat(nextRecycled(Duration.ofMinutes(9))).isEmpty();
        assertThat(spared(card.tick(), "offender"))
                .isEqualTo("it was recycled 9 min ago, and is left alone for 10 min");
        assertThat(nextRecycled(Duration.ofMinutes(2))).contains("offender");
        replace("offender");
        assertThat(nextRecycled(Duration.ofHours(5))).isEmpty();
        Decision decision = card.tick();
        assertThat(decision.verdict()).isEqualTo(Verdict.CAPPED);
        assertThat(spared(decision, "offender")).startsWith("its budget is wrong: 2 recycles did not help");
    }

    private void replace(String name) {
        Resident before = card.residents.remove(name);
        card.until(Verdict.CALM, Duration.ofMinutes(1), NOTHING);
        card.add(name, before.budgetMib, before.usedMib).id = name + "-" + card.now();
    }

    @Test
    void theRecyclesOfAnHourAreCapped() {
        for (int i = 0; i < RecycleRules.DEFAULT.mostPerHour(); i++) {
            card.add("job-" + i, 1000, 15000);
            assertThat(nextRecycled(Duration.ofMinutes(1))).contains("job-" + i);
            card.residents.clear();
            card.until(Verdict.CALM, Duration.ofMinutes(2), NOTHING);
        }
        card.add("next", 1000, 15000);
        Decision capped =
                card.until(Verdict.CAPPED, Duration.ofMinutes(1), NOTHING).orElseThrow();
        assertThat(capped.reason()).contains("the node had 6 recycles in the last hour, at most 6 are permitted");
        assertThat(nextRecycled(Duration.ofHours(1))).contains("next");
    }

    @Test
    void memoryWithoutAnOwnerIsBlamedOnNoTenant() {
        Resident ghost = card.add("ghost", 0, 13000);
        card.add("offender", 1000, 2500);
        card.hidden.add(ghost.name);
        Decision decision = underPressure();
        assertThat(decision.verdict()).isEqualTo(Verdict.UNATTRIBUTED);
        assertThat(decision.reason()).contains("13000 MiB have no known owner, more than offender is over its budget");
    }

    @Test
    void theStarvedWorkloadIsNotItsOwnCulprit() {
        card.add("other", 8000, 0);
        Resident old = card.add("model", 4000, 9000);
        Resident fresh = card.add("model-2", 4000, 0);
        fresh.workload = old.workload;
        assertThat(card.until(Verdict.RECYCLE, Duration.ofMinutes(9), now -> {
                    if (now.toSeconds() % 8 == 0) {
                        fresh.restart(300);
                    } else if (now.toSeconds() % 8 == 3) {
                        fresh.usedMib = 0;
                    }
                }))
                .isEmpty();
        assertThat(spared(card.tick(), "model")).isEqualTo("its own workload lacks the memory");
    }

    @Test
    void readingsAfterAGapCountFromTheBeginning() {
        card.tick();
        card.add("offender", 1000, 15000);
        assertThat(card.tick().verdict()).isEqualTo(Verdict.CALM);
        card.pass(Duration.ofSeconds(10));
        assertThat(card.tick().verdict()).isEqualTo(Verdict.STALE_TENANTS);
        assertThat(List.of(card.tick().verdict(), card.tick().verdict())).contains(Verdict.RECYCLE);
    }

    @Test
    void aVictimThatLoadsAfterTheRecycleIsNotRecycledForPressureThatIsPast() {
        Resident hog = card.add("hog", 3000, 13000);
        Resident victim = card.add("victim", 5000, 2000);
        assertThat(nextRecycled(Duration.ofSeconds(2))).contains("hog");
        hog.usedMib = 0;
        victim.usedMib = 5800;
        assertThat(nextRecycled(Duration.ofMinutes(2))).isEmpty();
        assertThat(card.verdicts()).contains(Verdict.RECOVERING).endsWith(Verdict.CALM);
    }

    @Test
    void aShortageThatIsOverIsNoReason() {
        Resident batch = card.add("batch", 0, 15000);
        Resident offender = card.add("offender", 400, 400);
        assertThat(underPressure().verdict()).isEqualTo(Verdict.NOBODY_OVER);
        batch.usedMib = 3000;
        offender.usedMib = 3000;
        assertThat(nextRecycled(Duration.ofMinutes(1))).isEmpty();
        assertThat(card.verdicts()).endsWith(Verdict.RECOVERING, Verdict.CALM);
    }

    @Test
    void aTenantThatIsBrieflyOverDoesNotInheritALongDeficit() {
        card.add("batch", 0, 8000);
        card.add("model", 6000, 0);
        Resident peaks = card.add("peaks", 2000, 2000);
        assertThat(nextRecycled(Duration.ofMinutes(20))).isEmpty();
        peaks.usedMib = 4000;
        assertThat(card.until(Verdict.DEFICIT_GRACE, Duration.ofSeconds(2), NOTHING))
                .isPresent();
        assertThat(nextRecycled(Duration.ofMinutes(9))).isEmpty();
        peaks.usedMib = 2000;
        assertThat(nextRecycled(Duration.ofSeconds(5))).isEmpty();
        peaks.usedMib = 4000;
        assertThat(nextRecycled(Duration.ofMinutes(9))).isEmpty();
        assertThat(nextRecycled(Duration.ofMinutes(2))).contains("peaks");
    }

    @Test
    void aRecycleThatHelpsNoShareIsFutile() {
        card.add("batch", 0, 11000);
        Resident model = card.add("model", 6000, 0);
        card.add("peaks", 2000, 3000);
        Consumer<Duration> crashes = now -> {
            if (now.toSeconds() % 8 == 0) {
                model.restart(300);
            } else if (now.toSeconds() % 8 == 3) {
                model.usedMib = 0;
            }
        };
        assertThat(card.until(Verdict.RECYCLE, Duration.ofMinutes(20), crashes)).isEmpty();
        assertThat(card.last().verdict()).isEqualTo(Verdict.FUTILE);
        assertThat(card.last().reason()).endsWith("no share that lacks memory would fit after a recycle");
    }

    @Test
    void aLoadWithinABudgetIsNoDeficit() {
        Resident model = card.add("model", 6000, 0);
        card.add("other", 0, 7000);
        underPressure();
        model.usedMib = 5500;
        assertThat(nextRecycled(Duration.ofMinutes(1))).isEmpty();
        assertThat(card.verdicts()).containsExactly(Verdict.CALM, Verdict.STALE_TENANTS, Verdict.CALM);
    }
}
