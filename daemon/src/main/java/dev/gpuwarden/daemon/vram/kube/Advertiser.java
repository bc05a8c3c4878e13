package dev.gpuwarden.daemon.vram.kube;

import dev.gpuwarden.watchdog.budget.AdvertisedBudget;
import java.lang.System.Logger.Level;
import java.util.OptionalLong;
import java.util.function.BiConsumer;
import java.util.function.Supplier;

/** Reports the amount of VRAM for budgets to the aggregator. An amount that is not known leaves the last one in the Node. */
public final class Advertiser implements Runnable {

    private static final System.Logger LOG = System.getLogger(Advertiser.class.getName());

    private final BiConsumer<OptionalLong, OptionalLong> aggregator;
    private final boolean advertises;
    private final Supplier<AdvertisedBudget> amount;
    private String problem = "";

    /**
     * @param aggregator receives the amount, also an equal one, empty if the Node must not have the resource; and the part of
     *     the largest card, empty if one card has all of it
     * @param advertises false to remove the resource from the Node
     * @param amount must not block
     */
    public Advertiser(
            BiConsumer<OptionalLong, OptionalLong> aggregator, boolean advertises, Supplier<AdvertisedBudget> amount) {
        this.aggregator = aggregator;
        this.advertises = advertises;
        this.amount = amount;
    }

    /** Compares the amount with the last one, and reports it if it is another. Cheap; call it about once a second. */
    @Override
    public synchronized void run() {
        if (!advertises) {
            aggregator.accept(OptionalLong.empty(), OptionalLong.empty());
            return;
        }
        AdvertisedBudget now = amount.get();
        String why = "";
        if (now instanceof AdvertisedBudget.Value value && value.mebibytes() > 0) {
            aggregator.accept(OptionalLong.of(value.mebibytes()), value.largestCard());
        } else if (now instanceof AdvertisedBudget.Refused refused) {
            why = refused.why();
        } else if (!(now instanceof AdvertisedBudget.Unknown)) {
            aggregator.accept(OptionalLong.empty(), OptionalLong.empty());
        }
        if (!why.isEmpty() && !why.equals(problem)) {
            LOG.log(Level.WARNING, "no VRAM is advertised for budgets, or the last amount stays: " + why);
        }
        problem = why;
    }
}
