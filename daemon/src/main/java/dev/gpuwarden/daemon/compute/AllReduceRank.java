package dev.gpuwarden.daemon.compute;

import dev.gpuwarden.core.compute.AllReduceRate;
import dev.gpuwarden.core.compute.AllReduceWork;
import dev.gpuwarden.core.port.AbortSignal;
import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveDriver.Member;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.Communicator;
import dev.gpuwarden.core.port.ElementType;
import dev.gpuwarden.core.port.ReduceOperator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.DoubleStream;

/** One GPU's part in a measurement of all-reduces. All ranks take the same decisions, since they exchange their times. */
final class AllReduceRank {

    private final Member member;
    private final AllReduceWork work;
    private final Gathering gathering;
    private final long endNanos;

    AllReduceRank(
            int ordinal, int rank, int ranks, byte[] id, AllReduceWork work, Gathering gathering, AbortSignal abort) {
        // The rest is for the end of the ranks.
        Duration mine = work.deadline().multipliedBy(9).dividedBy(10);
        member = new Member(ordinal, rank, ranks, id, mine, false, abort);
        this.work = work;
        this.gathering = gathering;
        endNanos = System.nanoTime() + mine.toNanos();
    }

    /** Returns the rates of all sizes, which are the same in all ranks. */
    List<AllReduceRate> run(CollectiveDriver driver) throws CollectiveException, Gathering.Ended {
        try (Communicator communicator = driver.join(member)) {
            long send = communicator.allocate(work.mostBytes());
            long receive = communicator.allocate(work.mostBytes());
            long begin = communicator.newMark();
            long end = communicator.newMark();
            List<AllReduceRate> rates = new ArrayList<>();
            for (long bytes = work.leastBytes(); ; bytes *= 2) {
                // Zeros, since sums of what was in memory may be slower numbers.
                communicator.fill(send, bytes, (byte) 0);
                double once = most(hostSeconds(communicator, send, receive, bytes));
                double[] seconds = new double[work.iterations(once)];
                for (int i = 0; i < seconds.length; i++) {
                    communicator.record(begin);
                    enqueue(communicator, send, receive, bytes);
                    communicator.record(end);
                    communicator.await(left());
                    // The rank that began last did not wait for the others.
                    seconds[i] = least(communicator.seconds(begin, end));
                }
                Arrays.sort(seconds);
                rates.add(new AllReduceRate(bytes, member.ranks(), seconds[seconds.length / 2]));
                if (work.endsAt(bytes, once)) {
                    return rates;
                }
            }
        }
    }

    private double hostSeconds(Communicator communicator, long send, long receive, long bytes)
            throws CollectiveException, Gathering.Ended {
        most(0);
        long began = System.nanoTime();
        enqueue(communicator, send, receive, bytes);
        communicator.await(left());
        return (System.nanoTime() - began) / 1e9;
    }

    private static void enqueue(Communicator communicator, long send, long receive, long bytes)
            throws CollectiveException {
        communicator.allReduce(
                send, receive, bytes / ElementType.FLOAT.bytes(), ElementType.FLOAT, ReduceOperator.SUM.ordinal());
    }

    private double most(double mine) throws Gathering.Ended {
        return DoubleStream.of(gather(mine)).max().orElseThrow();
    }

    private double least(double mine) throws Gathering.Ended {
        return DoubleStream.of(gather(mine)).min().orElseThrow();
    }

    private double[] gather(double mine) throws Gathering.Ended {
        return gathering.of(member.rank(), mine, left().toNanos());
    }

    /** Returns the time that is left, at least a millisecond, since zero is no limit. */
    private Duration left() {
        return Duration.ofNanos(Math.max(1_000_000, endNanos - System.nanoTime()));
    }
}
