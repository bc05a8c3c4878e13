package dev.gpuwarden.benchmarks;

import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.Heartbeat;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.UplinkGrpc;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.limit.Backoff;
import io.grpc.ClientInterceptor;
import io.grpc.ManagedChannel;
import io.grpc.Metadata;
import io.grpc.Status;
import io.grpc.stub.MetadataUtils;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** The messages of a node's daemon to an aggregator, without the daemon. Thousands fit into one process. Thread-safe. */
final class LoadDaemon {

    /** The results of all daemons of a load. */
    static final class Tally {
        final LongAdder connected = new LongAdder();
        final LongAdder acknowledged = new LongAdder();
        /** The number of streams that ended without this side's intent, by status. */
        final Map<Status.Code, LongAdder> ended = new ConcurrentHashMap<>();
    }

    /** The daemon's own. */
    private static final Backoff BACKOFF = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(15), 0.5);

    private final String node;
    private final ManagedChannel channel;
    private final ClientInterceptor token;
    private final ScheduledExecutorService timer;
    private final Tally tally;
    private final FaultTable faults = new FaultTable();
    private StreamObserver<NodeReport> stream;
    private boolean reported;
    private boolean closed;
    private long sequence;
    private long generation;
    private int failures;

    LoadDaemon(String node, ManagedChannel channel, String token, ScheduledExecutorService timer, Tally tally) {
        this.node = node;
        this.channel = channel;
        this.timer = timer;
        this.tally = tally;
        this.token = bearer(token);
    }

    /** Returns what adds a token to the requests of a client. */
    static ClientInterceptor bearer(String token) {
        Metadata headers = new Metadata();
        headers.put(Metadata.Key.of("authorization", Metadata.ASCII_STRING_MARSHALLER), "Bearer " + token);
        return MetadataUtils.newAttachHeadersInterceptor(headers);
    }

    synchronized void connect() {
        if (closed) {
            return;
        }
        reported = false;
        stream = UplinkGrpc.newStub(channel).withInterceptors(token).report(new Acknowledgements());
        stream.onNext(UplinkCodec.report(UplinkCodec.hello(Instant.now())
                .setNodeName(node)
                .setBootId("boot")
                .setVersion("load")
                .build()));
    }

    synchronized void fail() {
        report(event(node, sequence + 1, false));
    }

    /** @param action action that the fault requests */
    synchronized void fail(RecommendedAction action) {
        report(event(node, sequence + 1, false, action));
    }

    synchronized void heal() {
        report(event(node, sequence + 1, true));
    }

    /** @param sequence number of the event, unique for the node */
    static HealthEvent event(String node, long sequence, boolean healthy) {
        return event(node, sequence, healthy, RecommendedAction.NONE);
    }

    private static HealthEvent event(String node, long sequence, boolean healthy, RecommendedAction action) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .id(node + "-" + sequence)
                .nodeName(node)
                .fatal(!healthy)
                .healthy(healthy)
                .action(action)
                .errorCodes(List.of("79"))
                .entities(List.of(new Entity(Entity.PCI, "0000:3b:00")))
                .message("NVRM: Xid (PCI:0000:3b:00): 79, GPU has fallen off the bus.")
                .generated(Instant.now())
                .build();
    }

    private void report(HealthEvent event) {
        Instant now = Instant.now();
        var unused = faults.apply(event, ++sequence, now);
        if (reported) {
            stream.onNext(UplinkCodec.report(new StoredEvent(sequence, event, now, now, 1)));
        }
    }

    private synchronized void acknowledged(Acknowledgement acknowledgement) {
        if (acknowledgement.hasWelcome()) {
            sequence = Math.max(sequence, acknowledgement.getWelcome().getAcknowledgedSequence());
            UplinkCodec.pages(++generation, sequence, faults.faults()).forEachRemaining(stream::onNext);
        } else if (acknowledgement.hasGeneration() && acknowledgement.getGeneration() == generation) {
            reported = true;
            failures = 0;
            tally.connected.increment();
            beat();
        } else {
            tally.acknowledged.increment();
        }
    }

    private void beat() {
        StreamObserver<NodeReport> of = stream;
        var unused = timer.schedule(
                () -> {
                    synchronized (this) {
                        if (reported && stream == of) {
                            stream.onNext(NodeReport.newBuilder()
                                    .setHeartbeat(Heartbeat.getDefaultInstance())
                                    .build());
                            beat();
                        }
                    }
                },
                30,
                TimeUnit.SECONDS);
    }

    /** Reconnects like the daemon. */
    private synchronized void ended(Status status) {
        if (closed) {
            return;
        }
        if (reported) {
            tally.connected.decrement();
        }
        reported = false;
        tally.ended.computeIfAbsent(status.getCode(), any -> new LongAdder()).increment();
        var unused = timer.schedule(this::connect, BACKOFF.pause(++failures).toMillis(), TimeUnit.MILLISECONDS);
    }

    synchronized void close() {
        closed = true;
        channel.shutdownNow();
    }

    private final class Acknowledgements implements StreamObserver<Acknowledgement> {
        @Override
        public void onNext(Acknowledgement acknowledgement) {
            acknowledged(acknowledgement);
        }

        @Override
        public void onError(Throwable cause) {
            ended(Status.fromThrowable(cause));
        }

        @Override
        public void onCompleted() {
            ended(Status.OK);
        }
    }
}
