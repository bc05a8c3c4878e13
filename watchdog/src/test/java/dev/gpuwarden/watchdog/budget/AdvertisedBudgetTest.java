package dev.gpuwarden.watchdog.budget;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.watchdog.budget.AdvertisedBudget.None;
import dev.gpuwarden.watchdog.budget.AdvertisedBudget.Refused;
import dev.gpuwarden.watchdog.budget.AdvertisedBudget.Rules;
import dev.gpuwarden.watchdog.budget.AdvertisedBudget.Share;
import dev.gpuwarden.watchdog.budget.AdvertisedBudget.Unknown;
import dev.gpuwarden.watchdog.budget.AdvertisedBudget.Value;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AdvertisedBudgetTest {

    private static final long MIB = 1L << 20;
    private static final Rules RULES = new Rules(PressureRules.DEFAULT, 0, Optional.empty());
    private static final BudgetedCard T4 = card("GPU-t4", 15360, 450);
    private static final BudgetedCard H200 = card("GPU-h200", 143771, 640);

    @Test
    void computesTheAmountFromTheCard() {
        assertThat(mebibytes(RULES, T4)).isEqualTo(15360 - 450 - 1536);
        assertThat(mebibytes(RULES, H200)).isEqualTo(143771 - 640 - 1536);
    }

    @Test
    void addsUnlikeCardsWithTheFloorOfEach() {
        BudgetedCard small = card("GPU-small", 4096, 100);
        assertThat(mebibytes(RULES, T4, small)).isEqualTo(15360 - 450 - 1536 + (4096 * 9 / 10 - 100));
    }

    @Test
    void theLargestOfSeveralCardsIsNamed() {
        BudgetedCard small = card("GPU-small", 4096, 100);
        Rules fixed = new Rules(PressureRules.DEFAULT, 0, Optional.of(9000L));
        assertThat(largest(RULES, T4, small)).hasValue(15360 - 450 - 1536);
        assertThat(largest(RULES, T4)).as("it has all of the amount").isEmpty();
        assertThat(largest(fixed, T4, small)).as("an amount below each card").isEmpty();
    }

    private static OptionalLong largest(Rules rules, BudgetedCard... cards) {
        return ((Value) AdvertisedBudget.of(List.of(cards), rules)).largestCard();
    }

    @Test
    void slackComesFromEachCard() {
        Rules rules = new Rules(PressureRules.DEFAULT, 500 * MIB, Optional.empty());
        assertThat(mebibytes(rules, T4, T4)).isEqualTo(2 * (15360 - 450 - 1536 - 500));
    }

    @Test
    void refusesTheNumbersOfTheOriginalDeployment() {
        BudgetedCard original = card("GPU-t4", 15360, 0);
        Rules rules = new Rules(PressureRules.DEFAULT, 0, Optional.of(14000L));
        assertThat(AdvertisedBudget.of(List.of(original), rules))
                .isEqualTo(
                        new Refused(
                                "expected at most 13824 MiB for budgets, seen 14000 MiB, 176 MiB more: the node has"
                                        + " 15360 MiB, the driver's reserve is 0 MiB and the floor 1536 MiB; lower the amount or the floor"));
    }

    @Test
    void takesAFixedAmountThatFits() {
        Rules rules = new Rules(PressureRules.DEFAULT, 0, Optional.of(13374L));
        assertThat(mebibytes(rules, T4)).isEqualTo(13374);
        Rules more = new Rules(PressureRules.DEFAULT, 0, Optional.of(13375L));
        assertThat(AdvertisedBudget.of(List.of(T4), more)).isInstanceOf(Refused.class);
    }

    @Test
    void lowersAFixedAmountWhileACardIsLost() {
        Rules rules = new Rules(PressureRules.DEFAULT, 0, Optional.of(26000L));
        assertThat(mebibytes(rules, T4, T4)).isEqualTo(26000);
        assertThat(mebibytes(rules, T4, without("GPU-lost", Absence.GPU_LOST))).isEqualTo(13374);
    }

    @Test
    void refusesAFloorAndSlackThatLeaveNothing() {
        Rules rules = new Rules(PressureRules.DEFAULT, 14000 * MIB, Optional.empty());
        assertThat(AdvertisedBudget.of(List.of(T4), rules))
                .isEqualTo(
                        new Refused("GPU-t4: expected room for budgets, seen 15360 MiB: reserve 450 MiB, floor 1536 MiB"
                                + " and slack 14000 MiB are 626 MiB more; lower floor or slack"));
    }

    @Test
    void keepsTheOldAmountWhileAMemoryIsNotKnown() {
        assertThat(AdvertisedBudget.of(List.of(T4, without("GPU-new", Absence.PENDING)), RULES))
                .isEqualTo(new Unknown("GPU-new: memory: not read yet"));
        BudgetedCard noReserve = new BudgetedCard("GPU-1", Reading.of(15360 * MIB), Reading.absent(Absence.STALE));
        assertThat(AdvertisedBudget.of(List.of(noReserve), RULES)).isInstanceOf(Unknown.class);
    }

    @Test
    void aDriverThatStatesNoReserveHasNone() {
        BudgetedCard old = new BudgetedCard("GPU-1", Reading.of(15360 * MIB), Reading.absent(Absence.NO_SYMBOL));
        assertThat(mebibytes(RULES, old)).isEqualTo(13824);
    }

    @Test
    void cardsWithoutMemoryGiveNothing() {
        assertThat(mebibytes(RULES, T4, without("GPU-lost", Absence.GPU_LOST))).isEqualTo(13374);
        assertThat(mebibytes(RULES, without("GPU-unified", Absence.NOT_SUPPORTED), T4))
                .isEqualTo(13374);
    }

    @Test
    void aNodeWithoutMemoryToShareHasNoResource() {
        assertThat(AdvertisedBudget.of(List.of(), RULES)).isInstanceOf(None.class);
        assertThat(AdvertisedBudget.of(List.of(without("GPU-lost", Absence.GPU_LOST)), RULES))
                .isEqualTo(new None("no GPU has memory to share: memory: the GPU is lost"));
    }

    @Test
    void refusesNegativeSettings() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Rules(PressureRules.DEFAULT, -MIB, Optional.empty()))
                .withMessageContaining("-1 MiB");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new Rules(PressureRules.DEFAULT, 0, Optional.of(-5L)))
                .withMessageContaining("-5 MiB");
    }

    @Test
    void everyAmountFitsBesidesFloorAndReserve() {
        Random random = new Random(17);
        int values = 0;
        for (int i = 0; i < 20_000; i++) {
            List<BudgetedCard> cards = new ArrayList<>();
            long room = 0;
            for (int j = random.nextInt(4); j >= 0; j--) {
                long total = (1 + random.nextInt(300_000)) * MIB + random.nextInt((int) MIB);
                long reserve = random.nextInt(2000) * MIB + random.nextInt((int) MIB);
                cards.add(new BudgetedCard("GPU-" + j, Reading.of(total), Reading.of(reserve)));
                room += total - reserve - PressureRules.DEFAULT.floorOf(total);
            }
            Optional<Long> fixed =
                    random.nextInt(3) == 0 ? Optional.of((long) random.nextInt(400_000)) : Optional.empty();
            Rules rules = new Rules(PressureRules.DEFAULT, random.nextInt(500) * MIB, fixed);
            if (AdvertisedBudget.of(cards, rules) instanceof Value value) {
                values++;
                assertThat(value.mebibytes() * MIB).isLessThanOrEqualTo(room);
                if (fixed.isEmpty()) {
                    value.cards().forEach(AdvertisedBudgetTest::assertSharesAddUp);
                }
            }
        }
        assertThat(values).isGreaterThan(10_000);
    }

    private static void assertSharesAddUp(Share share) {
        BudgetedCard card = share.card();
        long parts = card.reservedBytes().asOptional().orElseThrow()
                + share.floorBytes()
                + share.slackBytes()
                + share.mebibytes() * MIB;
        assertThat(card.totalBytes().asOptional().orElseThrow() - parts).isBetween(0L, MIB - 1);
    }

    private static long mebibytes(Rules rules, BudgetedCard... cards) {
        return ((Value) AdvertisedBudget.of(List.of(cards), rules)).mebibytes();
    }

    private static BudgetedCard card(String name, long total, long reserved) {
        return new BudgetedCard(name, Reading.of(total * MIB), Reading.of(reserved * MIB));
    }

    private static BudgetedCard without(String name, Absence cause) {
        return new BudgetedCard(name, Reading.absent(cause), Reading.absent(cause));
    }
}
