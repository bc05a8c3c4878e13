package dev.gpuwarden.daemon.grpc;

import com.google.protobuf.Timestamp;
import dev.gpuwarden.api.v1.Reservation;
import dev.gpuwarden.api.v1.ReservedGpu;
import dev.gpuwarden.core.util.Text;
import dev.gpuwarden.daemon.vram.reserve.Progress;
import dev.gpuwarden.daemon.vram.reserve.ReservationDesk;
import io.grpc.stub.ServerCallStreamObserver;
import java.util.concurrent.Executor;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Sends the states of one request to its client, the newest alone where the client reads slowly. The end of the call ends
 * the request. Thread-safe.
 */
final class ReservationStream implements Consumer<Progress> {

    private static final int NAME = 128;
    private static final int SENTENCE = 1024;

    private final ServerCallStreamObserver<Reservation> client;
    private final Executor loop;
    private ReservationDesk.@Nullable Handle handle;
    private @Nullable Progress next;
    private boolean over;

    /** Call it before the service's method returns. */
    ReservationStream(ServerCallStreamObserver<Reservation> client, Executor loop) {
        this.client = client;
        this.loop = loop;
        client.setOnReadyHandler(this::send);
        client.setOnCancelHandler(this::end);
    }

    /** Passes the request on, which ends with the call: that may have ended already. */
    void opened(ReservationDesk.Handle opened) {
        synchronized (this) {
            if (!over) {
                handle = opened;
                return;
            }
        }
        opened.close();
    }

    @Override
    public void accept(Progress progress) {
        synchronized (this) {
            next = progress;
        }
        loop.execute(this::send);
    }

    private void end() {
        ReservationDesk.Handle open;
        synchronized (this) {
            over = true;
            open = handle;
        }
        if (open != null) {
            open.close();
        }
    }

    /** Runs on the event loop alone. */
    private void send() {
        Progress now;
        synchronized (this) {
            now = next;
            if (over || now == null || !client.isReady()) {
                return;
            }
            next = null;
            over = now.state() == Progress.State.EXPIRED;
        }
        client.onNext(toWire(now));
        if (now.state() == Progress.State.EXPIRED) {
            client.onCompleted();
        }
    }

    private static Reservation toWire(Progress now) {
        Reservation.Builder wire = Reservation.newBuilder()
                .setState(
                        switch (now.state()) {
                            case WAITING -> Reservation.State.WAITING;
                            case GRANTED -> Reservation.State.GRANTED;
                            case EXPIRED -> Reservation.State.EXPIRED;
                        })
                .setReason(Text.truncate(now.reason(), SENTENCE))
                .setTenant(Text.truncate(now.tenant(), NAME))
                .setUnusedBytes(now.unusedBytes())
                .setUntil(Timestamp.newBuilder()
                        .setSeconds(now.until().getEpochSecond())
                        .setNanos(now.until().getNano()));
        now.gpu()
                .ifPresent(gpu -> wire.setGpu(
                        ReservedGpu.newBuilder().setIndex(gpu.index()).setUuid(gpu.selector())));
        return wire.build();
    }
}
