package dev.gpuwarden.aggregator.ingest;

import dev.gpuwarden.aggregator.ingest.AuthInterceptor.Caller;
import dev.gpuwarden.aggregator.ingest.NodeSession.Kept;
import dev.gpuwarden.aggregator.ingest.UplinkStep.Ended;
import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.api.v1.Refusal;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.List;

/**
 * The two ends of one stream. Messages arrive one after the other; acknowledgements come from any thread. The stream reads a
 * node no faster than the cluster stores its reports.
 */
final class NodeStream implements StreamObserver<NodeReport>, NodeLink {

    private final long number;
    private final UplinkService reports;
    private final UplinkProtocol conversation;
    private final ServerCallStreamObserver<Acknowledgement> node;
    private boolean over;
    private boolean waits;
    private boolean unread;
    private long sentSequence;

    /** @param number rises with each opened stream */
    NodeStream(long number, UplinkService reports, Caller caller, ServerCallStreamObserver<Acknowledgement> node) {
        this.number = number;
        this.reports = reports;
        this.conversation = new UplinkProtocol(caller, reports.kinds());
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
