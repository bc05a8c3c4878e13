package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.cluster.ClusterException;
import dev.gpuwarden.aggregator.health.Memory;
import dev.gpuwarden.aggregator.holdings.HolderLookups;
import dev.gpuwarden.aggregator.holdings.HoldingsTree;
import dev.gpuwarden.aggregator.holdings.LookupRequest;
import dev.gpuwarden.api.HoldingsCodec;
import dev.gpuwarden.api.v1.Holdings;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;

/**
 * Hands questions that stand in `NodeHealth`s to the nodes that report here, and writes their answers there. Who holds a node's
 * stream does it, whoever has asked.
 */
final class Lookups implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Lookups.class.getName());

    private static final int THREADS = 2;
    private static final long FIRST_RETRY_MILLIS = 500;
    /** A minute in all; whoever waits has asked anew by then, or goes on without. */
    private static final int MOST_TRIES = 8;

    private final HolderLookups lookups;
    private final Memory memory;
    private final IngestTally tally;
    private final Clock clock;
    private final Function<String, Optional<Stream>> streams;
    private final ScheduledThreadPoolExecutor threads;

    /**
     * @param memory what follows the NodeHealths; where nobody does, nobody asks either
     * @param streams a node's, if it reports here
     */
    Lookups(
            HolderLookups lookups,
            Memory memory,
            IngestTally tally,
            Clock clock,
            Function<String, Optional<Stream>> streams) {
        this.lookups = lookups;
        this.memory = memory;
        this.tally = tally;
        this.clock = clock;
        this.streams = streams;
        this.threads = new ScheduledThreadPoolExecutor(THREADS, task -> {
            Thread thread = new Thread(task, "gpuwarden-lookups");
            thread.setDaemon(true);
            return thread;
        });
        threads.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        memory.follow(this::changed);
    }

    /** A `NodeHealth` is new or another one. Never waits. */
    private void changed(String node, Map<String, Object> health) {
        LookupRequest.open(health).ifPresent(request -> later(() -> ask(node, request.id()), 0));
    }

    /** A node has a stream here: what was asked meanwhile still waits for it. */
    void greeted(String node) {
        memory.health(node)
                .flatMap(LookupRequest::open)
                .ifPresent(request -> later(() -> ask(node, request.id()), 0));
    }

    private void ask(String node, String id) {
        Optional<Stream> stream = streams.apply(node);
        if (stream.isEmpty()) {
            return;
        }
        switch (stream.get().lookUp(id)) {
            case NOT_NOW -> {}
            case ASKED -> tally.looked("asked");
            case CANNOT -> {
                tally.looked("unsupported");
                write(
                        node,
                        id,
                        Reading.absent(
                                Absence.NOT_SUPPORTED,
                                0,
                                "gpuwarden on the node is of a version that does not tell who holds its GPUs"));
            }
        }
    }

    /** What a node has answered. Never waits. */
    void heard(Stream stream, String node, Holdings said) {
        if (!stream.answered(said.getId())) {
            // To nothing that was asked here last.
            tally.looked("unasked");
            return;
        }
        Reading<GpuHolders> holders = HoldingsCodec.parse(said);
        tally.looked(holders instanceof Reading.Present<?> ? "answered" : "failed");
        write(node, said.getId(), holders);
    }

    private void write(String node, String id, Reading<GpuHolders> said) {
        Map<String, Object> tree = HoldingsTree.of(id, said, clock.instant());
        later(() -> write(node, id, tree, 1), 0);
    }

    private void write(String node, String id, Map<String, Object> tree, int tries) {
        try {
            if (!lookups.answer(node, id, tree)) {
                tally.looked("late");
            }
        } catch (ClusterException e) {
            if (tries < MOST_TRIES) {
                later(() -> write(node, id, tree, tries + 1), FIRST_RETRY_MILLIS << Math.min(tries - 1, 5));
            } else {
                tally.looked("unwritten");
                LOG.log(Level.WARNING, "who holds the GPUs of " + node + " cannot be written: " + e.getMessage());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void later(Runnable task, long delayMillis) {
        try {
            var unused = threads.schedule(task, delayMillis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The program stops; who asked asks again, or another replica does.
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
