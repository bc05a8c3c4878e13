package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.UplinkGrpc;
import dev.gpuwarden.core.limit.Backoff;
import dev.gpuwarden.core.limit.RateLimit;
import dev.gpuwarden.core.util.LoopThread;
import dev.gpuwarden.core.util.Text;
import dev.gpuwarden.daemon.grpc.EventLoop;
import dev.gpuwarden.daemon.sink.SinkStats;
import dev.gpuwarden.daemon.uplink.request.RequestKind;
import io.grpc.ConnectivityState;
import io.grpc.ManagedChannel;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.MetadataUtils;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The connection that reports this node's faults and events to its aggregator, by `uplink.proto`. It reconnects with
 * growing pauses while attempts fail, and immediately for a new fatal event. Each attempt has a new channel, so that
 * certificates, token and address are read again and gRPC's own back-off has no effect.
 */
public final class Uplink implements AutoCloseable {

    private static final System.Logger LOG = System.getLogger(Uplink.class.getName());

    /** The receiver's name in the store and in metrics. */
    static final String NAME = "uplink";

    /**
     * The pauses that fatal events may shorten in a row, and the interval after which they may shorten one more. With the
     * regular attempts a node stays below the aggregator's limit, one Hello in ten seconds.
     */
    static final int EARLY_ATTEMPTS = 3;

    private static final long EARLY_ATTEMPT_NANOS = TimeUnit.MINUTES.toNanos(2);

    /** The longest wait before an attempt for a fatal event: many nodes may have the same one at the same moment. */
    private static final Duration EARLY_SPREAD = Duration.ofMillis(500);

    private final UplinkNode node;
    private final UplinkAddress address;
    private final Timeouts timeouts;
    private final Backoff backoff;
    private final RateLimit early = new RateLimit(EARLY_ATTEMPTS, EARLY_ATTEMPT_NANOS, 1, System::nanoTime);
    private final SinkStats.Counters counters = new SinkStats.Counters();
    private final EventLoop loop = new EventLoop();
    private final EventCursor cursor;
    private final LoopThread thread = new LoopThread("gpuwarden-uplink", this::turn);
    private int failures;
    private String logged = "";

    private Uplink(UplinkNode node, UplinkAddress address, Timeouts timeouts) {
        this.node = node;
        this.address = address;
        this.timeouts = timeouts;
        this.backoff = timeouts.backoff();
        this.cursor = EventCursor.of(node);
    }

    static Uplink start(UplinkNode node, UplinkAddress address, Timeouts timeouts) {
        Uplink uplink = new Uplink(node, address, timeouts);
        uplink.thread.start();
        return uplink;
    }

    public SinkStats stats() {
        return counters.stats(NAME, node.outbox().lag(NAME));
    }

    /** Connects, sends until the connection ends, and waits for the time of the next attempt. */
    private long turn() throws InterruptedException {
        long fatal = cursor.lastFatal();
        Disconnect ending = connect();
        failures++;
        Duration wait = backoff.pause(failures).multipliedBy(ending.slowness());
        if (!thread.isClosed()) {
            note(ending);
        }
        pause(wait, fatal);
        return 0;
    }

    /**
     * Waits for the time of the next attempt.
     *
     * @param fatal the newest fatal event before the last attempt: a newer one shortens the pause
     */
    private void pause(Duration wait, long fatal) throws InterruptedException {
        long until = System.nanoTime() + wait.toNanos();
        boolean shortened = false;
        while (!thread.isClosed()) {
            long left = until - System.nanoTime();
            if (!shortened && left > EARLY_SPREAD.toNanos() && cursor.lastFatal() > fatal && early.take(NAME)) {
                shortened = true;
                left = new Backoff(EARLY_SPREAD, EARLY_SPREAD, 1).pause(1).toNanos();
                until = System.nanoTime() + left;
            }
            if (left <= 0) {
                return;
            }
            cursor.wakeup().await(left);
        }
    }

    private Disconnect connect() throws InterruptedException {
        ManagedChannel channel = null;
        try {
            channel = address.channel(loop.group());
            return session(channel).run();
        } catch (IOException | RuntimeException | Error e) {
            // Errors too: without this thread the node is silent until the daemon starts again.
            return Disconnect.local(e);
        } finally {
            node.requests().forEach(RequestKind::end);
            if (channel != null) {
                channel.shutdownNow();
            }
        }
    }

