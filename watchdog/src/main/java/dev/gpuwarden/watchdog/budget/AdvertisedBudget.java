package dev.gpuwarden.watchdog.budget;

import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.util.Mib;
import dev.gpuwarden.watchdog.pressure.PressureRules;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The amount of the extended resource that a node should have. With it, floor and the driver's own part fit into the physical
 * memory, or it is refused.
 */
public sealed interface AdvertisedBudget {

    /**
     * The amount.
     *
     * @param cards the origin of the amount; with a fixed amount their sum may be larger
     */
    record Value(long mebibytes, List<Share> cards) implements AdvertisedBudget {

        public Value {
            cards = List.copyOf(cards);
        }

        /** Returns the part of the amount that the largest card has; empty if one card has all of it. */
        public OptionalLong largestCard() {
            long largest = Math.min(
                    mebibytes, cards.stream().mapToLong(Share::mebibytes).max().orElse(mebibytes));
            return largest > 0 && largest < mebibytes ? OptionalLong.of(largest) : OptionalLong.empty();
        }
    }

    /** The node must not have the resource. */
    record None(String why) implements AdvertisedBudget {}

    /** The amount is not known now: the node keeps what it has. */
    record Unknown(String why) implements AdvertisedBudget {}

    /** The settings contradict each other: the node keeps what it has, and an operator must change them. */
    record Refused(String why) implements AdvertisedBudget {}

    /**
     * The part of one card. Physical memory is the sum of reserve, floor, slack and amount, up to 1 MiB.
     *
     * @param mebibytes 0 for a card without memory to share
     */
    record Share(BudgetedCard card, long floorBytes, long slackBytes, long mebibytes) {}

    /**
     * The settings.
     *
     * @param pressure the rules that have the floor
     * @param slackBytes memory of each card that no budget gets, besides floor and reserve
     * @param fixedMebibytes an amount for the node instead of a computed one
     */
    record Rules(PressureRules pressure, long slackBytes, Optional<Long> fixedMebibytes) {

        public Rules {
            if (slackBytes < 0 || fixedMebibytes.orElse(0L) < 0) {
                throw new IllegalArgumentException("expected a slack and an amount of at least 0, seen "
                        + Mib.text(slackBytes)
                        + fixedMebibytes.map(fixed -> " and " + fixed + " MiB").orElse(""));
            }
        }
    }

    static AdvertisedBudget of(NodeSnapshot node, Rules rules) {
        return node.driver() instanceof NodeSnapshot.DriverState.Running
                ? of(BudgetedCard.of(node), rules)
                : new Unknown("the driver does not answer");
    }

    /** Returns the amount for a node with these cards. */
    static AdvertisedBudget of(List<BudgetedCard> cards, Rules rules) {
        List<Share> shares = new ArrayList<>();
        for (BudgetedCard card : cards) {
            if (card.withoutMemory()) {
                shares.add(new Share(card, 0, 0, 0));
            } else if (card.totalBytes() instanceof Reading.Present<Long> total
                    && card.reserve() instanceof Reading.Present<Long> reserve) {
                long floor = rules.pressure().floorOf(total.value());
                long rest = total.value() - reserve.value() - floor - rules.slackBytes();
                if (rest < 0) {
                    return new Refused(card.name() + ": expected room for budgets, seen " + Mib.text(total.value())
                            + ": reserve "
                            + Mib.text(reserve.value()) + ", floor " + Mib.text(floor) + " and slack "
                            + Mib.text(rules.slackBytes())
                            + " are " + Mib.text(-rest) + " more; lower floor or slack");
                }
                shares.add(new Share(card, floor, rules.slackBytes(), rest >> 20));
            } else {
                return new Unknown(card.name() + ": " + cause(card));
            }
        }
        if (shares.stream().allMatch(share -> share.card().withoutMemory())) {
            return new None(
                    shares.isEmpty()
                            ? "the node has no GPU, or no MIG partition"
                            : "no GPU has memory to share: "
                                    + cause(shares.get(0).card()));
        }
        return rules.fixedMebibytes()
                .map(fixed -> fixed(fixed, shares))
                .orElseGet(() -> new Value(sum(shares), shares));
    }

    private static AdvertisedBudget fixed(long mebibytes, List<Share> shares) {
        long total = 0;
        long reserve = 0;
        long floor = 0;
        boolean missing = false;
        for (Share share : shares) {
            missing |= share.card().withoutMemory();
            if (!share.card().withoutMemory()) {
                total += share.card().totalBytes().asOptional().orElse(0L);
                reserve += share.card().reserve().asOptional().orElse(0L);
                floor += share.floorBytes();
            }
        }
        long most = total - reserve - floor >> 20;
        if (mebibytes <= most) {
            return new Value(mebibytes, shares);
        }
        // The setting was right while all cards had memory.
        return missing
                ? new Value(most, shares)
                : new Refused("expected at most " + most + " MiB for budgets, seen " + mebibytes + " MiB, "
                        + (mebibytes - most)
                        + " MiB more: the node has " + Mib.text(total) + ", the driver's reserve is "
                        + Mib.text(reserve)
                        + " and the floor " + Mib.text(floor) + "; lower the amount or the floor");
    }

    private static long sum(List<Share> shares) {
        return shares.stream().mapToLong(Share::mebibytes).sum();
    }

    private static String cause(BudgetedCard card) {
        Reading<Long> absent = card.totalBytes() instanceof Reading.Present<Long> ? card.reserve() : card.totalBytes();
        return "memory: " + ((Reading.Absent<Long>) absent).text();
    }
}
