package dev.gpuwarden.nccl.group;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Optional;

/**
 * The ranks of a run, which are threads of this process and of others. Each exchange is a barrier of all of them. After a failure of one
 * rank each exchange throws, so that each wait ends.
 */
public final class Team {

    private final int local;
    private final Exchange exchange;
    private final double[] mine;
    private double[] all = {};
    private int arrived;
    private long round;
    /** Volatile, since {@link #fail} must not wait for an exchange in progress. */
    private volatile Optional<String> failure = Optional.empty();

    /** @param local ranks of each process */
    public Team(int local, Exchange exchange) {
        this.local = local;
        this.exchange = exchange;
        mine = new double[local];
    }

    /** A failure of another rank. */
    public static final class Left extends Exception {
        private static final long serialVersionUID = 1;

        Left(String message) {
            super(message, null, false, false);
        }
    }

    /** Waits for all ranks. */
    public void meet(int localRank) throws Left {
        gather(localRank, 0);
    }

    /** Waits for all ranks, and returns their numbers in the order of ranks. */
    public synchronized double[] gather(int localRank, double value) throws Left {
        checkFailure();
        mine[localRank] = value;
        arrived++;
        if (arrived == local) {
            arrived = 0;
            exchange();
            round++;
            notifyAll();
            return all;
        }
        long joined = round;
        while (round == joined) {
            checkFailure();
            try {
                wait();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new Left("interrupted");
            }
        }
        return all;
    }

    private void checkFailure() throws Left {
        if (failure.isPresent()) {
            throw new Left(failure.get());
        }
    }

    /** Makes each exchange of this process throw, the present ones too. */
    public void fail(String why) {
        failure = Optional.of(why);
        exchange.close();
        synchronized (this) {
            notifyAll();
        }
    }

    private void exchange() throws Left {
        try {
            List<byte[]> processes = exchange.gather(bytes(mine));
            ByteBuffer numbers = ByteBuffer.allocate(processes.size() * local * Double.BYTES);
            for (byte[] process : processes) {
                if (process.length != local * Double.BYTES) {
                    throw new IOException("a process has another number of ranks: all need the same -t and -g");
                }
                numbers.put(process);
            }
            all = new double[processes.size() * local];
            numbers.flip().asDoubleBuffer().get(all);
        } catch (IOException e) {
            failure = Optional.of(String.valueOf(e.getMessage()));
            notifyAll();
            checkFailure();
        }
    }

    private static byte[] bytes(double[] numbers) {
        ByteBuffer buffer = ByteBuffer.allocate(numbers.length * Double.BYTES);
        buffer.asDoubleBuffer().put(numbers);
        return buffer.array();
    }
}