    private UplinkSession session(ManagedChannel channel) throws IOException {
        AckQueue acks = new AckQueue(cursor.wakeup());
        var call = (ClientCallStreamObserver<NodeReport>) UplinkGrpc.newStub(channel)
                .withInterceptors(MetadataUtils.newAttachHeadersInterceptor(address.credentials()))
                .report(acks);
        return new UplinkSession(
                node,
                cursor,
                acks,
                call,
                timeouts,
                counters,
                // After GOAWAY the stream continues, but the channel is no longer ready.
                () -> channel.notifyWhenStateChanged(ConnectivityState.READY, acks::leave),
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
        counters.failed(ending.why());
        // Each cause once: a wrong token is logged at the first attempt only.
        if (!logged.equals(ending.kind())) {
            logged = ending.kind();
            LOG.log(
                    Level.WARNING,
                    "aggregator " + address + " takes no events; they are kept and tried again: " + ending.why());
        }
    }

    @Override
    public void close() {
        cursor.close();
        // The next daemon sends the remaining events.
        thread.interrupt(Duration.ofSeconds(2));
        loop.close();
    }

    /**
     * The uplink's timeouts for the aggregator.
     *
     * @param retry the pause after the first failure, see {@link Backoff}
     * @param longestRetry the longest pause after failures; {@link Disconnect#slowness} multiplies it
     * @param welcome the wait for Welcome, from the start of the connection
     * @param acknowledgement the wait for an acknowledgement, since the last one
     * @param leaving the wait for open acknowledgements after the aggregator closes the connection
     */
    record Timeouts(
            Duration retry, Duration longestRetry, Duration welcome, Duration acknowledgement, Duration leaving) {

        static final Timeouts USUAL = new Timeouts(
                Duration.ofSeconds(1),
                Duration.ofSeconds(15),
                Duration.ofSeconds(20),
                Duration.ofSeconds(60),
                Duration.ofSeconds(10));

        Backoff backoff() {
            return new Backoff(retry, longestRetry, 0.5);
        }
    }

    /**
     * The reason of the end of a connection to the aggregator.
     *
     * @param failed false if the aggregator only requested a new connection
     * @param slowness the factor by which the pause before the next attempt is longer than after a broken connection
     */
    record Disconnect(String kind, String why, boolean failed, int slowness) {

        private static final int LONGEST_TEXT = 200;

        /** The factor for errors that last until the other side is changed: frequent attempts are useless. */
        static final int SLOW = 5;

        static Disconnect of(Status status) {
            String text = status.getDescription() == null ? "" : ": " + shortened(status.getDescription());
            Throwable cause = status.getCause();
            if (cause != null && cause.getMessage() != null) {
                text += " (" + shortened(cause.getMessage()) + ")";
            }
            if (status.isOk()) {
                return new Disconnect("OK", "the aggregator ended the stream", true, 1);
            }
            return new Disconnect(status.getCode().name(), status.getCode() + text, true, slowness(status.getCode()));
        }

        static Disconnect silent(String message, Duration timeout) {
            return new Disconnect(
                    "silent",
                    "the aggregator did not send " + message + " within " + timeout.toSeconds() + " s",
                    true,
                    1);
        }

        static Disconnect leaving() {
            return new Disconnect("leaving", "the aggregator closes the connection", false, 1);
        }

        /** Returns the reason for a failure on this side: files that cannot be read, a store that takes no writes. */
        static Disconnect local(Throwable cause) {
            return new Disconnect(
                    cause.getClass().getSimpleName(), shortened(String.valueOf(cause.getMessage())), true, 1);
        }

        static int slowness(Status.Code code) {
            return switch (code) {
                // Identity, request or quota is wrong, and stays so for a while. ABORTED: another daemon reports for
                // this node.
                case UNAUTHENTICATED,
                        PERMISSION_DENIED,
                        INVALID_ARGUMENT,
                        FAILED_PRECONDITION,
                        UNIMPLEMENTED,
                        RESOURCE_EXHAUSTED,
                        ABORTED -> SLOW;
                default -> 1;
            };
        }

        static String shortened(String text) {
            return Text.truncate(text, LONGEST_TEXT);
        }
    }
}
