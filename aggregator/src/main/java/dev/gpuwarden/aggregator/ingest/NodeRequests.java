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

    /** One kind of requests. @param <Q> a request */
    private interface Kind<Q> {

        /** Returns the requests of a NodeHealth that have no answer. */
        List<Q> open(Map<String, Object> health);

        NodeStream.Asked send(NodeStream stream, Q request);

        /** Returns the answer for a node whose daemon does not support such requests. */
        Map<String, Object> unsupported(Q request);

        /** Returns whether the answer is stored; false if the request is not open any more. */
        boolean write(String node, Q request, Map<String, Object> answer) throws ApiException, InterruptedException;

        String asked();

        /** Returns the answer in words, for the log. */
        String what(String node);
    }

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
        this.lookups = new Lookups(holders);
        this.signals = new Signals(pods);
        threads.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        cache.follow(this::open);
    }

    /** Sends the open requests of a `NodeHealth` that is new or changed, or whose node has opened a stream here. */
    void open(String node, Map<String, Object> health) {
        open(lookups, node, health);
        open(signals, node, health);
    }

    private <Q> void open(Kind<Q> kind, String node, Map<String, Object> health) {
        List<Q> open = kind.open(health);
        if (!open.isEmpty()) {
            later(() -> open.forEach(request -> send(kind, node, request)), 0);
        }
    }

    private <Q> void send(Kind<Q> kind, String node, Q request) {
        Optional<NodeStream> stream = streams.apply(node);
        if (stream.isEmpty()) {
            return;
        }
        switch (kind.send(stream.get(), request)) {
            case NOT_NOW -> {}
            case ASKED -> metrics.looked(kind.asked());
            case CANNOT -> {
                metrics.looked("unsupported");
                write(kind, node, request, kind.unsupported(request), 1);
            }
        }
    }

    /** Receives a node's answer about the holders of its GPUs. */
    void received(NodeStream stream, String node, Holdings answer) {
        Optional<LookupRequest> request = stream.answered(answer.getId());
        if (request.isEmpty()) {
            metrics.looked("unasked");
            return;
        }
        Reading<GpuHolders> holders = HoldingsCodec.parse(answer);
        metrics.looked(holders instanceof Reading.Present<?> ? "answered" : "failed");
        write(lookups, node, request.get(), GpuHoldersJson.of(answer.getId(), holders, clock.instant()));
    }

    /** Receives a node's answer about a signal. */
    void received(NodeStream stream, String node, Signalled answer) {
        Optional<SignalRequest> request = stream.signalled(answer.getId());
        if (request.isEmpty()) {
            metrics.looked("unasked");
            return;
        }
        metrics.looked(answer.getError().isEmpty() ? "signal_sent" : "signal_failed");
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
            if (!kind.write(node, request, answer)) {
                metrics.looked("late");
            }
        } catch (ApiException e) {
            if (tries < MOST_TRIES) {
                later(
                        () -> write(kind, node, request, answer, tries + 1),
                        RETRY.pause(tries).toMillis());
            } else {
                metrics.looked("unwritten");
                LOG.log(Level.WARNING, kind.what(node) + " cannot be written: " + e.getMessage());
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

    private final class Lookups implements Kind<LookupRequest> {
        private final GpuHolderRequests requests;

        Lookups(GpuHolderRequests requests) {
            this.requests = requests;
        }

        @Override
        public List<LookupRequest> open(Map<String, Object> health) {
            return LookupRequest.open(health).stream().toList();
        }

        @Override
        public NodeStream.Asked send(NodeStream stream, LookupRequest request) {
            return stream.lookUp(request);
        }

        @Override
        public Map<String, Object> unsupported(LookupRequest request) {
            Reading<GpuHolders> none = Reading.absent(
                    Absence.NOT_SUPPORTED,
                    0,
                    "gpuwarden on the node is of a version that does not report who holds its GPUs");
            return GpuHoldersJson.of(request.id(), none, clock.instant());
        }

        @Override
        public boolean write(String node, LookupRequest request, Map<String, Object> answer)
                throws ApiException, InterruptedException {
            return requests.answer(node, request.id(), answer);
        }

        @Override
        public String asked() {
            return "asked";
        }

        @Override
        public String what(String node) {
            return "the answer about the holders of the GPUs of " + node;
        }
    }

    private final class Signals implements Kind<SignalRequest> {
        private final SignalRequests requests;

        Signals(SignalRequests requests) {
            this.requests = requests;
        }

        @Override
        public List<SignalRequest> open(Map<String, Object> health) {
            return SignalRequest.open(health);
        }

        @Override
        public NodeStream.Asked send(NodeStream stream, SignalRequest request) {
            return stream.signal(request);
        }

        @Override
        public Map<String, Object> unsupported(SignalRequest request) {
            return SignalAnswer.tree(
                    request.id(), 0, "gpuwarden on the node is of a version that sends no signals", clock.instant());
        }

        @Override
        public boolean write(String node, SignalRequest request, Map<String, Object> answer)
                throws ApiException, InterruptedException {
            return requests.answer(node, request, answer);
        }

        @Override
        public String asked() {
            return "signal_asked";
        }

        @Override
        public String what(String node) {
            return "the answer about a signal for a pod of " + node;
        }
    }
}
