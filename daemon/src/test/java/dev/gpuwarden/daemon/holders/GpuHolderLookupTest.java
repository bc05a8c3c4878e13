package dev.gpuwarden.daemon.holders;

import static dev.gpuwarden.daemon.holders.TestKubelet.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.datamodels.PlatformConnectorGrpc;
import dev.gpuwarden.api.podresources.ListPodResourcesResponse;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import io.grpc.Status;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Every absence has its cause. */
class GpuHolderLookupTest {

    @TempDir
    Path folder;

    private Reading<ListPodResourcesResponse> list() {
        Supplier<NodeSnapshot> unread = () -> {
            throw new AssertionError("the query needs no snapshot");
        };
        return new GpuHolderLookup(
                        folder.resolve("kubelet.sock"), unread, GpuHolderLookup.DAEMON_PATIENCE, Clock.systemUTC())
                .list();
    }

    private TestKubelet kubelet() throws Exception {
        return new TestKubelet(folder.resolve("kubelet.sock"));
    }

    private Reading.Absent<?> absent() {
        assertThat(list()).isInstanceOf(Reading.Absent.class);
        return (Reading.Absent<?>) list();
    }

    @Test
    void theAnswerIsReturned() throws Exception {
        try (TestKubelet kubelet = kubelet()) {
            kubelet.says(pod("a", "nvidia.com/gpu", "GPU-1"));
            assertThat(list()).isEqualTo(Reading.of(TestKubelet.told(pod("a", "nvidia.com/gpu", "GPU-1"))));
            kubelet.says();
            assertThat(list()).isEqualTo(Reading.of(TestKubelet.told()));
        }
    }

    @Test
    void noSocket() {
        assertThat(absent().cause()).isEqualTo(Absence.NO_DATA);
        assertThat(absent().detail()).contains("kubelet.sock does not exist", "--path.pod-resources");
    }

    @Test
    void aFileThatIsNoSocket() throws Exception {
        Files.writeString(folder.resolve("kubelet.sock"), "");
        assertThat(absent().detail()).contains("UNAVAILABLE", "Connection refused");
    }

    @Test
    void aSocketWithoutListenerIsAFailure() throws Exception {
        try (ServerSocketChannel gone = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            gone.bind(UnixDomainSocketAddress.of(folder.resolve("kubelet.sock")));
        }
        assertThat(absent().detail()).contains("UNAVAILABLE", "Connection refused");
    }

    @Test
    void oneWhoDoesNotAnswerIsNotWaitedForLong() throws Exception {
        try (TestKubelet kubelet = kubelet()) {
            kubelet.neverAnswers();
            Reading<ListPodResourcesResponse> nothing = list();
            assertThat(((Reading.Absent<?>) nothing).detail()).contains("did not answer", "within 2 s");
        }
    }

    @Test
    void aRefusalIsReturnedWithItsMessage() throws Exception {
        try (TestKubelet kubelet = kubelet()) {
            kubelet.refuses(Status.RESOURCE_EXHAUSTED.withDescription("rejected by rate limit " + "x".repeat(500)));
            assertThat(absent().detail())
                    .contains("RESOURCE_EXHAUSTED, rejected by rate limit")
                    .hasSizeLessThan(500);
        }
    }

    @Test
    void anotherProgramOnTheSocketIsAFailure() throws Exception {
        try (TestKubelet other = new TestKubelet(
                folder.resolve("kubelet.sock"),
                Optional.of(new PlatformConnectorGrpc.PlatformConnectorImplBase() {}))) {
            assertThat(other.asked.get()).isZero();
            assertThat(absent().detail()).contains("does not implement PodResources v1");
        }
    }

    @Test
    void anAnswerThatIsTooLargeIsAFailureAndNoMore() throws Exception {
        try (TestKubelet kubelet = kubelet()) {
            String[] ids =
                    IntStream.range(0, 9_000).mapToObj(i -> "x".repeat(1_000)).toArray(String[]::new);
            kubelet.says(pod("a", "nvidia.com/gpu", ids));
            assertThat(absent().detail()).contains("RESOURCE_EXHAUSTED");
        }
    }
}
