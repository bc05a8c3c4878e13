package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.FlowLimits;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Refusal;
import dev.gpuwarden.api.v1.Welcome;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.daemon.sink.SinkStats;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** One connection from Hello to its end, in one thread, which sleeps while neither side has a message to send. */
final class UplinkSession {

    private static final System.Logger LOG = System.getLogger(UplinkSession.class.getName());

    /** The shortest pause between two reports of all faults that the aggregator requests. */
    private static final long REPORT_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final UplinkNode node;
    private final EventCursor cursor;
    private final AckQueue acks;
    private final ClientCallStreamObserver<NodeReport> call;
    private final Uplink.Timeouts timeouts;
    private final SinkStats.Counters counters;
    private final Runnable welcomed;
    private final Runnable proven;
    private final NameReports names;
    private final FaultReports faults;
    private final EventWindow events;

    private boolean accepted;
    private boolean again;
    /** The newest fatal event that is in the pages or was queued ahead. */
    private long fatalQueued;

    private boolean acknowledges;
    private boolean works;
    private long reportedNanos;
    /** The time of the last message, or since when an answer is due if that is later. */
    private long receivedNanos = System.nanoTime();

    private long sentNanos = receivedNanos;
    private long leavingNanos;
    private boolean leaves;
    private EventWindow.SendLimits limits = EventWindow.SendLimits.of(FlowLimits.getDefaultInstance());

    /**
     * @param welcomed run after the aggregator's Welcome
     * @param proven run after the aggregator acknowledged all events that waited, or part of them
     */
    UplinkSession(
            UplinkNode node,
            EventCursor cursor,
            AckQueue acks,
            ClientCallStreamObserver<NodeReport> call,
            Uplink.Timeouts timeouts,
            SinkStats.Counters counters,
            Runnable welcomed,
            Runnable proven) {
        this.node = node;
        this.cursor = cursor;
        this.acks = acks;
        this.call = call;
        this.timeouts = timeouts;
        this.counters = counters;
        this.welcomed = welcomed;
        this.proven = proven;
        this.names = new NameReports(node.gpus());
        this.faults = new FaultReports(node, cursor::lastSequence);
        this.events = new EventWindow(node.book());
        this.fatalQueued = cursor.lastFatal();
    }

    Uplink.Disconnect run() throws InterruptedException {
        hello();
        while (true) {
            Optional<Status> end = acks.end();
            receive(acks.take());
            if (end.isPresent()) {
                return Uplink.Disconnect.of(end.get());
            }
            long now = System.nanoTime();
            String owed = owed();
            if (!owed.isEmpty() && now - receivedNanos >= timeout(owed).toNanos()) {
                return Uplink.Disconnect.silent(owed, timeout(owed));
            }
            if (acks.leaving() && left(now)) {
                return Uplink.Disconnect.leaving();
            }
            if (accepted) {
                sendDue(now);
            }
            cursor.wakeup().await(Math.max(0, due() - System.nanoTime()));
        }
    }

    private void hello() {
        long last = cursor.lastSequence();
        List<StoredEvent> first = node.outbox().next(Uplink.NAME, 1);
        events.passOver(first.isEmpty() ? last : first.get(0).sequence() - 1);
        Hello.Builder hello = UplinkCodec.hello(node.clock().instant())
                .setNodeName(node.name())
                .setBootId(node.bootId())
                .setVersion(node.version())
                .setAcknowledgedSequence(events.position())
                .setDroppedEvents(node.outbox().lag(Uplink.NAME).dropped());
        node.requests().forEach(kind -> kind.greet(hello));
        call.onNext(UplinkCodec.report(hello.build()));
    }

    // ---- messages of the aggregator ----

    private void receive(List<Acknowledgement> messages) {
        long sequence = 0;
        for (Acknowledgement one : messages) {
            switch (one.getAcknowledgementCase()) {
                case WELCOME -> welcome(one.getWelcome());
                case SEQUENCE -> sequence = Math.max(sequence, one.getSequence());
                case GENERATION -> faults.acknowledged(one.getGeneration());
                case LIMITS -> limits = EventWindow.SendLimits.of(one.getLimits());
                case TELL_AGAIN -> again = true;
                case REFUSED -> sequence = Math.max(sequence, refused(one.getRefused()));
                // No kind receives a message of a newer version.
                default -> {
                    var unused = node.requests().stream().anyMatch(kind -> kind.received(one));
                }
            }
        }
        if (!messages.isEmpty()) {
            receivedNanos = System.nanoTime();
        }
        if (sequence > 0 && events.unacknowledged() + events.refused() > 0) {
            // One commit for all acknowledgements, and never beyond the last sent event.
            node.outbox().acknowledge(Uplink.NAME, Math.min(sequence, events.position()));
            counters.acknowledged(events.acknowledged(sequence));
            acknowledges = true;
        }
        if (!works && faults.done() && (acknowledges || events.idle())) {
            works = true;
            counters.works();
            proven.run();
        }
    }

