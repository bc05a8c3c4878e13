package dev.gpuwarden.daemon.grpc;

import dev.gpuwarden.api.v1.GpuRelease;
import dev.gpuwarden.api.v1.MaintenanceServiceGrpc;
import dev.gpuwarden.api.v1.ReleaseGpusRequest;
import dev.gpuwarden.checks.access.GpuReleases;
import dev.gpuwarden.checks.access.GpuReleases.Progress;
import dev.gpuwarden.checks.access.GpuReleases.ReleaseRefusal;
import dev.gpuwarden.core.util.Text;
import io.grpc.Status;
import io.grpc.stub.ServerCallStreamObserver;
import io.grpc.stub.StreamObserver;
import java.time.Duration;
import java.util.concurrent.Executor;

/** The service for maintenance of this node's GPUs. Only administrators use it, over the Unix socket. */
final class MaintenanceService extends MaintenanceServiceGrpc.MaintenanceServiceImplBase {

    private static final Duration HOLD = Duration.ofMinutes(30);
    private static final Duration LONGEST = Duration.ofHours(24);
    private static final int MOST_GPUS = 64;
    private static final int LONGEST_NAME = 128;

    private final GpuReleases.Desk releases;
    private final AccessPolicy access;
    private final WorkerPool reading;
    private final Executor loop;

    /**
     * @param reading for the beginning of a request
     * @param loop sends all messages
     */
    MaintenanceService(GpuReleases.Desk releases, AccessPolicy access, WorkerPool reading, Executor loop) {
        this.releases = releases;
        this.access = access;
        this.reading = reading;
        this.loop = loop;
    }

    @Override
    public void releaseGpus(ReleaseGpusRequest request, StreamObserver<GpuRelease> client) {
        if (!(Peer.current() instanceof Peer.Process process) || !access.mayAdminister(process)) {
            client.onError(
                    NodeService.status(
                            Status.PERMISSION_DENIED,
                            "only root and administrators outside containers may make this call, over the daemon's Unix socket"));
            return;
        }
        StateStream<Progress, GpuRelease> stream = new StateStream<>(
                (ServerCallStreamObserver<GpuRelease>) client,
                loop,
                MaintenanceService::toWire,
                any -> "",
                state -> state.state() == GpuReleases.State.FAILED || state.state() == GpuReleases.State.EXPIRED);
        reading.runLater(client, () -> {
            try {
                stream.onEnd(releases.open(request(request), stream));
            } catch (ReleaseRefusal e) {
                client.onError(NodeService.status(Status.FAILED_PRECONDITION, String.valueOf(e.getMessage())));
            } catch (RuntimeException e) {
                client.onError(WorkerPool.status(e).asRuntimeException());
            }
        });
    }

    private static GpuReleases.Request request(ReleaseGpusRequest wire) {
        int gpus = wire.getGpuUuidsCount();
        if (wire.getAll() ? gpus > 0 : gpus == 0 || gpus > MOST_GPUS) {
            throw NodeService.status(
                    Status.INVALID_ARGUMENT,
                    "gpu_uuids: expected 1 to " + MOST_GPUS + " UUIDs, or none with all; seen " + gpus);
        }
        wire.getGpuUuidsList().forEach(uuid -> bounded("gpu_uuids", uuid));
        String reason = bounded("reason", wire.getReason());
        Duration hold = wire.hasHold() ? Duration.ofSeconds(wire.getHold().getSeconds()) : HOLD;
        if (hold.isNegative() || hold.isZero() || hold.compareTo(LONGEST) > 0) {
            throw NodeService.status(Status.INVALID_ARGUMENT, "hold: expected 1 s to 24 h, seen " + hold);
        }
        return new GpuReleases.Request(wire.getGpuUuidsList(), reason.isEmpty() ? "maintenance" : reason, hold);
    }

    private static String bounded(String field, String text) {
        if (text.length() > LONGEST_NAME || text.chars().anyMatch(c -> c < ' ')) {
            throw NodeService.status(
                    Status.INVALID_ARGUMENT,
                    field + ": expected at most " + LONGEST_NAME + " characters, none of them a control character");
        }
        return text;
    }

    private static GpuRelease toWire(Progress now) {
        return GpuRelease.newBuilder()
                .setState(
                        switch (now.state()) {
                            case RELEASING -> GpuRelease.State.RELEASING;
                            case RELEASED -> GpuRelease.State.RELEASED;
                            case FAILED -> GpuRelease.State.FAILED;
                            case EXPIRED -> GpuRelease.State.EXPIRED;
                        })
                .setReason(Text.truncate(now.reason(), 1024))
                .build();
    }
}
