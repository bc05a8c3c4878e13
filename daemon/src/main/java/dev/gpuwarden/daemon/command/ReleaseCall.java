package dev.gpuwarden.daemon.command;

import dev.gpuwarden.api.v1.GpuRelease;
import dev.gpuwarden.api.v1.MaintenanceServiceGrpc;
import dev.gpuwarden.api.v1.ReleaseGpusRequest;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Threads;
import dev.gpuwarden.daemon.grpc.NodeClient;
import io.grpc.Context;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Iterator;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** A call that keeps the daemon off GPUs until it is closed. Thread-safe. */
final class ReleaseCall implements AutoCloseable {

    /** The daemon gives a check 10 s and its driver 20 s for each GPU that it must leave. */
    private static final Duration PATIENCE = Duration.ofSeconds(120);

    private final NodeClient node;
    private final Context.CancellableContext context = Context.ROOT.withCancellation();
    private final CompletableFuture<Void> released = new CompletableFuture<>();
    private final CompletableFuture<String> lost = new CompletableFuture<>();

    private ReleaseCall(NodeClient node) {
        this.node = node;
    }

    /**
     * Asks the daemon, and returns as soon as it holds none of the GPUs.
     *
     * @return absent with the cause of a failure; NO_DATA if no daemon runs
     */
    static Reading<ReleaseCall> open(Path socket, ReleaseGpusRequest request) throws InterruptedException {
        ReleaseCall call = new ReleaseCall(NodeClient.of(socket));
        Threads.daemon("gpuwarden-release", () -> call.context.run(() -> call.follow(request)))
                .start();
        try {
            call.released.get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
            return Reading.of(call);
        } catch (TimeoutException e) {
            call.close();
            return Reading.absent(Absence.FAILED, 0, "the daemon did not let go within " + PATIENCE.toSeconds() + " s");
        } catch (ExecutionException e) {
            call.close();
            Throwable cause = e.getCause();
            return cause instanceof StatusRuntimeException failed
                    ? absent(failed.getStatus(), socket)
                    : Reading.absent(
                            Absence.FAILED, 0, cause == null ? "no cause" : String.valueOf(cause.getMessage()));
        } catch (InterruptedException e) {
            call.close();
            throw e;
        }
    }

    private static Reading<ReleaseCall> absent(Status status, Path socket) {
        return switch (status.getCode()) {
            case UNAVAILABLE -> Reading.absent(Absence.NO_DATA, 0, "no daemon answers on " + socket);
            case UNIMPLEMENTED ->
                Reading.absent(
                        Absence.NO_SYMBOL,
                        0,
                        "the daemon on " + socket + " is too old to let go of GPUs; update it, or stop it first");
            default ->
                Reading.absent(Absence.FAILED, 0, "the daemon on " + socket + " refused: " + status.getDescription());
        };
    }

    private void follow(ReleaseGpusRequest request) {
        try {
            Iterator<GpuRelease> states =
                    MaintenanceServiceGrpc.newBlockingStub(node.channel()).releaseGpus(request);
            while (states.hasNext()) {
                GpuRelease state = states.next();
                switch (state.getState()) {
                    case RELEASED -> released.complete(null);
                    case FAILED ->
                        failed(new IllegalStateException("the daemon could not let go: " + state.getReason()));
                    case EXPIRED -> failed(new IllegalStateException("the time of the request is over"));
                    default -> {}
                }
            }
            failed(new IllegalStateException("the daemon ended the call"));
        } catch (StatusRuntimeException e) {
            failed(e);
        }
    }

    private void failed(RuntimeException cause) {
        released.completeExceptionally(cause);
        lost.complete("the daemon reads the GPUs again: " + cause.getMessage());
    }

    /** Returns the cause if the daemon may hold the GPUs again. */
    Optional<String> lost() {
        return Optional.ofNullable(lost.getNow(null));
    }

    /** Waits for {@link #lost} at most this long, and returns it. */
    Optional<String> awaitLost(Duration most) throws InterruptedException {
        try {
            return Optional.of(lost.get(most.toMillis(), TimeUnit.MILLISECONDS));
        } catch (TimeoutException e) {
            return Optional.empty();
        } catch (ExecutionException e) {
            throw new IllegalStateException(e.getCause());
        }
    }

    /** Ends the call; the daemon then reads the GPUs again. */
    @Override
    public void close() {
        context.cancel(null);
        node.close();
    }
}
