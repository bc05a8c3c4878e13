package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.cache.NodeHealthCache;
import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.nodehealth.NodeRequestKind;
import dev.gpuwarden.aggregator.nodehealth.NodeRequestKind.Answer;
import dev.gpuwarden.aggregator.nodehealth.NodeRequestKind.OpenRequest;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.NodeReport.ReportCase;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.util.Threads;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * A sender of the requests of one kind in `NodeHealth`s to the nodes that report here, and a writer of their answers. Only the
 * replica that has a node's stream sends them. Thread-safe.
 */
final class NodeRequests implements NodeMessageKind {

    private static final System.Logger LOG = System.getLogger(NodeRequests.class.getName());

    private static final int THREADS = 2;
    private static final Backoff RETRY = Backoff.exact(Duration.ofMillis(500), Duration.ofSeconds(16));

    /** Together a minute. By then the requester has asked again, or goes on without an answer. */
    private static final int MOST_TRIES = 8;

    private final NodeRequestKind kind;
    private final NodeHealthCache cache;
    private final IngestMetrics metrics;
    private final ScheduledExecutorService threads;
    private final Map<String, Stream> streams = new ConcurrentHashMap<>();

    /**
     * @param cache the cache that follows the NodeHealths; without a follower no request arrives
     * @param threads see {@link #threads}
     */
    NodeRequests(NodeRequestKind kind, NodeHealthCache cache, IngestMetrics metrics, ScheduledExecutorService threads) {
        this.kind = kind;
        this.cache = cache;
        this.metrics = metrics;
        this.threads = threads;
        cache.follow(this::open);
    }

    /** Returns threads for all kinds of requests. */
    static ScheduledExecutorService threads() {
        var threads = new ScheduledThreadPoolExecutor(THREADS, Threads.daemon("gpuwarden-node-requests"));
        threads.setExecuteExistingDelayedTasksAfterShutdownPolicy(false);
        return threads;
    }

    /** The requests on one stream. Thread-safe. */
    private final class Stream {
        private final NodeLink link;
        private final boolean supported;
        private final Set<String> open = new HashSet<>();
        private final Set<String> ended = new HashSet<>();

        Stream(NodeLink link, boolean supported) {
            this.link = link;
            this.supported = supported;
        }

        /** Sends a request, once. Returns false if the node does not support it. */
        synchronized boolean send(OpenRequest request) {
            if (open.contains(request.id()) || ended.contains(request.id())) {
                return true;
            }
            if (!supported) {
                end(request.id());
                return false;
            }
            if (kind.most() == 1) {
                open.clear();
            }
            if (open.size() < kind.most()) {
                open.add(request.id());
                metrics.lookups.add(kind.sent());
                link.answer(request.message());
            }
            return true;
        }

        /** Returns true if this is the first answer to a request. */
        synchronized boolean answered(String id) {
            boolean first = open.remove(id);
            if (first) {
                end(id);
            }
            return first;
        }

        private void end(String id) {
            if (ended.size() > kind.most()) {
                // A node that receives a request again repeats its answer.
                ended.clear();
            }
            ended.add(id);
        }
    }

    // ---- requests ----

    @Override
    public void joined(String node, NodeLink link, Hello hello) {
        streams.put(node, new Stream(link, kind.supported().test(hello)));
        // Requests that arrived during the connect still wait for the stream.
        later(() -> cache.health(node).ifPresent(health -> open(node, health)), 0);
    }

    @Override
    public void left(String node, NodeLink link) {
        streams.computeIfPresent(node, (name, stream) -> stream.link == link ? null : stream);
    }

    /** Sends the open requests of a `NodeHealth` that is new or changed, or whose node has opened a stream here. */
    private void open(String node, Map<String, Object> health) {
        if (!health.containsKey("spec")) {
            // Almost all: requests are the only content.
            return;
        }
        List<OpenRequest> open = kind.open().apply(health);
        if (!open.isEmpty()) {
            later(() -> open.forEach(request -> send(node, request)), 0);
        }
    }

    private void send(String node, OpenRequest request) {
        Stream stream = streams.get(node);
        if (stream != null && !stream.send(request)) {
            write(node, kind.unsupported().apply(request.id()));
        }
    }

    // ---- answers ----

    @Override
    public Set<ReportCase> receives() {
        return Set.of(kind.answers());
    }

    @Override
    public void received(String node, NodeLink link, NodeReport message) {
        Stream stream = streams.get(node);
        if (stream != null && stream.link == link && stream.answered(kind.id().apply(message))) {
            write(node, kind.read().apply(message));
        } else {
            metrics.lookups.add("unasked");
        }
    }

    private void write(String node, Answer answer) {
        metrics.lookups.add(answer.outcome());
        later(() -> write(node, answer, 1), 0);
    }

    /** Writes until the answer is stored, for about a minute. */
    private void write(String node, Answer answer, int tries) {
        try {
            if (!kind.writer().write(node, answer.id(), answer.tree())) {
                metrics.lookups.add("late");
            }
        } catch (ApiException e) {
            if (tries < MOST_TRIES) {
                later(() -> write(node, answer, tries + 1), RETRY.pause(tries).toMillis());
            } else {
                metrics.lookups.add("unwritten");
                LOG.log(Level.WARNING, kind.text() + node + " cannot be written: " + e.getMessage());
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
}
