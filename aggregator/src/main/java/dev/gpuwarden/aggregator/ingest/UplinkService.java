package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.client.ApiException;
import dev.gpuwarden.aggregator.ingest.NodeHealthWriter.WritePace;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Ahead;
import dev.gpuwarden.aggregator.ingest.UplinkStep.AllFaults;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Greeted;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Happened;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Named;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Reason;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Received;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Refused;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthClient;
import dev.gpuwarden.aggregator.nodehealth.NodeHealthException.NoSuchNode;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth;
import dev.gpuwarden.aggregator.nodehealth.StoredHealth.StreamEpoch;
import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.FlowLimits;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.NodeReport.ReportCase;
import dev.gpuwarden.api.v1.UplinkGrpc;
import dev.gpuwarden.api.v1.Welcome;
import dev.gpuwarden.cli.Version;
import dev.gpuwarden.core.limit.RateLimit;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** The service `Uplink`: it assigns streams to nodes and passes their messages on. */
final class UplinkService extends UplinkGrpc.UplinkImplBase implements AutoCloseable {

    /** Events that one node may have sent without an acknowledgement. */
    static final int WINDOW = 256;

    private static final Duration CLOCKS_DIFFER = Duration.ofHours(1);

    private final NodeHealthClient healths;
    private final IngestMetrics metrics;
    private final Clock clock;
    private final String replica;
    private final NodeHealthWriter writer;
    private final Map<ReportCase, NodeMessageKind> kinds = new EnumMap<>(ReportCase.class);
    private final List<NodeMessageKind> all;
    private final Map<String, NodeSession> records = new ConcurrentHashMap<>();
    private final Map<NodeStream, NodeSession> streams = new ConcurrentHashMap<>();
    /** The number of connections in a row of a node while aggregators are replaced. Each costs the API server a request. */
    static final int CONNECTS = 10;

    private static final long CONNECT_NANOS = TimeUnit.SECONDS.toNanos(10);
    /** Nodes in the rate limit: more than a cluster has. */
    private static final int MOST_NODES = 20_000;

    private final RateLimit limit = new RateLimit(CONNECTS, CONNECT_NANOS, MOST_NODES, System::nanoTime);
    private final AtomicLong opened = new AtomicLong();
    private volatile boolean stopped;

    /**
     * @param all the kinds of messages beside faults and events
     * @param replica name of this aggregator, which distinguishes it from others
     */
    UplinkService(
            NodeHealthClient healths,
            List<NodeMessageKind> all,
            IngestMetrics metrics,
            Clock clock,
            String replica,
            WritePace pace) {
        this.healths = healths;
        this.metrics = metrics;
        this.clock = clock;
        this.replica = replica;
        this.writer = new NodeHealthWriter(healths, metrics, pace, this::settled);
        this.all = all;
        all.forEach(kind -> kind.receives().forEach(message -> kinds.put(message, kind)));
    }

    /** Returns the kinds of messages beside faults and events. */
    Map<ReportCase, NodeMessageKind> kinds() {
        return kinds;
    }

    @Override
    public StreamObserver<NodeReport> report(StreamObserver<Acknowledgement> node) {
        NodeStream stream =
                new NodeStream(opened.incrementAndGet(), this, AuthInterceptor.CALLER.get(), (ServerCallStreamObserver<
                                Acknowledgement>)
                        node);
        stream.open();
        return stream;
    }

    /** Returns the number of nodes that have a stream. */
    int connected() {
        return streams.size();
    }

    /** Returns the number of nodes whose newest state the cluster does not accept. */
    int behind() {
        return writer.failing();
    }

    // ---- messages of streams ----

    /**
     * Handles a message. Returns true if the node may send more. Blocks while it asks the API server about a node that
     * connects.
     */
    boolean take(NodeStream stream, UplinkStep step) {
        if (step instanceof Greeted greeted) {
            greet(stream, greeted.hello());
            return true;
        }
        NodeSession record = streams.get(stream);
        if (record == null) {
            return false;
        }
        if (step instanceof Received other) {
            other.kind().received(record.node(), stream, other.message());
        }
        if (apply(step, record, clock.instant())) {
            writer.write(record);
        }
        return !record.full(WINDOW);
    }

    private boolean apply(UplinkStep step, NodeSession record, Instant now) {
        if (step instanceof AllFaults all) {
            metrics.generations.increment();
            return record.reported(all, now);
        }
        if (step instanceof Happened happened) {
            metrics.events.increment();
            return record.happened(happened, now);
        }
        if (step instanceof Refused refused) {
            metrics.refused(refused.reason());
            return record.refused(refused, now);
        }
        if (step instanceof Ahead ahead) {
            return record.ahead(ahead.fault(), now);
        }
        return step instanceof Named named ? record.named(named.gpus(), now) : record.alive(now);
    }

