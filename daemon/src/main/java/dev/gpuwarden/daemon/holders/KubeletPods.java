package dev.gpuwarden.daemon.holders;

import dev.gpuwarden.api.podresources.ListPodResourcesRequest;
import dev.gpuwarden.api.podresources.ListPodResourcesResponse;
import dev.gpuwarden.api.podresources.PodResourcesListerGrpc;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.util.Text;
import dev.gpuwarden.daemon.grpc.NodeClient;
import io.grpc.StatusRuntimeException;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributes;
import java.util.concurrent.TimeUnit;

/** A client of the kubelet's PodResources socket, which lists the devices of each pod. It keeps no connection open. */
final class KubeletPods {

    /** The kubelet answers from memory. */
    static final long PATIENCE_MILLIS = 2_000;

    /** 250 pods of a large node with all their processors and memory are under 1 MiB. */
    private static final int MOST_BYTES = 8 << 20;

    private static final int LONGEST_REASON = 200;

    private final Path socket;

    KubeletPods(Path socket) {
        this.socket = socket;
    }

    /** Blocks for {@link #PATIENCE_MILLIS} at most. */
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
                    .withDeadlineAfter(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)
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
        return switch (e.getStatus().getCode()) {
            case DEADLINE_EXCEEDED ->
                Reading.absent(
                        Absence.FAILED,
                        0,
                        "the kubelet did not answer on " + socket + " within " + PATIENCE_MILLIS + " ms");
            case UNIMPLEMENTED ->
                Reading.absent(
                        Absence.FAILED,
                        0,
                        "the program that listens on " + socket + " does not implement PodResources v1");
            default -> {
                String description = e.getStatus().getDescription();
                String why = description == null || e.getCause() != null ? cause : description;
                yield Reading.absent(
                        Absence.FAILED,
                        0,
                        "asking the kubelet on " + socket + ": " + e.getStatus().getCode() + ", "
                                + Text.truncate(why, LONGEST_REASON));
            }
        };
    }

    private Reading<ListPodResourcesResponse> denied() {
        return Reading.absent(Absence.NO_PERMISSION, 0, socket + ", which only root may open");
    }
}
