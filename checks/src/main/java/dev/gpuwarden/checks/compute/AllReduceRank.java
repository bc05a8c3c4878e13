package dev.gpuwarden.checks.compute;

import dev.gpuwarden.core.compute.AllReduceRate;
import dev.gpuwarden.core.compute.AllReduceSums;
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
    private volatile AllReduceSums sums = AllReduceSums.NOT_COMPARED;
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

    /**
     * The measurements of one rank.
     *
     * @param rates of all sizes out of place, the same in all ranks
     * @param inPlace of the largest size in place, the same in all ranks
     * @param sums the comparison of this rank's own data
     */
    record Result(List<AllReduceRate> rates, AllReduceRate inPlace, AllReduceSums sums) {}

    /** Returns the comparison so far, for any thread. */
    AllReduceSums sums() {
        return sums;
    }

    Result run(CollectiveDriver driver) throws CollectiveException, Gathering.Ended {
        try (Communicator communicator = driver.join(member)) {
            AllReduceBuffers buffers =
                    new AllReduceBuffers(communicator, member.rank(), member.ranks(), work.mostBytes());
            long begin = communicator.newMark();
            long end = communicator.newMark();
            List<AllReduceRate> rates = new ArrayList<>();
            for (long bytes = work.leastBytes(); ; bytes *= 2) {
                Message outOfPlace = new Message(communicator, buffers.input(), buffers.sums(), bytes, begin, end);
                buffers.prepare(bytes);
                double once = most(hostSeconds(outOfPlace));
                rates.add(rate(outOfPlace, work.iterations(once)));
                buffers.compare(bytes);
                sums = buffers.seen();
                if (work.endsAt(bytes, once)) {
                    Message inPlace = new Message(communicator, buffers.sums(), buffers.sums(), bytes, begin, end);
                    // Zeros, since sums of sums would grow with each operation.
                    buffers.clearSums(bytes);
                    return new Result(rates, rate(inPlace, work.iterations(once)), buffers.seen());
                }
            }
        }
    }

    /** An all-reduce of one size. */
    private record Message(Communicator communicator, long send, long receive, long bytes, long begin, long end) {

        void enqueue() throws CollectiveException {
            communicator.allReduce(
                    send, receive, bytes / ElementType.FLOAT.bytes(), ElementType.FLOAT, ReduceOperator.SUM.ordinal());
        }
    }

    private AllReduceRate rate(Message message, int iterations) throws CollectiveException, Gathering.Ended {
        Communicator communicator = message.communicator();
        double[] seconds = new double[iterations];
        for (int i = 0; i < iterations; i++) {
            communicator.record(message.begin());
            message.enqueue();
            communicator.record(message.end());
            communicator.await(left());
            // The rank that began last did not wait for the others.
            seconds[i] = least(communicator.seconds(message.begin(), message.end()));
        }
        Arrays.sort(seconds);
        return new AllReduceRate(message.bytes(), member.ranks(), seconds[seconds.length / 2]);
    }

    private double hostSeconds(Message message) throws CollectiveException, Gathering.Ended {
        most(0);
        long began = System.nanoTime();
        message.enqueue();
        message.communicator().await(left());
        return (System.nanoTime() - began) / 1e9;
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
