package dev.gpuwarden.daemon.grpc;

import com.google.protobuf.Duration;
import dev.gpuwarden.api.v1.Reservation;
import dev.gpuwarden.api.v1.ReserveRequest;
import dev.gpuwarden.api.v1.VramServiceGrpc;
import dev.gpuwarden.daemon.vram.reserve.Refusal;
import dev.gpuwarden.daemon.vram.reserve.Request;
import dev.gpuwarden.daemon.vram.reserve.ReservationDesk;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.util.Optional;
import java.util.concurrent.Executor;

/** The service for requests for GPU memory. Only processes of this node use it. */
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
        ReservationStream stream = new ReservationStream((ServerCallStreamObserver<Reservation>) client, loop);
        if (!(Peer.current() instanceof Peer.Process process)) {
            client.onError(NodeService.status(
                    Status.PERMISSION_DENIED,
                    "only a process of this node may reserve memory, over the daemon's Unix socket"));
            return;
        }
        Request.Caller caller = new Request.Caller(
                process.pid(), process.uid(), process.connectedAtNanos(), access.mayAdminister(process));
        reading.runLater(client, () -> {
            try {
                stream.opened(desk().open(request(caller, request), stream));
            } catch (Refusal e) {
                client.onError(NodeService.status(code(e.kind()), String.valueOf(e.getMessage())));
            } catch (RuntimeException e) {
                client.onError(WorkerPool.status(e).asRuntimeException());
            }
        });
    }

    private ReservationDesk desk() {
        return sources.reservations()
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
            case IMPOSSIBLE -> Status.FAILED_PRECONDITION;
            case NOT_FOUND -> Status.NOT_FOUND;
            case FORBIDDEN -> Status.PERMISSION_DENIED;
            case TOO_LARGE -> Status.OUT_OF_RANGE;
            case TOO_MANY -> Status.RESOURCE_EXHAUSTED;
        };
    }
}
