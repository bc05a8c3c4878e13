package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import com.google.protobuf.Duration;
import dev.gpuwarden.api.v1.GpuRelease;
import dev.gpuwarden.api.v1.MaintenanceServiceGrpc;
import dev.gpuwarden.api.v1.ReleaseGpusRequest;
import dev.gpuwarden.checks.access.GpuReleases;
import dev.gpuwarden.testkit.Await;
import io.grpc.Context;
import io.grpc.Status;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Requests over a real socket that the daemon lets go of GPUs. */
class MaintenanceServiceTest extends NodeServiceFixture {

    private Iterator<GpuRelease> release(ReleaseGpusRequest.Builder request) {
        return MaintenanceServiceGrpc.newBlockingStub(node.client.channel())
                .withDeadlineAfter(20, TimeUnit.SECONDS)
                .releaseGpus(request.build());
    }

    @Test
    void releaseLastsAsLongAsTheCall() throws Exception {
        try (Context.CancellableContext call = Context.current().withCancellation()) {
            call.run(() -> assertThat(release(ReleaseGpusRequest.newBuilder().addGpuUuids("GPU-a"))
                            .next()
                            .getState())
                    .isEqualTo(GpuRelease.State.RELEASED));
            assertThat(node.released)
                    .containsExactly(
                            new GpuReleases.Request(List.of("GPU-a"), "maintenance", java.time.Duration.ofMinutes(30)));
        }
        Await.until(node.released::isEmpty);
    }

    @Test
    void requestsOutOfRangeAreRefused() {
        String uuids = "gpu_uuids: expected 1 to 64 UUIDs, or none with all; seen ";
        refusedFor(ReleaseGpusRequest.newBuilder(), uuids + "0");
        refusedFor(ReleaseGpusRequest.newBuilder().setAll(true).addGpuUuids("GPU-a"), uuids + "1");
        ReleaseGpusRequest.Builder one = ReleaseGpusRequest.newBuilder().addGpuUuids("GPU-a");
        refusedFor(one.clone().setReason("x".repeat(129)), "reason: expected at most 128 characters");
        refusedFor(one.clone().setReason("a\nb"), "none of them a control character");
        refusedFor(one.clone().setHold(Duration.newBuilder().setSeconds(86_401)), "hold: expected 1 s to 24 h");
        refusedFor(one.clone().setHold(Duration.getDefaultInstance()), "hold: expected 1 s to 24 h");
        assertThat(node.released).isEmpty();
    }

    private void refusedFor(ReleaseGpusRequest.Builder request, String why) {
        refused(Status.Code.INVALID_ARGUMENT, why, () -> release(request).next());
    }
}
