package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.watchdog.decision.Card.Resident;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * The oracle: it carries out the allocations of a simulated card, and so it has every one that failed. It shares no
 * code with the rule and sees no budget but that of the tenant that allocates.
 */
final class Allocations {

    /** A failed allocation within a budget. */
    record Harm(String tenant, Duration at) {}

    private final Card card;
    private final List<Harm> harms = new ArrayList<>();

    Allocations(Card card) {
        this.card = card;
    }

    /** Returns whether the tenant got this much more. Without room it gets nothing. */
    boolean allocate(Resident tenant, long mib) {
        if (mib <= card.freeMib()) {
            tenant.usedMib += mib;
            return true;
        }
        if (tenant.usedMib + mib <= tenant.budgetMib) {
            harms.add(new Harm(tenant.name, card.now()));
        }
        return false;
    }

    List<Harm> harms() {
        return harms;
    }

    /** Returns whether an allocation within a budget failed at most this long before or after. */
    boolean harmed(Duration at, Duration within) {
        return harms.stream().anyMatch(harm -> harm.at().minus(at).abs().compareTo(within) <= 0);
    }
}