    private void welcome(Welcome welcome) {
        if (accepted) {
            return;
        }
        accepted = true;
        limits = EventWindow.SendLimits.of(welcome.getLimits());
        node.requests().forEach(kind -> kind.welcome(welcome, cursor.wakeup()));
        // The aggregator may have more events than acknowledged here, if the node was killed before it stored an
        // acknowledgement.
        long has = Math.min(welcome.getAcknowledgedSequence(), cursor.lastSequence());
        if (has > events.position()) {
            node.outbox().acknowledge(Uplink.NAME, has);
            events.passOver(has);
        }
        begin();
        welcomed.run();
    }

    private long refused(Refusal refusal) {
        if (!events.refused(refusal.getSequence())) {
            return 0;
        }
        counters.refused();
        LOG.log(
                Level.WARNING,
                "the aggregator refuses event number " + refusal.getSequence() + ", which it will not get: "
                        + Uplink.Disconnect.shortened(refusal.getReason()));
        return refusal.getSequence();
    }

    // ---- messages of the node ----

    private void begin() {
        again = false;
        reportedNanos = System.nanoTime();
        receivedNanos = reportedNanos;
        names.refresh();
        faults.begin();
    }

    private void sendDue(long now) {
        if (again && now - reportedNanos >= REPORT_AGAIN_NANOS) {
            begin();
        }
        node.requests().forEach(kind -> all(kind::next));
        if (call.isReady()) {
            names.next(now).ifPresent(this::send);
        }
        while (faults.pages().hasNext() && call.isReady()) {
            send(faults.pages().next());
        }
        if (cursor.take()) {
            events.more();
            names.refresh();
        }
        if (faults.done() && !acks.leaving()) {
            while (call.isReady()) {
                Optional<StoredEvent> next = events.next(limits, System.nanoTime());
                if (next.isEmpty()) {
                    break;
                }
                send(UplinkCodec.report(next.get()));
                events.sent(next.get(), limits, System.nanoTime());
            }
        }
        queueFatalFaults();
        all(faults::ahead);
        if (now - sentNanos >= limits.heartbeatNanos()) {
            heartbeat();
        }
    }

    /** Sends new fatal faults ahead of earlier events that wait. */
    private void queueFatalFaults() {
        long newest = cursor.lastFatal();
        if (newest > fatalQueued && faults.done() && !acks.leaving()) {
            fatalQueued = newest;
            again |= !faults.queueFatal(events.position());
        }
    }

    private void all(Supplier<Optional<NodeReport>> waiting) {
        while (call.isReady()) {
            Optional<NodeReport> next = waiting.get();
            if (next.isEmpty()) {
                break;
            }
            send(next.get());
        }
    }

    private void heartbeat() {
        if (faults.done() && faults.outdated()) {
            begin();
            cursor.wakeup().signal();
        }
        names.refresh();
        // Also if no heartbeat is sent: otherwise the thread would not sleep until the other side reads again.
        sentNanos = System.nanoTime();
        if (call.isReady() && !faults.pages().hasNext()) {
            call.onNext(UplinkCodec.heartbeat(
                    node.clock().instant(), node.outbox().lag(Uplink.NAME).waiting()));
        }
    }

    private void send(NodeReport report) {
        long now = System.nanoTime();
        if (events.unacknowledged() == 0 && report.hasEvent()) {
            receivedNanos = now;
        }
        sentNanos = now;
        call.onNext(report);
    }

    // ---- time ----

    /** Returns the name of the message that the aggregator must send next; empty if none is due. */
    private String owed() {
        if (!accepted) {
            return "Welcome";
        }
        return faults.done() && events.unacknowledged() == 0 ? "" : "an acknowledgement";
    }

    private Duration timeout(String owed) {
        return accepted || owed.isEmpty() ? timeouts.acknowledgement() : timeouts.welcome();
    }

    private boolean left(long now) {
        if (!leaves) {
            leaves = true;
            leavingNanos = now;
        }
        return events.unacknowledged() == 0
                || now - leavingNanos >= timeouts.leaving().toNanos();
    }

    /** Returns the time of the next turn without a wakeup. */
    private long due() {
        long now = System.nanoTime();
        long left = accepted ? sentNanos + limits.heartbeatNanos() - now : Long.MAX_VALUE;
        String owed = owed();
        if (!owed.isEmpty()) {
            left = Math.min(left, receivedNanos + timeout(owed).toNanos() - now);
        }
        if (leaves) {
            left = Math.min(left, leavingNanos + timeouts.leaving().toNanos() - now);
        }
        if (again) {
            left = Math.min(left, reportedNanos + REPORT_AGAIN_NANOS - now);
        }
        if (accepted) {
            left = Math.min(left, call.isReady() ? names.pauseNanos(now) : Long.MAX_VALUE);
        }
        if (faults.done() && call.isReady() && !acks.leaving()) {
            left = Math.min(left, events.pauseNanos(limits, now));
        }
        return now + left;
    }
}
