package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.core.util.Wakeup;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * The queue of the aggregator's messages, from Netty's thread to the uplink's. Bounded: it requests no more messages
 * than were taken out.
 */
final class AckQueue implements ClientResponseObserver<NodeReport, Acknowledgement> {

    private static final int MOST = 64;

    private final Wakeup wakeup;
    private final ConcurrentLinkedQueue<Acknowledgement> messages = new ConcurrentLinkedQueue<>();
    private volatile @Nullable ClientCallStreamObserver<NodeReport> call;
    private volatile @Nullable Status end;
    private volatile boolean leaving;

    AckQueue(Wakeup wakeup) {
        this.wakeup = wakeup;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<NodeReport> started) {
        call = started;
        started.disableAutoRequestWithInitial(MOST);
        started.setOnReadyHandler(wakeup::signal);
    }

    @Override
    public void onNext(Acknowledgement acknowledgement) {
        messages.add(acknowledgement);
        wakeup.signal();
    }

    @Override
    public void onError(Throwable cause) {
        end = Status.fromThrowable(cause);
        wakeup.signal();
    }

    @Override
    public void onCompleted() {
        end = Status.OK;
        wakeup.signal();
    }

    /** Marks that the connection takes no more streams: the aggregator stops, or redistributes its nodes. */
    void leave() {
        leaving = true;
        wakeup.signal();
    }

    boolean leaving() {
        return leaving;
    }

    /** Returns the status of a finished stream. Call this before {@link #take}; otherwise the last messages are missed. */
    Optional<Status> end() {
        return Optional.ofNullable(end);
    }

    List<Acknowledgement> take() {
        List<Acknowledgement> taken = new ArrayList<>();
        for (Acknowledgement next = messages.poll(); next != null; next = messages.poll()) {
            taken.add(next);
        }
        ClientCallStreamObserver<NodeReport> from = call;
        if (from != null && !taken.isEmpty() && end == null) {
            from.request(taken.size());
        }
        return taken;
    }
}
