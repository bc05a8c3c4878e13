package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupRequest;
import dev.gpuwarden.aggregator.nodehealth.GpuHoldersJson;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests.SignalAnswer;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests.SignalRequest;
import dev.gpuwarden.api.HoldingsCodec;
import dev.gpuwarden.api.v1.Holdings;
import dev.gpuwarden.api.v1.Signalled;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Threads;
import java.lang.System.Logger.Level;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * A sender of the requests in `NodeHealth`s to the nodes that report here, and a writer of their answers. Only the replica that
 * has a node's stream sends them. No method blocks. Thread-safe.
 */
final class NodeRequests implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(NodeRequests.class.getName());

    private static final int THREADS = 2;
    private static final Backoff RETRY = Backoff.exact(Duration.ofMillis(500), Duration.ofSeconds(16));

    /** Together a minute. By then the requester has asked again, or goes on without an answer. */
    private static final int MOST_TRIES = 8;

    /** Returns whether the answer is stored; false if the request is not open any more. */
    private interface Answerer<Q> {
        boolean write(String node, Q request, Map<String, Object> answer) throws ApiException, InterruptedException;
    }

    /**
     * @param <Q> a request
     * @param open returns the requests of a NodeHealth that have no answer
     * @param unsupported returns the answer for a node whose daemon does not support such requests
     * @param asked the outcome of a request in the metrics
     * @param what the answer in words, for the log, before the name of the node
     */
    private record Kind<Q>(
            Function<Map<String, Object>, List<Q>> open,
            BiFunction<NodeStream, Q, NodeStream.Asked> send,
            Function<Q, Map<String, Object>> unsupported,
            Answerer<Q> answerer,
            String asked,
            String what) {}

    private final IngestMetrics metrics;
    private final Clock clock;
    private final Function<String, Optional<NodeStream>> streams;
    private final Kind<LookupRequest> lookups;
    private final Kind<SignalRequest> signals;
    private final ScheduledThreadPoolExecutor threads =
            new ScheduledThreadPoolExecutor(THREADS, Threads.daemon("gpuwarden-questions"));

    /**
     * @param cache the cache that follows the NodeHealths; without a follower no request arrives
     * @param streams the stream of a node, if the node reports here
     */
    NodeRequests(
            GpuHolderRequests holders,
            SignalRequests pods,
            NodeHealthCache cache,
            IngestMetrics metrics,
            Clock clock,
            Function<String, Optional<NodeStream>> streams) {
        this.metrics = metrics;
        this.clock = clock;
        this.streams = streams;
        Reading<GpuHolders> noHolders = Reading.absent(
                Absence.NOT_SUPPORTED,
                0,
                "gpuwarden on the node is of a version that does not report who holds its GPUs");
        this.lookups = new Kind<>(
                health -> LookupRequest.open(health).stream().toList(),
                NodeStream::lookUp,
                request -> GpuHoldersJson.of(request.id(), noHolders, clock.instant()),
                (node, request, answer) -> holders.answer(node, request.id(), answer),
                "asked",
                "the answer about the holders of the GPUs of ");
        String noSignals = "gpuwarden on the node is of a version that sends no signals";
        this.signals = new Kind<>(
                SignalRequest::open,
                NodeStream::signal,
                request -> SignalAnswer.tree(request.id(), 0, noSignals, clock.instant()),
                pods::answer,
                "signal_asked",
                "the answer about a signal for a pod of ");
        threads.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        cache.follow(this::open);
    }

    /** Sends the open requests of a `NodeHealth` that is new or changed, or whose node has opened a stream here. */
    void open(String node, Map<String, Object> health) {
        if (!health.containsKey("spec")) {
            return;
        }
        open(lookups, node, health);
        open(signals, node, health);
    }

    private <Q> void open(Kind<Q> kind, String node, Map<String, Object> health) {
        List<Q> open = kind.open().apply(health);
        if (!open.isEmpty()) {
            later(() -> open.forEach(request -> send(kind, node, request)), 0);
        }
    }

    private <Q> void send(Kind<Q> kind, String node, Q request) {
        Optional<NodeStream> stream = streams.apply(node);
        if (stream.isEmpty()) {
            return;
        }
        switch (kind.send().apply(stream.get(), request)) {
            case NOT_NOW -> {}
            case ASKED -> metrics.lookups.add(kind.asked());
            case CANNOT -> {
                metrics.lookups.add("unsupported");
                write(kind, node, request, kind.unsupported().apply(request), 1);
            }
        }
    }

    /** Receives a node's answer about the holders of its GPUs. */
    void received(NodeStream stream, String node, Holdings answer) {
        Optional<LookupRequest> request = stream.answered(answer.getId());
        if (request.isEmpty()) {
            metrics.lookups.add("unasked");
            return;
        }
        Reading<GpuHolders> holders = HoldingsCodec.parse(answer);
        metrics.lookups.add(holders instanceof Reading.Present<?> ? "answered" : "failed");
        write(lookups, node, request.get(), GpuHoldersJson.of(answer.getId(), holders, clock.instant()));
    }

    /** Receives a node's answer about a signal. */
    void received(NodeStream stream, String node, Signalled answer) {
        Optional<SignalRequest> request = stream.signalled(answer.getId());
        if (request.isEmpty()) {
            metrics.lookups.add("unasked");
            return;
        }
        metrics.lookups.add(answer.getError().isEmpty() ? "signal_sent" : "signal_failed");
        write(
                signals,
                node,
                request.get(),
                SignalAnswer.tree(request.get().id(), answer.getProcesses(), answer.getError(), clock.instant()));
    }

    private <Q> void write(Kind<Q> kind, String node, Q request, Map<String, Object> answer) {
        later(() -> write(kind, node, request, answer, 1), 0);
    }

    /** Writes until the answer is stored, for about a minute. */
    private <Q> void write(Kind<Q> kind, String node, Q request, Map<String, Object> answer, int tries) {
        try {
            if (!kind.answerer().write(node, request, answer)) {
                metrics.lookups.add("late");
            }
        } catch (ApiException e) {
            if (tries < MOST_TRIES) {
                later(
                        () -> write(kind, node, request, answer, tries + 1),
                        RETRY.pause(tries).toMillis());
            } else {
                metrics.lookups.add("unwritten");
                LOG.log(Level.WARNING, kind.what() + node + " cannot be written: " + e.getMessage());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void later(Runnable task, long delayMillis) {
        try {
            var unused = threads.schedule(task, delayMillis, TimeUnit.MILLISECONDS);
        } catch (RejectedExecutionException e) {
            // The program stops. The requester asks again, or another replica sends the request.
        }
    }

    @Override
    public void close() {
        threads.shutdownNow();
    }
}
