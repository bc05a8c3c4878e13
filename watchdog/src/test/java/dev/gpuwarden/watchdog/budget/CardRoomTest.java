package dev.gpuwarden.watchdog.budget;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CardRoomTest {

    private static final long MIB = 1L << 20;

    @Test
    void twoHalvesAreNoWhole() {
        List<CardRoom> cards = List.of(card("GPU-0", 13000, 8000), card("GPU-1", 13000, 8200));
        assertThat(CardRoom.conflict(cards, 8000 * MIB))
                .hasValueSatisfying(conflict -> assertThat(conflict.text())
                        .isEqualTo(
                                "a budget of 8000 MiB fits the node, which has room for 9800 MiB, but no card: the most is"
                                        + " 5000 MiB on GPU-0"));
    }

    @Test
    void noConflictWhereACardHasTheRoom() {
        assertThat(CardRoom.conflict(List.of(card("GPU-0", 13000, 8000), card("GPU-1", 13000, 5000)), 8000 * MIB))
                .isEmpty();
    }

    @Test
    void noConflictWhereTheNodeHasNoRoomEither() {
        assertThat(CardRoom.conflict(List.of(card("GPU-0", 13000, 8000), card("GPU-1", 13000, 8000)), 10001 * MIB))
                .isEmpty();
        assertThat(CardRoom.conflict(List.of(), MIB)).isEmpty();
    }

    @Test
    void anOverpromisedCardTakesRoomFromTheNode() {
        List<CardRoom> cards = List.of(card("GPU-0", 13000, 15000), card("GPU-1", 13000, 8000));
        assertThat(CardRoom.conflict(cards, 3001 * MIB)).isEmpty();
        assertThat(CardRoom.overpromised(cards)).containsExactly(cards.get(0));
    }

    @Test
    void findsEveryConflictAndNoOther() {
        Random random = new Random(17);
        int conflicts = 0;
        for (int i = 0; i < 50_000; i++) {
            List<CardRoom> cards = new ArrayList<>();
            for (int j = random.nextInt(8); j >= 0; j--) {
                cards.add(card("GPU-" + j, 1000, random.nextInt(1100)));
            }
            long wanted = (1 + random.nextInt(1200)) * MIB;
            long node = 0;
            boolean card = false;
            for (CardRoom one : cards) {
                node += one.forBudgetsBytes() - one.promisedBytes();
                card |= one.promisedBytes() + wanted <= one.forBudgetsBytes();
            }
            boolean expected = wanted <= node && !card;
            assertThat(CardRoom.conflict(cards, wanted).isPresent())
                    .as("%s on %s", wanted, cards)
                    .isEqualTo(expected);
            conflicts += expected ? 1 : 0;
        }
        assertThat(conflicts).isGreaterThan(1000);
    }

    private static CardRoom card(String name, long forBudgets, long promised) {
        return new CardRoom(name, forBudgets * MIB, promised * MIB);
    }
}
