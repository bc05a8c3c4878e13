package dev.gpuwarden.watchdog.decision;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.decision.Card.Resident;
import dev.gpuwarden.watchdog.observation.GpuObservation;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The check of a decision to recycle before it is carried out. */
@Timeout(value = 1, unit = TimeUnit.HOURS)
class StandingTest {

    /** -Dgpuwarden.acts=100000 is the full run. */
    private static final int ACTS = Integer.getInteger("gpuwarden.acts", 1000);

    private static final Consumer<Duration> NOTHING = now -> {};
    private static final Standing NEEDED = Standing.NEEDED;

    private final Card card = new Card(15360, 0);

    private Tenant chosen(Card on) {
        return on.until(Verdict.RECYCLE, Duration.ofSeconds(3), NOTHING)
                .flatMap(Decision::recycled)
                .orElseThrow();
    }

    private Standing later(Tenant tenant) {
        for (int i = 0; i < 5; i++) {
            card.tick();
        }
        return card.watchdog.standing(tenant);
    }

    @Test
    void aDecisionStandsWhileNothingChanges() {
        card.add("hog", 3000, 14500);
        Tenant hog = chosen(card);
        assertThat(card.watchdog.standing(hog)).isEqualTo(NEEDED);
        assertThat(later(hog)).isEqualTo(NEEDED);
        assertThat(card.last().verdict()).isEqualTo(Verdict.RELEASING);
    }

    @Test
    void aTenantThatGaveItsMemoryBackIsLeftAlone() {
        Resident hog = card.add("hog", 3000, 14500);
        card.add("batch", 0, 0);
        Tenant chosen = chosen(card);
        hog.usedMib = 2900;
        assertThat(later(chosen)).isEqualTo(Standing.over("12460 MiB free: enough by the last readings"));
        card.residents.get("batch").usedMib = 12000;
        assertThat(later(chosen)).isEqualTo(Standing.over("within its budget"));
    }

    @Test
    void aTenantThatIsGoneOrHasEndedIsLeftAlone() {
        Resident hog = card.add("hog", 3000, 14500);
        Tenant chosen = chosen(card);
        hog.restart(14500);
        assertThat(later(chosen)).isEqualTo(Standing.over("its processes have ended"));
        hog.id = "hog-2";
        assertThat(later(chosen)).isEqualTo(Standing.over("it is no tenant of the GPU any more"));
    }

    @Test
    void aTenantThatEndsByItselfOrWasExemptedIsLeftAlone() {
        Resident hog = card.add("hog", 3000, 14500);
        Tenant chosen = chosen(card);
        hog.exempt = Optional.of("an operator exempts it");
        assertThat(later(chosen)).isEqualTo(Standing.over("an operator exempts it"));
        hog.leaving = true;
        assertThat(later(chosen)).isEqualTo(Standing.over("it is ending"));
    }

    @Test
    void aBlindStateShowsNoReason() {
        card.add("hog", 3000, 14500);
        Tenant chosen = chosen(card);
        GpuObservation last = card.last().seen();
        card.decide(new GpuObservation(
                last.gpu(),
                last.atNanos() + Card.TICK_NANOS,
                last.sequence() + 1,
                Reading.absent(Absence.GPU_LOST),
                last.tenants(),
                last.tenantsAtNanos()));
        assertThat(card.watchdog.standing(chosen).state()).isEqualTo(Standing.State.UNKNOWN);
    }

    @Test
    void noActIsWithoutItsReasonAtThatMoment() {
        Random random = new Random(37);
        int acts = 0;
        int withheld = 0;
        for (int i = 0; i < ACTS; i++) {
            Card one = new Card(15360, 0);
            one.add("batch", 0, random.nextInt(3000));
            one.add("model", 5000, random.nextInt(4000));
            one.add("hog", 1000 + random.nextInt(2000), 0).usedMib = one.freeMib() - random.nextInt(1500);
            Tenant chosen = chosen(one);
            for (int step = random.nextInt(6); step > 0; step--) {
                change(one, random);
                for (int tick = random.nextInt(12); tick >= 0; tick--) {
                    one.tick();
                }
            }
            // A change that no list shows yet cannot be seen.
            while (one.last().seen().tenantsAtNanos() != one.last().seen().atNanos()) {
                one.tick();
            }
            if (one.watchdog.standing(chosen).equals(NEEDED)) {
                acts++;
                assertThat(reason(one, chosen))
                        .as("sequence %d: %s", i, one.last())
                        .isTrue();
            } else {
                withheld++;
            }
        }
        System.out.println(ACTS + " decisions: " + acts + " acts, " + withheld + " withheld");
        assertThat(acts).isGreaterThan(ACTS / 10);
        assertThat(withheld).isGreaterThan(ACTS / 10);
    }

    private static void change(Card card, Random random) {
        List<Resident> all = List.copyOf(card.residents.values());
        Resident one = all.get(random.nextInt(all.size()));
        long room = Math.max(0, card.freeMib()) + one.usedMib;
        switch (random.nextInt(8)) {
            case 0, 1 -> one.usedMib = random.nextInt((int) room + 1);
            case 2 -> one.usedMib = one.usedMib / 2;
            case 3 -> one.restart(one.usedMib);
            case 4 -> one.leaving = random.nextBoolean();
            case 5 -> one.budgetMib = one.budgetMib == 0 ? 0 : 500 + random.nextInt(9000);
            case 6 -> one.claims = random.nextBoolean() ? Optional.empty() : Optional.of(Reading.of(one.usedMib << 22));
            default -> one.id = one.id + "-again";
        }
    }

    /** The oracle: the card as it is, and not as it is listed. */
    private static boolean reason(Card card, Tenant chosen) {
        Resident now = card.residents.get(chosen.name());
        boolean same = now.id.equals(chosen.id()) && chosen.processes().contains(now.process) && !now.leaving;
        long promised = card.residents.values().stream()
                .filter(each -> !each.leaving)
                .mapToLong(each -> Math.max(0, each.budgetMib - each.usedMib))
                .sum();
        boolean isShort = card.freeMib() < 1536 || card.freeMib() < promised;
        return same && isShort && now.budgetMib > 0 && now.usedMib > now.budgetMib;
    }
}
