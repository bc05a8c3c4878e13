package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.UplinkGrpc;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.grpc.EventLoop;
import dev.gpuwarden.daemon.sink.SinkStats;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Keeps this node's faults and events known to its aggregator, by `uplink.proto`. Connects, and connects again, ever more
 * seldom while that fails. A new channel each time: certificates, token and address are read anew, and gRPC's own
 * back-off has no say.
 */
public final class Uplink implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Uplink.class.getName());

    /** In the store and in metrics. */
    static final String NAME = "uplink";

    private static final Duration LONGEST_RETRY = Duration.ofMinutes(2);

    private final UplinkNode node;
    private final UplinkAddress address;
    private final Timeouts patience;
    private final Backoff backoff;
    private final UplinkCounters tally = new UplinkCounters();
    private final EventLoop loop = new EventLoop();
    private final CountDownLatch ended = new CountDownLatch(1);
    private final EventCursor news;
    private final Thread thread;
    private int failures;
    private String logged = "";

    private Uplink(UplinkNode node, UplinkAddress address, Timeouts patience) {
        this.node = node;
        this.address = address;
        this.patience = patience;
        this.backoff = new Backoff(patience.retry(), LONGEST_RETRY, 0.5);
        this.news = EventCursor.of(node);
        this.thread = Threads.daemon("gpuwarden-uplink", this::run);
    }

    static Uplink start(UplinkNode node, UplinkAddress address, Timeouts patience) {
        Uplink uplink = new Uplink(node, address, patience);
        uplink.thread.start();
        return uplink;
    }

    public SinkStats stats() {
        return tally.stats(node.outbox().lag(NAME));
    }

    private void run() {
        try {
            while (ended.getCount() > 0) {
                Disconnect ending = connect();
                failures++;
                Duration wait = backoff.pause(failures).multipliedBy(ending.slowness());
                if (ended.getCount() > 0) {
                    note(ending);
                }
                // Not on the bell: news are no reason to try sooner.
                var unused = ended.await(wait.toNanos(), TimeUnit.NANOSECONDS);
            }
        } catch (InterruptedException e) {
            // The daemon ends; what is left is sent by the next one.
            Thread.currentThread().interrupt();
        }
    }

    private Disconnect connect() throws InterruptedException {
        ManagedChannel channel = null;
        try {
            channel = address.channel(loop.group());
            return session(channel).run();
        } catch (IOException | RuntimeException e) {
            return Disconnect.local(e);
        } finally {
            node.access().end();
            if (channel != null) {
                channel.shutdownNow();
            }
        }
    }

    private UplinkSession session(ManagedChannel channel) throws IOException {
        AckQueue inbox = new AckQueue(news.bell());
        var call = (ClientCallStreamObserver<NodeReport>) UplinkGrpc.newStub(channel)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(address.credentials()))
                .report(inbox);
        return new UplinkSession(
                node,
                news,
                inbox,
                call,
                patience,
                tally,
                // After GOAWAY the stream goes on, and the channel is ready no more.
                () -> channel.notifyWhenStateChanged(ConnectivityState.READY, inbox::leave),
                this::works);
    }

    private void works() {
        failures = 0;
        LOG.log(Level.INFO, "aggregator " + address + " takes faults and events");
        logged = "";
    }

    private void note(Disconnect ending) {
        if (!ending.failed()) {
            return;
        }
        tally.failed(ending.why());
        // Each cause once: a wrong token is no news at the tenth attempt.
        if (!logged.equals(ending.kind())) {
            logged = ending.kind();
            LOG.log(
                    Level.WARNING,
                    "aggregator " + address + " takes no events; they are kept and tried again: " + ending.why());
        }
    }

    @Override
    public void close() {
        ended.countDown();
        news.close();
        thread.interrupt();
        try {
            thread.join(TimeUnit.SECONDS.toMillis(2));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        loop.close();
    }
}
