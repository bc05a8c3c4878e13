package dev.gpuwarden.daemon.grpc;

import com.google.protobuf.Duration;
import dev.gpuwarden.api.v1.Reservation;
import dev.gpuwarden.api.v1.ReserveRequest;
import dev.gpuwarden.api.v1.VramNotice;
import dev.gpuwarden.api.v1.VramServiceGrpc;
import dev.gpuwarden.api.v1.WatchNoticesRequest;
import dev.gpuwarden.daemon.vram.notice.Notice;
import dev.gpuwarden.daemon.vram.reserve.Progress;
import dev.gpuwarden.daemon.vram.reserve.Refusal;
import dev.gpuwarden.daemon.vram.reserve.Request;
import dev.gpuwarden.daemon.vram.watch.LocalCalls;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.Optional;
import java.util.concurrent.Executor;
import java.util.function.Function;

/** The service for requests for GPU memory and for notices about it. Only processes of this node use it. */
final class VramService extends VramServiceGrpc.VramServiceImplBase {

    private static final java.time.Duration LONGEST = java.time.Duration.ofHours(24);
    private static final java.time.Duration WAIT = java.time.Duration.ofMinutes(10);
    private static final java.time.Duration HOLD = java.time.Duration.ofMinutes(5);
    private static final int LONGEST_NAME = 512;

    private final NodeSources sources;
    private final AccessPolicy access;
    private final WorkerPool reading;
    private final Executor loop;

    /**
     * @param reading for the search of the caller's tenant
     * @param loop sends all messages
     */
    VramService(NodeSources sources, AccessPolicy access, WorkerPool reading, Executor loop) {
        this.sources = sources;
        this.access = access;
        this.reading = reading;
        this.loop = loop;
    }

    @Override
    public void reserve(ReserveRequest request, StreamObserver<Reservation> client) {
        StateStream<Progress, Reservation> stream = new StateStream<>(
                (ServerCallStreamObserver<Reservation>) client,
                loop,
                LocalCallMessages::toWire,
                any -> "",
                state -> state.state() == Progress.State.EXPIRED);
        open(client, stream, caller -> calls().reservations().open(request(caller, request), stream));
    }

    @Override
    public void watchNotices(WatchNoticesRequest request, StreamObserver<VramNotice> client) {
        StateStream<Notice, VramNotice> stream = new StateStream<>(
                (ServerCallStreamObserver<VramNotice>) client,
                loop,
                LocalCallMessages::toWire,
                notice -> notice.gpu().selector(),
                notice -> false);
        open(client, stream, caller -> calls().notices().watch(caller, stream));
    }

    /** @param opening opens the stream for the caller, and returns what to do at its end; reads /proc */
    private <S, M> void open(
            StreamObserver<M> client, StateStream<S, M> stream, Function<Request.Caller, Runnable> opening) {
        if (!(Peer.current() instanceof Peer.Process process)) {
            client.onError(NodeService.status(
                    Status.PERMISSION_DENIED,
                    "only a process of this node may make this call, over the daemon's Unix socket"));
            return;
        }
        Request.Caller caller = new Request.Caller(
                process.pid(), process.uid(), process.connectedAtNanos(), access.mayAdminister(process));
        reading.runLater(client, () -> {
            try {
                stream.onEnd(opening.apply(caller));
            } catch (Refusal e) {
                client.onError(NodeService.status(code(e.kind()), String.valueOf(e.getMessage())));
            } catch (RuntimeException e) {
                client.onError(WorkerPool.status(e).asRuntimeException());
            }
        });
    }

    private LocalCalls calls() {
        return sources.calls()
                .get()
                .orElseThrow(() -> NodeService.status(
                        Status.FAILED_PRECONDITION,
                        "the VRAM watchdog of this node is off; it runs with --vram.budgets or --vram.pods"));
    }

    private static Request request(Request.Caller caller, ReserveRequest request) {
        if (request.getBytes() <= 0) {
            throw NodeService.status(Status.INVALID_ARGUMENT, "bytes: expected 1 or more, seen " + request.getBytes());
        }
        return new Request(
                caller,
                name("tenant", request.getTenant()),
                request.getBytes(),
                name("gpu", request.getGpu()),
                request.getBorrow(),
                request.hasWait() ? time("wait", request.getWait()) : WAIT,
                request.hasHold() ? time("hold", request.getHold()) : HOLD);
    }

    private static Optional<String> name(String field, String name) {
        if (name.length() > LONGEST_NAME) {
            throw NodeService.status(
                    Status.INVALID_ARGUMENT, field + ": expected at most " + LONGEST_NAME + " characters");
        }
        return Optional.of(name).filter(given -> !given.isEmpty());
    }

    private static java.time.Duration time(String field, Duration wire) {
        boolean good = wire.getSeconds() >= 0
                && wire.getSeconds() <= LONGEST.toSeconds()
                && wire.getNanos() >= 0
                && wire.getNanos() < 1_000_000_000;
        java.time.Duration time =
                good ? java.time.Duration.ofSeconds(wire.getSeconds(), wire.getNanos()) : java.time.Duration.ZERO;
        if (!good || time.compareTo(LONGEST) > 0) {
            throw NodeService.status(Status.INVALID_ARGUMENT, field + ": expected 0 s to 24 h");
        }
        return time;
    }

    private static Status code(Refusal.Cause cause) {
        return switch (cause) {
            case NOT_READY -> Status.UNAVAILABLE;
            case IMPOSSIBLE -> Status.FAILED_PRECONDITION;
            case NOT_FOUND -> Status.NOT_FOUND;
            case FORBIDDEN -> Status.PERMISSION_DENIED;
            case TOO_LARGE -> Status.OUT_OF_RANGE;
            case TOO_MANY -> Status.RESOURCE_EXHAUSTED;
        };
    }
}
