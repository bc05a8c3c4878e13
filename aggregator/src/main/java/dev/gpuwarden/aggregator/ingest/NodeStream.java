package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.ingest.AuthInterceptor.Caller;
import dev.gpuwarden.aggregator.ingest.NodeSession.Kept;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Ended;
import dev.gpuwarden.aggregator.nodehealth.GpuHolderRequests.LookupRequest;
import dev.gpuwarden.aggregator.nodehealth.SignalRequests.SignalRequest;
import dev.gpuwarden.aggregator.vram.NodeLink;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.Hello;
import dev.gpuwarden.api.v1.Lookup;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Refusal;
import dev.gpuwarden.api.v1.Signal;
import dev.gpuwarden.api.v1.Welcome;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * The two ends of one stream. Messages arrive one after the other; acknowledgements come from any thread. The stream reads a
 * node no faster than the cluster stores its reports.
 */
final class NodeStream implements StreamObserver<NodeReport>, NodeLink {

    /** Signals without an answer. */
    private static final int MOST_SIGNALS = 256;

    private final long number;
    private final UplinkService reports;
    private final UplinkProtocol conversation;
    private final ServerCallStreamObserver<Acknowledgement> node;
    private boolean over;
    private boolean waits;
    private boolean unread;
    private boolean welcomed;
    private boolean answersLookups;
    private boolean answersSignals;
    private final Map<String, SignalRequest> signals = new HashMap<>();
    private final Set<String> signalled = new HashSet<>();
    private Optional<LookupRequest> asked = Optional.empty();
    private String answered = "";
    private long sentSequence;

    /** @param number rises with each opened stream */
    NodeStream(long number, UplinkService reports, Caller caller, ServerCallStreamObserver<Acknowledgement> node) {
        this.number = number;
        this.reports = reports;
        this.conversation = new UplinkProtocol(caller);
        this.node = node;
        node.disableAutoRequest();
        node.setOnReadyHandler(this::ready);
        node.setOnCancelHandler(() -> reports.left(this));
    }

    boolean newerThan(NodeStream other) {
        return number > other.number;
    }

    void open() {
        node.request(1);
    }

    @Override
    public void onNext(NodeReport report) {
        synchronized (this) {
            if (over) {
                return;
            }
        }
        UplinkStep step = conversation.receive(report);
        if (step instanceof Ended ended) {
            reports.refused(ended.reason());
            end(ended.status());
            return;
        }
        boolean goesOn = reports.take(this, step);
        synchronized (this) {
            if (over) {
                return;
            }
            waits = !goesOn;
            if (goesOn) {
                read();
            }
        }
        if (!goesOn && reports.mayGoOn(this)) {
            // All was stored between the two.
            resume();
        }
    }

    private synchronized void resume() {
        if (waits && !over) {
            waits = false;
            read();
        }
    }

    /** Reads the next message. A node that does not read its answers is read no further, because they would pile up here. */
    private void read() {
        unread = !node.isReady();
        if (!unread) {
            node.request(1);
        }
    }

    private synchronized void ready() {
        if (unread && !over) {
            read();
        }
    }

    /** @param hello the node's Hello, which names the requests that it supports */
    synchronized void welcome(Welcome welcome, Hello hello) {
        answersLookups = hello.getAnswersLookups();
        answersSignals = hello.getAnswersSignals();
        send(Acknowledgement.newBuilder().setWelcome(welcome));
        welcomed = true;
    }

    /** The result of a request to a node. */
    enum Asked {
        ASKED,
        /** The node does not support such requests. */
        CANNOT,
        /** The request was sent here already, or the stream has no Welcome yet, or it is over. */
        NOT_NOW
    }

    /** Requests the holders of the node's GPUs, once for each request. */
    synchronized Asked lookUp(LookupRequest request) {
        String id = request.id();
        if (!welcomed || over || asked.filter(last -> last.id().equals(id)).isPresent()) {
            return Asked.NOT_NOW;
        }
        asked = Optional.of(request);
        if (!answersLookups) {
            return Asked.CANNOT;
        }
        send(Acknowledgement.newBuilder().setLookup(Lookup.newBuilder().setId(id)));
        return Asked.ASKED;
    }

    /** Returns the last request if this is its first answer. */
    synchronized Optional<LookupRequest> answered(String id) {
        Optional<LookupRequest> expected =
                asked.filter(request -> answersLookups && request.id().equals(id) && !answered.equals(id));
        answered = expected.isPresent() ? id : answered;
        return expected;
    }

    /** Acknowledges stored reports. */
    void acknowledge(Kept kept) {
        synchronized (this) {
            if (kept.generation() > 0) {
                send(Acknowledgement.newBuilder().setGeneration(kept.generation()));
            }
            for (UplinkStep.Refused refused : kept.refused()) {
                sentSequence = refused.sequence();
                send(Acknowledgement.newBuilder()
                        .setRefused(Refusal.newBuilder()
                                .setSequence(refused.sequence())
                                .setReason(refused.why())));
            }
            if (kept.sequence() > sentSequence) {
                sentSequence = kept.sequence();
                send(Acknowledgement.newBuilder().setSequence(sentSequence));
            }
        }
        resume();
    }

    /** Requests a signal, once for each request. */
    synchronized Asked signal(SignalRequest request) {
        if (!welcomed || over || signals.size() >= MOST_SIGNALS || signalled.contains(request.id())) {
            return Asked.NOT_NOW;
        }
        if (signals.putIfAbsent(request.id(), request) != null) {
            return Asked.NOT_NOW;
        }
        if (!answersSignals) {
            return Asked.CANNOT;
        }
        send(Acknowledgement.newBuilder()
                .setSignal(Signal.newBuilder()
                        .setId(request.id())
                        .setPodUid(request.podUid())
                        .setSignal(request.signal())));
        return Asked.ASKED;
    }

    /** Returns the request of this answer, the first time. */
    synchronized Optional<SignalRequest> signalled(String id) {
        Optional<SignalRequest> request = Optional.ofNullable(signals.remove(id));
        if (signalled.size() > MOST_SIGNALS) {
            // A node that receives a request again repeats its answer.
            signalled.clear();
        }
        request.ifPresent(answered -> signalled.add(answered.id()));
        return request;
    }

    private void send(Acknowledgement.Builder acknowledgement) {
        answer(acknowledgement.build());
    }

    @Override
    public synchronized boolean send(List<Acknowledgement> messages) {
        if (!node.isReady()) {
            return false;
        }
        messages.forEach(this::answer);
        return true;
    }

    /** Sends an acknowledgement, unless the stream is over. */
    @Override
    public synchronized void answer(Acknowledgement acknowledgement) {
        if (!over) {
            node.onNext(acknowledgement);
        }
    }

    /** Ends the stream from this side. Later messages are ignored. */
    void end(Status status) {
        synchronized (this) {
            if (over) {
                return;
            }
            over = true;
            node.onError(status.asRuntimeException());
        }
        reports.ended(this, status);
    }

    @Override
    public void onError(Throwable cause) {
        reports.left(this);
    }

    @Override
    public void onCompleted() {
        synchronized (this) {
            if (!over) {
                over = true;
                node.onCompleted();
            }
        }
        reports.left(this);
    }
}
