package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.UplinkCodec;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.FlowLimits;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Refusal;
import dev.gpuwarden.api.v1.Welcome;
import dev.gpuwarden.core.event.StoredEvent;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** One connection from Hello to its end, in one thread, which sleeps while neither side has anything to say. */
final class UplinkSession {

    private static final System.Logger LOG = System.getLogger(UplinkSession.class.getName());

    /** An aggregator that asks for all faults again gets them so often at most. */
    private static final long TELL_AGAIN_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final UplinkNode node;
    private final EventCursor news;
    private final AckQueue inbox;
    private final ClientCallStreamObserver<NodeReport> call;
    private final Timeouts patience;
    private final UplinkCounters tally;
    private final Runnable welcomed;
    private final Runnable proven;
    private final NameReports names;
    private final FaultReports faults;
    private final EventWindow events;
    private final HolderResponder holders;
    private final SignalResponder signals;

    private boolean knows;
    private boolean again;
    private boolean fatalNews;
    private boolean acknowledges;
    private boolean works;
    private long toldNanos;
    /** When something was heard last, or since when something is owed if that was later. */
    private long heardNanos = System.nanoTime();

    private long spokenNanos = heardNanos;
    private long leavingNanos;
    private boolean leaves;
    private SendLimits limits = SendLimits.of(FlowLimits.getDefaultInstance());

    /**
     * @param welcomed run when the aggregator knows the node
     * @param proven run when it has taken what there was to take, or a part of it
     */
    UplinkSession(
            UplinkNode node,
            EventCursor news,
            AckQueue inbox,
            ClientCallStreamObserver<NodeReport> call,
            Timeouts patience,
            UplinkCounters tally,
            Runnable welcomed,
            Runnable proven) {
        this.node = node;
        this.news = news;
        this.inbox = inbox;
        this.call = call;
        this.patience = patience;
        this.tally = tally;
        this.welcomed = welcomed;
        this.proven = proven;
        this.names = new NameReports(node.gpus());
        this.faults = new FaultReports(node, news::lastSequence);
        this.events = new EventWindow(node.book());
        this.holders = new HolderResponder(node.holders(), node.clock(), news.bell());
        this.signals = new SignalResponder(node.signals(), news.bell());
    }

    Disconnect run() throws InterruptedException {
        hello();
        while (true) {
            Optional<Status> end = inbox.end();
            hear(inbox.take());
            if (end.isPresent()) {
                return Disconnect.of(end.get());
            }
            long now = System.nanoTime();
            String owed = owed();
            if (!owed.isEmpty() && now - heardNanos >= patience(owed).toNanos()) {
                return Disconnect.silent(owed, patience(owed));
            }
            if (inbox.leaving() && left(now)) {
                return Disconnect.leaving();
            }
            if (knows) {
                speak(now);
            }
            news.bell().await(Math.max(0, due() - System.nanoTime()));
        }
    }

    private void hello() {
        long last = news.lastSequence();
        List<StoredEvent> first = node.outbox().next(Uplink.NAME, 1);
        events.passOver(first.isEmpty() ? last : first.get(0).sequence() - 1);
        call.onNext(UplinkCodec.report(UplinkCodec.hello(node.clock().instant())
                .setNodeName(node.name())
                .setBootId(node.bootId())
                .setVersion(node.version())
                .setAcknowledgedSequence(events.position())
                .setDroppedEvents(node.outbox().lag(Uplink.NAME).dropped())
                .setAnswersLookups(true)
                .setAnswersSignals(true)
                .build()));
    }

    // ---- what the aggregator says ----

    private void hear(List<Acknowledgement> said) {
        long sequence = 0;
        for (Acknowledgement one : said) {
            switch (one.getAcknowledgementCase()) {
                case WELCOME -> welcome(one.getWelcome());
                case SEQUENCE -> sequence = Math.max(sequence, one.getSequence());
                case GENERATION -> faults.acknowledged(one.getGeneration());
                case LIMITS -> limits = SendLimits.of(one.getLimits());
                case TELL_AGAIN -> again = true;
                case REFUSED -> sequence = Math.max(sequence, refused(one.getRefused()));
                case LOOKUP -> holders.asked(one.getLookup().getId());
                case SIGNAL -> signals.asked(one.getSignal());
                case ACCESS_VERDICT -> node.access().heard(one.getAccessVerdict());
                // Of a newer version.
                case ACKNOWLEDGEMENT_NOT_SET -> {}
            }
        }
        if (!said.isEmpty()) {
            heardNanos = System.nanoTime();
        }
        if (sequence > 0 && events.unacknowledged() + events.refused() > 0) {
            // One commit for all that came. Never beyond what was sent, whatever the aggregator says.
            node.outbox().acknowledge(Uplink.NAME, Math.min(sequence, events.position()));
            tally.acknowledged(events.acknowledged(sequence));
            acknowledges = true;
        }
        if (!works && faults.done() && (acknowledges || events.idle())) {
            works = true;
            tally.works();
            proven.run();
        }
    }

