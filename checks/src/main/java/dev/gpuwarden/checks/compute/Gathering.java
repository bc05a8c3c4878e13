package dev.gpuwarden.checks.compute;

import java.util.concurrent.Phaser;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Numbers that all ranks of a run exchange. Each rank calls it equally often, from a thread of its own. */
final class Gathering {

    private final Phaser phaser;
    /** Two, since a rank may write the next number while another one still reads. */
    private final double[][] numbers;

    Gathering(int ranks) {
        phaser = new Phaser(ranks);
        numbers = new double[2][ranks];
    }

    /** The end of the exchange, since another rank failed or was late. */
    static final class Ended extends Exception {
        private static final long serialVersionUID = 1;

        Ended() {
            super("another rank failed", null, false, false);
        }
    }

    /** Waits for the numbers of all ranks, and returns a copy of them. */
    double[] of(int rank, double number, long nanos) throws Ended {
        int phase = phaser.getPhase();
        double[] all = numbers[phase & 1];
        if (phase >= 0) {
            all[rank] = number;
        }
        try {
            int next = phaser.awaitAdvanceInterruptibly(phaser.arrive(), nanos, TimeUnit.NANOSECONDS);
            if (next < 0) {
                throw new Ended();
            }
            return all.clone();
        } catch (TimeoutException e) {
            throw new Ended();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new Ended();
        }
    }

    /** Ends the present wait of all ranks, and each later one. */
    void end() {
        phaser.forceTermination();
    }
}
