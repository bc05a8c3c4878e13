package dev.gpuwarden.daemon.uplink;

import dev.gpuwarden.api.v1.Acknowledgement;
import dev.gpuwarden.api.v1.NodeReport;
import dev.gpuwarden.daemon.sink.Wakeup;
import io.grpc.Status;
import io.grpc.stub.ClientCallStreamObserver;
import io.grpc.stub.ClientResponseObserver;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/**
 * What the aggregator says, from Netty's thread to the uplink's. Bounded: no more is asked of the aggregator than was taken
 * out.
 */
final class AckQueue implements ClientResponseObserver<NodeReport, Acknowledgement> {

    private static final int MOST = 64;

    private final Wakeup bell;
    private final ConcurrentLinkedQueue<Acknowledgement> said = new ConcurrentLinkedQueue<>();
    private volatile @Nullable ClientCallStreamObserver<NodeReport> call;
    private volatile @Nullable Status end;
    private volatile boolean leaving;

    AckQueue(Wakeup bell) {
        this.bell = bell;
    }

    @Override
    public void beforeStart(ClientCallStreamObserver<NodeReport> started) {
        call = started;
        started.disableAutoRequestWithInitial(MOST);
        started.setOnReadyHandler(bell::ring);
    }

    @Override
    public void onNext(Acknowledgement acknowledgement) {
        said.add(acknowledgement);
        bell.ring();
    }

    @Override
    public void onError(Throwable cause) {
        end = Status.fromThrowable(cause);
        bell.ring();
    }

    @Override
    public void onCompleted() {
        end = Status.OK;
        bell.ring();
    }

    /** The connection will take no more streams: the aggregator stops, or wants its nodes spread anew. */
    void leave() {
        leaving = true;
        bell.ring();
    }

    boolean leaving() {
        return leaving;
    }

    /** Look here before {@link #take}, or what was said last is missed. */
    Optional<Status> end() {
        return Optional.ofNullable(end);
    }

    List<Acknowledgement> take() {
        List<Acknowledgement> taken = new ArrayList<>();
        for (Acknowledgement next = said.poll(); next != null; next = said.poll()) {
            taken.add(next);
        }
        ClientCallStreamObserver<NodeReport> from = call;
        if (from != null && !taken.isEmpty() && end == null) {
            from.request(taken.size());
        }
        return taken;
    }
}
