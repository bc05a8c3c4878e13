package dev.gpuwarden.watchdog.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.decision.Card.Resident;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Readings of a T4 that cannot all be true: tenants that claim more than there is. */
class ContradictionsTest {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final Consumer<Duration> NOTHING = now -> {};
    private static final long MIB = 1 << 20;

    private final Card card = new Card(15360, 0);

    /** Fills the card with tenants within their budgets, up to less than the floor. */
    private Resident innocent() {
        card.add("a", 6000, 5900);
        card.add("b", 6000, 5900);
        return card.add("innocent", 3000, 2500);
    }

    private void isBlindAloud(String reason) {
        assertThat(card.until(Verdict.RECYCLE, HOUR, NOTHING)).isEmpty();
        assertThat(card.last().verdict()).isEqualTo(Verdict.BLIND);
        assertThat(card.last().reason()).isEqualTo(reason);
        assertThat(card.last().wantsTenants()).as("a new list may be right").isTrue();
    }

    @Test
    void oneProcessThatClaimsMoreThanTheCardBlindsTheWatchdog() {
        innocent().claims = Optional.of(Reading.of(4L << 40));
        isBlindAloud("the readings contradict each other: innocent claims 4194304 MiB of a card that has 15360 MiB");
    }

    @Test
    void claimsThatExceedTheMemoryInUseBlindTheWatchdog() {
        innocent().claims = Optional.of(Reading.of(7300 * MIB));
        isBlindAloud("the readings contradict each other: the tenants claim 19100 MiB, and 14300 MiB were in use");
    }

    @Test
    void oneClaimAboveTheMemoryInUseBlindsTheWatchdog() {
        card.add("a", 6000, 100);
        card.add("b", 16000, 300).claims = Optional.of(Reading.of(15000 * MIB));
        isBlindAloud("the readings contradict each other: the tenants claim 15100 MiB, and 400 MiB were in use");
    }

    @Test
    void sumsBeyondTheRangeOfANumberAreNoSmallOnes() {
        innocent();
        card.residents.values().forEach(each -> each.claims = Optional.of(Reading.of(Long.MAX_VALUE)));
        isBlindAloud("the readings contradict each other: a claims 8796093022207 MiB of a card that has 15360 MiB");
    }

    @Test
    void budgetsBeyondTheRangeOfANumberPromiseAllThereIs() {
        card.add("a", Long.MAX_VALUE >> 20, 0);
        card.add("b", Long.MAX_VALUE >> 20, 0);
        card.add("c", Long.MAX_VALUE >> 20, 0);
        assertThat(card.until(Verdict.DEFICIT_GRACE, Duration.ofSeconds(5), NOTHING))
                .as("no tenant is over its budget")
                .isEmpty();
        assertThat(card.last().pressure().orElseThrow().promisedBytes()).isEqualTo(Long.MAX_VALUE);
    }

    @Test
    void aUseThatTheDriverMadeUpBlindsTheWatchdog() {
        innocent().claims = Optional.of(Reading.absent(Absence.IMPLAUSIBLE, 0, "nvml"));
        isBlindAloud("the use of innocent is implausible: nvml: the value is implausible");
    }

    @Test
    void anOffenderMustBeOverItsBudgetByMoreThanTheTenantsClaimTooMuch() {
        Resident offender = innocent();
        // 250 MiB too much: less than the slack.
        offender.claims = Optional.of(Reading.of(2750 * MIB));
        offender.budgetMib = 2550;
        assertThat(card.until(Verdict.RECYCLE, HOUR, NOTHING)).isEmpty();
        assertThat(card.last().verdict()).isEqualTo(Verdict.CAPPED);
        assertThat(card.last().ranking().get(0).spared())
                .contains("the tenants claim 250 MiB more than is in use, so it may be within its budget");
        offender.budgetMib = 1000;
        assertThat(card.until(Verdict.RECYCLE, Duration.ofMinutes(1), NOTHING)).isPresent();
    }

    @Test
    void memoryThatATenantAllocatesBetweenReadingAndListIsNoContradiction() {
        card.tick();
        Resident model = card.add("model", 9000, 8000);
        model.usedMib = 1;
        model.claims = Optional.of(Reading.of(8000 * MIB));
        card.until(Verdict.BLIND, Duration.ofSeconds(20), NOTHING);
        model.usedMib = 8000;
        assertThat(card.tick().verdict()).isEqualTo(Verdict.CALM);
    }

    @Test
    void memoryThatIsFreedAfterAListIsNoContradiction() {
        Resident model = card.add("model", 9000, 8000);
        card.tick();
        model.usedMib = 100;
        assertThat(card.until(Verdict.BLIND, HOUR, NOTHING)).isEmpty();
    }

    @Test
    void memoryOfUnknownUseMayBeTheCause() {
        Resident silent = card.add("silent", 0, 9900);
        silent.claims = Optional.of(Reading.absent(Absence.NOT_SUPPORTED));
        card.add("b", 2900, 2900);
        card.add("offender", 1000, 1100);
        assertThat(card.until(Verdict.RECYCLE, HOUR, NOTHING)).isEmpty();
        assertThat(card.last().verdict()).isEqualTo(Verdict.UNATTRIBUTED);
        assertThat(card.last().reason())
                .endsWith("9900 MiB have no known owner, more than offender is over its budget");
    }
}
