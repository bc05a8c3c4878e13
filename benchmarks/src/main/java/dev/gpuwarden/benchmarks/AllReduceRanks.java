package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.port.AbortSignal;
import dev.gpuwarden.core.port.CollectiveDriver;
import dev.gpuwarden.core.port.CollectiveDriver.Member;
import dev.gpuwarden.core.port.CollectiveException;
import dev.gpuwarden.core.port.CollectiveOptions;
import dev.gpuwarden.core.port.CollectiveProvider;
import dev.gpuwarden.core.port.Communicator;
import dev.gpuwarden.core.port.DriverOptions;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.port.ElementType;
import dev.gpuwarden.core.port.Opening;
import dev.gpuwarden.core.port.Opening.Opened;
import dev.gpuwarden.core.port.Provider;
import dev.gpuwarden.core.port.ReduceOperator;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.testkit.sim.SimulatedNode;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BrokenBarrierException;
import java.util.concurrent.CyclicBarrier;

/** All-reduces by gpuwarden's binding, one thread for each rank. The steps are those of the C program all_reduce_loop. */
final class AllReduceRanks {

    private static final Duration DEADLINE = Duration.ofMinutes(1);

    private final CollectiveDriver driver;
    private final long bytes;
    private final CyclicBarrier begin;
    private final CyclicBarrier end;
    private volatile int operations;

    AllReduceRanks(SimulatedNode node, int ranks, long bytes) throws CollectiveException {
        CollectiveProvider provider = Provider.of(CollectiveProvider.class);
        Opening<CollectiveDriver> opening = provider.open(new CollectiveOptions(
                List.of(String.valueOf(node.libraryPath().getParent())),
                new DriverOptions(List.of(node.libraryPath().toString()), SamplerPath.AUTO)));
        if (!(opening instanceof Opened<CollectiveDriver> opened)) {
            throw new IllegalStateException(opening.toString());
        }
        driver = opened.driver();
        this.bytes = bytes;
        begin = new CyclicBarrier(ranks + 1);
        end = new CyclicBarrier(ranks + 1);
        byte[] id = driver.newUniqueId();
        for (int i = 0; i < ranks; i++) {
            Member member = new Member(i, i, ranks, id, DEADLINE, false, new AbortSignal());
            Threads.daemon("rank-" + i, () -> run(member)).start();
        }
    }

    /** Returns nanoseconds until all ranks are done with so many operations. */
    long nanos(int count) {
        operations = count;
        meet(begin);
        long began = System.nanoTime();
        meet(end);
        return System.nanoTime() - began;
    }

    private void run(Member member) {
        try (Communicator communicator = driver.join(member)) {
            long send = communicator.allocate(bytes);
            long receive = communicator.allocate(bytes);
            communicator.fill(send, bytes, (byte) 0);
            while (true) {
                meet(begin);
                for (int i = 0; i < operations; i++) {
                    communicator.allReduce(
                            send,
                            receive,
                            bytes / ElementType.FLOAT.bytes(),
                            ElementType.FLOAT,
                            ReduceOperator.SUM.ordinal());
                    communicator.await(DEADLINE);
                }
                meet(end);
            }
        } catch (CollectiveException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void meet(CyclicBarrier barrier) {
        try {
            var unused = barrier.await();
        } catch (InterruptedException | BrokenBarrierException e) {
            throw new IllegalStateException(e);
        }
    }
}