    private void welcome(Welcome welcome) {
        if (knows) {
            return;
        }
        knows = true;
        limits = SendLimits.of(welcome.getLimits());
        node.access().welcome(welcome.getAnswersAccessReviews(), news.bell());
        // It may know more than the node, which was killed before it noted an acknowledgement.
        long has = Math.min(welcome.getAcknowledgedSequence(), news.lastSequence());
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
        tally.refused();
        LOG.log(
                Level.WARNING,
                "the aggregator refuses event number " + refusal.getSequence() + ", which it will not get: "
                        + Disconnect.shortened(refusal.getReason()));
        return refusal.getSequence();
    }

    // ---- what the node says ----

    private void begin() {
        again = false;
        toldNanos = System.nanoTime();
        heardNanos = toldNanos;
        names.lookAgain();
        faults.begin();
    }

    private void speak(long now) {
        if (again && now - toldNanos >= TELL_AGAIN_NANOS) {
            begin();
        }
        all(node.access()::next);
        if (call.isReady()) {
            names.next(now).ifPresent(this::say);
        }
        while (faults.pages().hasNext() && call.isReady()) {
            say(faults.pages().next());
        }
        holders.look(now);
        if (call.isReady()) {
            holders.answer().ifPresent(this::say);
        }
        all(signals::answer);
        if (news.take()) {
            events.more();
            names.lookAgain();
        }
        if (faults.done() && !inbox.leaving()) {
            while (call.isReady()) {
                Optional<StoredEvent> next = events.next(limits, System.nanoTime());
                if (next.isEmpty()) {
                    break;
                }
                say(UplinkCodec.report(next.get()));
                events.sent(next.get(), limits, System.nanoTime());
            }
        }
        overtake();
        all(faults::ahead);
        if (now - spokenNanos >= limits.heartbeatNanos()) {
            heartbeat();
        }
    }

    /** A fatal fault does not wait until the aggregator has taken all that reporters have told before it. */
    private void overtake() {
        fatalNews |= news.takeFatal();
        if (fatalNews && faults.done() && !inbox.leaving()) {
            fatalNews = false;
            again |= !faults.lookAhead(events.position());
        }
    }

    private void all(Supplier<Optional<NodeReport>> waiting) {
        while (call.isReady()) {
            Optional<NodeReport> next = waiting.get();
            if (next.isEmpty()) {
                break;
            }
            say(next.get());
        }
    }

    private void heartbeat() {
        if (faults.done() && faults.outdated()) {
            begin();
            news.bell().ring();
        }
        names.lookAgain();
        // Even if none is sent, or there would be no sleep until the other side reads again.
        spokenNanos = System.nanoTime();
        if (call.isReady() && !faults.pages().hasNext()) {
            call.onNext(UplinkCodec.heartbeat(
                    node.clock().instant(), node.outbox().lag(Uplink.NAME).waiting()));
        }
    }

    private void say(NodeReport report) {
        long now = System.nanoTime();
        if (events.unacknowledged() == 0 && report.hasEvent()) {
            heardNanos = now;
        }
        spokenNanos = now;
        call.onNext(report);
    }

    // ---- time ----

    /** What the aggregator must send; empty if nothing. */
    private String owed() {
        if (!knows) {
            return "Welcome";
        }
        return faults.done() && events.unacknowledged() == 0 ? "" : "an acknowledgement";
    }

    private Duration patience(String owed) {
        return knows || owed.isEmpty() ? patience.acknowledgement() : patience.welcome();
    }

    private boolean left(long now) {
        if (!leaves) {
            leaves = true;
            leavingNanos = now;
        }
        return events.unacknowledged() == 0
                || now - leavingNanos >= patience.leaving().toNanos();
    }

    /** When to look again if nobody rings. */
    private long due() {
        long now = System.nanoTime();
        long left = knows ? spokenNanos + limits.heartbeatNanos() - now : Long.MAX_VALUE;
        String owed = owed();
        if (!owed.isEmpty()) {
            left = Math.min(left, heardNanos + patience(owed).toNanos() - now);
        }
        if (leaves) {
            left = Math.min(left, leavingNanos + patience.leaving().toNanos() - now);
        }
        if (again) {
            left = Math.min(left, toldNanos + TELL_AGAIN_NANOS - now);
        }
        if (knows) {
            left = Math.min(left, holders.pauseNanos(now));
            left = Math.min(left, call.isReady() ? names.pauseNanos(now) : Long.MAX_VALUE);
        }
        if (faults.done() && call.isReady() && !inbox.leaving()) {
            left = Math.min(left, events.pauseNanos(limits, now));
        }
        return now + left;
    }
}
