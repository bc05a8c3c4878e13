package dev.gpuwarden.watchdog.budget;

import dev.gpuwarden.core.util.Mib;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * The room for budgets on one card. The scheduler has the sum of a node's cards alone, so a pod can fit on the node and on
 * none of its cards.
 *
 * @param card UUID
 * @param forBudgetsBytes its part of the amount that the node advertises
 * @param promisedBytes budgets of the pods that have it
 */
public record CardRoom(String card, long forBudgetsBytes, long promisedBytes) {

    /**
     * A pod that the scheduler puts on a node without a card for it.
     *
     * @param nodeRoomBytes room on all cards together
     * @param largest the card with the most room
     */
    public record Conflict(long wantedBytes, long nodeRoomBytes, CardRoom largest) {

        /** Returns the conflict in words. */
        public String text() {
            return "a budget of " + Mib.text(wantedBytes) + " fits the node, which has room for "
                    + Mib.text(nodeRoomBytes) + ", but no card: the most is " + Mib.text(largest.roomBytes()) + " on "
                    + largest.card();
        }
    }

    /** Returns the room; 0 where more is promised than the card has for budgets. */
    public long roomBytes() {
        return Math.max(0, forBudgetsBytes - promisedBytes);
    }

    /**
     * Returns the conflict of a pod that needs this amount on one card; empty where a card has the room, and where the scheduler
     * does not place it on the node either.
     *
     * @param cards all cards of the node
     */
    public static Optional<Conflict> conflict(List<CardRoom> cards, long wantedBytes) {
        // Like the scheduler: a card with more promised than it has takes room from the sum.
        long node = cards.stream()
                .mapToLong(card -> card.forBudgetsBytes() - card.promisedBytes())
                .sum();
        return cards.stream()
                .max(Comparator.comparingLong(CardRoom::roomBytes))
                .filter(largest -> wantedBytes <= node && wantedBytes > largest.roomBytes())
                .map(largest -> new Conflict(wantedBytes, node, largest));
    }

    /**
     * Returns the cards with more promised than they have for budgets: the pods on them fitted the node together.
     *
     * @param cards all cards of the node
     */
    public static List<CardRoom> overpromised(List<CardRoom> cards) {
        return cards.stream()
                .filter(card -> card.promisedBytes() > card.forBudgetsBytes())
                .toList();
    }
}
