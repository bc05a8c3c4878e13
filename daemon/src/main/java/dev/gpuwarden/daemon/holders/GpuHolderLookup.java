package dev.gpuwarden.daemon.holders;

import dev.gpuwarden.api.podresources.ListPodResourcesRequest;
import dev.gpuwarden.api.podresources.ListPodResourcesResponse;
import dev.gpuwarden.api.podresources.PodResourcesListerGrpc;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.util.Text;
import dev.gpuwarden.daemon.grpc.NodeClient;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * A lookup of the current holders of this node's GPUs in the kubelet's PodResources socket. Thread-safe.
 *
 * @param node returns the GPUs; must not call the driver
 * @param patience longest time of a lookup
 */
public record GpuHolderLookup(Path socket, Supplier<NodeSnapshot> node, Duration patience, Clock clock)
        implements Supplier<Reading<GpuHolders>> {

    /** The patience of a daemon. The kubelet answers from memory. */
    public static final Duration DAEMON_PATIENCE = Duration.ofSeconds(2);

    /** The patience of a program that has just started. On a busy node its first call alone can take more than 2 s. */
    public static final Duration COMMAND_PATIENCE = Duration.ofSeconds(10);

    /** 250 pods of a large node with all their processors and memory are under 1 MiB. */
    private static final int MOST_BYTES = 8 << 20;

    private static final int LONGEST_REASON = 200;

    /** Blocks until the kubelet has answered, for the patience at most. */
    @Override
    public Reading<GpuHolders> get() {
        // Taken before the request: a pod that received a GPU later may be missing.
        Instant asOf = clock.instant();
        List<GpuIdentity> gpus =
                node.get().gpus().stream().map(GpuSnapshot::identity).toList();
        return list().map(response -> GpuHolderResolver.of(response, gpus, asOf));
    }

    /** Queries the kubelet. Keeps no connection open. */
    Reading<ListPodResourcesResponse> list() {
        try {
            // Distinguishes errors that a failed connection does not.
            var unused = Files.readAttributes(socket, PosixFileAttributes.class);
        } catch (NoSuchFileException e) {
            return Reading.absent(
                    Absence.NO_DATA,
                    0,
                    socket + " does not exist: no kubelet runs here, or --path.pod-resources is another");
        } catch (AccessDeniedException e) {
            return denied();
        } catch (IOException e) {
            return Reading.absent(Absence.FAILED, 0, socket + ": " + e);
        }
        try (NodeClient kubelet = NodeClient.of(socket)) {
            return Reading.of(PodResourcesListerGrpc.newBlockingStub(kubelet.channel())
                    .withMaxInboundMessageSize(MOST_BYTES)
                    .withDeadlineAfter(patience.toMillis(), TimeUnit.MILLISECONDS)
                    .list(ListPodResourcesRequest.getDefaultInstance()));
        } catch (StatusRuntimeException e) {
            return failed(e);
        }
    }

    private Reading<ListPodResourcesResponse> failed(StatusRuntimeException e) {
        String cause = String.valueOf(e.getCause());
        if (cause.contains("Permission denied")) {
            return denied();
        }
        String why = switch (e.getStatus().getCode()) {
            case DEADLINE_EXCEEDED ->
                "the kubelet did not answer on " + socket + " within " + patience.toSeconds() + " s";
            case UNIMPLEMENTED -> "the program that listens on " + socket + " does not implement PodResources v1";
            default -> {
                String description = e.getStatus().getDescription();
                String text = description == null || e.getCause() != null ? cause : description;
                yield "asking the kubelet on " + socket + ": " + e.getStatus().getCode() + ", "
                        + Text.truncate(text, LONGEST_REASON);
            }
        };
        return Reading.absent(Absence.FAILED, 0, why);
    }

    private Reading<ListPodResourcesResponse> denied() {
        return Reading.absent(Absence.NO_PERMISSION, 0, socket + ", which only root may open");
    }
}
