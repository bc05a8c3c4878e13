package dev.gpuwarden.watchdog.decision;

import dev.gpuwarden.watchdog.decision.Card.Resident;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/**
 * The Tesla T4 of the measured deployment on days without harm: models load and unload, a tenant has hourly peaks above
 * its budget, another one crashes for reasons of its own, batch work without a budget fills the card almost to the
 * floor, and four times in 30 days it fills more than that. Batch work makes room before a tenant takes its share, as
 * its gate did.
 *
 * <p>Two states are recycles by definition and therefore no benign ones: a floor that stays breached while a tenant is
 * over its budget, and a tenant that is over its budget for more than ten minutes of a deficit.
 */
final class BenignNode {

    private static final long FLOOR_MIB = 1536;
    private static final int NEAR_MIB = 200;
    private static final long TICKS_PER_SECOND = 4;

    final Card card = new Card(15360, 0);
    final Allocations allocations = new Allocations(card);
    private final Random random;
    private final List<Runnable> actors = new ArrayList<>();
    private final Resident ml = card.add("immich-ml", 3000, 2100);
    private final Resident llama = card.add("llama-swap", 5000, 0);
    private final Resident frigate = card.add("frigate", 2000, 1900);
    private final Resident server = card.add("immich-server", 1800, 600);
    private final Resident batch = card.add("tts", 0, 0);
    private long tick;
    private int nears;
    private boolean near;
    private boolean dips;

    BenignNode(long seed) {
        random = new Random(seed);
        card.add("portal-stt", 1500, 1536);
        card.add("android-emulator", 0, 150);
        actors.add(new Peaks());
        actors.add(new Models());
        actors.add(new Batch());
        actors.add(new Small());
    }

    /** Lets a quarter of a second pass. */
    Decision tick() {
        tick++;
        actors.forEach(Runnable::run);
        long free = card.freeMib();
        boolean nearNow = Math.abs(free - FLOOR_MIB) <= NEAR_MIB;
        nears += nearNow && !near ? 1 : 0;
        near = nearNow;
        return card.tick();
    }

    /** Returns the number of times that free memory came within 200 MiB of the floor. */
    int nears() {
        return nears;
    }

    private long after(double seconds) {
        return tick + Math.max(1, Math.round(seconds * TICKS_PER_SECOND));
    }

    private double between(double least, double most) {
        return least + random.nextDouble() * (most - least);
    }

    /** Returns a pause with this mean, as between independent events. */
    private double pause(double mean) {
        return -Math.log(1 - random.nextDouble()) * mean;
    }

    /** Makes room for a share, and returns whether there is room now. */
    private boolean room(long mib) {
        if (card.freeMib() < mib + FLOOR_MIB) {
            batch.usedMib = 0;
        }
        return card.freeMib() >= mib + FLOOR_MIB;
    }

    /** The hourly peak of immich-ml: up to 1000 MiB above its budget, for two to nine minutes. */
    private final class Peaks implements Runnable {
        private long next = after(between(0, 3600));
        private long end;
        private long wanted = 2100;

        @Override
        public void run() {
            if (end == 0 && tick >= next && !dips) {
                wanted = (long) between(3100, 4000);
                end = after(between(120, 540));
                next = after(between(3300, 3900));
            } else if (end != 0 && tick >= end) {
                wanted = 2100;
                end = 0;
            }
            long step = Math.min(wanted - ml.usedMib, (long) between(10, 60));
            if (step > 0 && room(step)) {
                allocations.allocate(ml, step);
            } else if (step < 0) {
                ml.usedMib = Math.max(wanted, ml.usedMib - 200);
            }
        }
    }

    /** The models of llama-swap, each in a process of its own, and its crashes that have nothing to do with memory. */
    private final class Models implements Runnable {
        private long next = after(pause(600));
        private long wanted;
        private long end;
        private long crashesUntil;

        @Override
        public void run() {
            if (tick >= next && end == 0) {
                begin();
            } else if (end != 0 && tick >= end) {
                llama.usedMib = 0;
                end = 0;
                next = after(tick < crashesUntil ? between(5, 30) : pause(900));
            } else if (end != 0 && llama.usedMib < wanted) {
                allocations.allocate(llama, Math.min(wanted - llama.usedMib, 300));
            }
        }

        private void begin() {
            if (tick >= crashesUntil && random.nextInt(20) == 0) {
                crashesUntil = after(between(300, 1200));
            }
            boolean crashes = tick < crashesUntil;
            wanted = crashes ? 300 : (long) between(1500, 4800);
            if (!crashes && !room(wanted)) {
                next = after(20);
                return;
            }
            llama.restart(0);
            end = after(crashes ? between(1, 5) : between(60, 900));
        }
    }

    /** Work without a budget: it fills the card to within 200 MiB above the floor, rarely more; spikes last one reading. */
    private final class Batch implements Runnable {
        private long next = after(pause(600));
        private long end;
        private long left;
        /** Memory that is taken for one reading. */
        private long blip;

        private long blipAt;

        @Override
        public void run() {
            dips &= batch.usedMib > 0;
            if (blip > 0) {
                batch.usedMib -= Math.min(blip, batch.usedMib);
                blip = 0;
            }
            if (batch.usedMib == 0 && tick >= next) {
                dips = ml.usedMib <= 3000 && random.nextInt(900) < 4;
                left = dips ? 700 : FLOOR_MIB + random.nextInt(NEAR_MIB);
                end = after(dips ? 900 : between(2, 1800));
                next = end;
                take(between(100, 400));
            } else if (batch.usedMib > 0 && tick >= end) {
                batch.usedMib = 0;
                next = after(pause(900));
            } else if (batch.usedMib > 0) {
                take(between(50, 400));
            }
        }

        private void take(double step) {
            long free = card.freeMib();
            if (free > left) {
                allocations.allocate(batch, Math.min(free - left, (long) step));
            } else if (free < left && !dips) {
                batch.usedMib = Math.max(1, batch.usedMib - (left - free));
            } else if (random.nextInt(400) == 0 && tick - blipAt > TICKS_PER_SECOND) {
                blipAt = tick;
                blip = free / 2;
                allocations.allocate(batch, blip);
            }
        }
    }

    /** Small changes of the others. */
    private final class Small implements Runnable {
        private long next = 1;

        @Override
        public void run() {
            if (tick < next) {
                return;
            }
            next = after(between(1, 20));
            use(frigate, 1850 + random.nextInt(100));
            if (random.nextInt(8) == 0) {
                use(server, random.nextInt(1750));
            }
            if (random.nextInt(5000) == 0) {
                frigate.restart(frigate.usedMib);
            }
        }

        private void use(Resident tenant, long mib) {
            long more = mib - tenant.usedMib;
            if (more <= 0) {
                tenant.usedMib = mib;
            } else if (room(more)) {
                allocations.allocate(tenant, more);
            }
        }
    }

    Duration now() {
        return card.now();
    }
}