    boolean mayGoOn(NodeStream stream) {
        NodeSession record = streams.get(stream);
        return record != null && !record.full(WINDOW);
    }

    private void greet(NodeStream stream, Hello hello) {
        String node = hello.getNodeName();
        if (!limit.take(node)) {
            metrics.refused(Reason.LIMIT);
            stream.end(Status.RESOURCE_EXHAUSTED.withDescription(
                    "the node '" + node + "' connects too often: expected at most "
                            + CONNECTS + " times in a row, then once every "
                            + TimeUnit.NANOSECONDS.toSeconds(CONNECT_NANOS) + " s"));
            return;
        }
        try {
            StoredHealth held = healths.greet(node);
            StreamEpoch claim = StreamEpoch.next(held.claim(), opened(hello), replica);
            NodeSession own = new NodeSession(hello, claim, held);
            records.compute(node, (name, there) -> newest(stream, own, there));
            if (!streams.containsKey(stream)) {
                return;
            }
            if (stopped) {
                stream.end(stopping());
                return;
            }
            stream.answer(Acknowledgement.newBuilder()
                    .setWelcome(welcome(held.acknowledged()))
                    .build());
            // Not after a newer stream of the node has joined.
            records.computeIfPresent(node, (name, there) -> {
                if (streams.containsKey(stream)) {
                    all.forEach(kind -> kind.joined(node, stream, hello));
                }
                return there;
            });
            if (!streams.containsKey(stream)) {
                all.forEach(kind -> kind.left(node, stream));
            }
        } catch (NoSuchNode e) {
            stream.end(Status.PERMISSION_DENIED.withDescription(e.getMessage()));
        } catch (ApiException e) {
            stream.end(Status.UNAVAILABLE.withDescription(
                    "the cluster cannot be asked about the node: " + e.getMessage()));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            stream.end(stopping());
        }
    }

    private Welcome welcome(long acknowledged) {
        Welcome.Builder welcome = Welcome.newBuilder()
                .setVersion(Version.program())
                .setAcknowledgedSequence(acknowledged)
                .setLimits(FlowLimits.newBuilder().setMaxUnacknowledgedEvents(WINDOW));
        all.forEach(kind -> kind.welcome(welcome));
        return welcome.build();
    }

    /** Returns the begin of the stream by the node's clock, unless that is ahead by more than clocks differ. */
    private Instant opened(Hello hello) {
        Instant latest = clock.instant().plus(CLOCKS_DIFFER);
        Instant stated = UplinkCodec.said(hello).orElseGet(clock::instant);
        return stated.isAfter(latest) ? latest : stated;
    }

    /** Selects the stream of a node that was opened last. It may have sent Hello first, if the API server was slow. */
    private NodeSession newest(NodeStream stream, NodeSession own, @Nullable NodeSession there) {
        Status older = Status.ABORTED.withDescription("the node '" + own.node() + "' has opened a newer stream");
        Optional<NodeStream> other = Optional.ofNullable(there).flatMap(NodeSession::stream);
        if (there != null && other.isPresent() && other.get().newerThan(stream)) {
            stream.end(older);
            return there;
        }
        own.attach(stream);
        streams.put(stream, own);
        if (there != null) {
            there.forget();
        }
        other.ifPresent(one -> one.end(older));
        return own;
    }

    // ---- ends of streams ----

    void refused(Reason reason) {
        metrics.refused(reason);
    }

    void ended(NodeStream stream, Status status) {
        metrics.ended(status.getCode());
        left(stream);
    }

    void left(NodeStream stream) {
        NodeSession record = streams.remove(stream);
        if (record != null) {
            record.detach();
            all.forEach(kind -> kind.left(record.node(), stream));
            // Not here: this may run inside the map's own change of that entry.
            writer.settle(record);
        }
    }

    private void settled(NodeSession record) {
        records.computeIfPresent(record.node(), (name, there) -> there == record && record.isOver() ? null : there);
    }

    private static Status stopping() {
        return Status.UNAVAILABLE.withDescription("the aggregator stops");
    }

    /** Ends all streams. The nodes repeat all reports without an acknowledgement. */
    @Override
    public void close() {
        stopped = true;
        streams.keySet().forEach(stream -> stream.end(stopping()));
        writer.close();
    }
}
