package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.watchdog.decision.Card.Resident;
import dev.gpuwarden.watchdog.observation.Tenant;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;

/**
 * A random card on which one tenant leaks beyond its budget while the others load their shares and let them go. A load
 * that fails ends its process after some seconds and is tried again.
 */
final class LeakTraces {

    private static final int TICKS_PER_SECOND = 4;
    private static final int MOST_TICKS = 15 * 60 * TICKS_PER_SECOND;
    private static final int[] CARDS = {8192, 15360, 24576, 81559};

    private final Random random;
    private final Card card;
    private final Allocations allocations;
    private final Resident leaker;
    private final double leakPerTick;
    private final List<Loader> loaders = new ArrayList<>();
    private double owed;

    /** @param harm time of the first failed allocation within a budget; empty if there was none */
    record Result(Optional<Duration> harm, Optional<Duration> recycle, Optional<String> recycled) {

        /** Returns whether the leak was still not stopped this long after its first harm. */
        boolean missed(Duration within) {
            return harm.isPresent()
                    && recycle.filter(at -> at.compareTo(harm.get().plus(within)) <= 0)
                            .isEmpty();
        }
    }

    LeakTraces(long seed) {
        random = new Random(seed);
        int total = CARDS[random.nextInt(CARDS.length)];
        card = new Card(total, 0);
        allocations = new Allocations(card);
        int tenants = 2 + random.nextInt(4);
        long left = total - 1536;
        leaker = card.add("leaker", left / 8 + random.nextInt(total / 8), 0);
        leaker.usedMib = leaker.budgetMib / 2;
        left -= leaker.budgetMib;
        for (int i = 0; i < tenants; i++) {
            long budget = left / (tenants - i) / 2 + random.nextInt((int) (left / (tenants - i) / 2));
            left -= budget;
            loaders.add(new Loader(card.add("tenant-" + i, budget, 0)));
        }
        leakPerTick = (1 + random.nextInt(100)) / (double) TICKS_PER_SECOND;
    }

    /** Runs until the leak is stopped, or a minute after its first harm. */
    Result run() {
        for (int tick = 0; tick < MOST_TICKS; tick++) {
            owed += leakPerTick;
            if (owed >= 1 && allocations.allocate(leaker, (long) owed)) {
                owed -= (long) owed;
            }
            for (Loader loader : loaders) {
                loader.run(tick);
            }
            Decision decision = card.tick();
            if (decision.verdict() == Verdict.RECYCLE) {
                return new Result(
                        harm(), Optional.of(card.now()), decision.recycled().map(Tenant::name));
            }
            if (harm().filter(at -> card.now().minus(at).compareTo(Duration.ofSeconds(61)) > 0)
                    .isPresent()) {
                break;
            }
        }
        return new Result(harm(), Optional.empty(), Optional.empty());
    }

    private Optional<Duration> harm() {
        return allocations.harms().stream().findFirst().map(Allocations.Harm::at);
    }

    /** A tenant that loads most of its share in one process, holds it and lets it go. */
    private final class Loader {
        private final Resident tenant;
        private int next = random.nextInt(120 * TICKS_PER_SECOND);
        private long wanted;
        private boolean holds;

        Loader(Resident tenant) {
            this.tenant = tenant;
        }

        void run(int tick) {
            if (wanted > 0 && tenant.usedMib < wanted && tick < next) {
                long step = Math.min(wanted - tenant.usedMib, 250 + random.nextInt(500));
                if (!holds && !allocations.allocate(tenant, step)) {
                    holds = true;
                    next = tick + TICKS_PER_SECOND * (1 + random.nextInt(4));
                }
            } else if (tick >= next && wanted == 0) {
                tenant.restart(0);
                wanted = (long) (tenant.budgetMib * (0.6 + 0.4 * random.nextDouble()));
                next = tick + TICKS_PER_SECOND * (60 + random.nextInt(240));
            } else if (tick >= next) {
                tenant.usedMib = 0;
                wanted = 0;
                next = tick + TICKS_PER_SECOND * (holds ? 5 + random.nextInt(6) : 20 + random.nextInt(120));
                holds = false;
            }
        }
    }
}
