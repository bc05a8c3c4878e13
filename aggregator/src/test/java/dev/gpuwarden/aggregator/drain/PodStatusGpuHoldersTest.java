package dev.gpuwarden.aggregator.drain;

import static dev.gpuwarden.aggregator.drain.Some.NOW;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.aggregator.pods.PodView;
import java.time.Clock;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class PodStatusGpuHoldersTest {

    private static final GpuHolderSource PODS = new GpuHolderSource.FromPodStatus(Clock.fixed(NOW, ZoneOffset.UTC));

    /** @param devices names of devices, separated by commas; empty for a status without devices */
    private static PodView pod(String name, String resource, String devices) {
        String text = devices.isEmpty()
                ? ""
                : "\"allocatedResourcesStatus\": [{\"name\": \"" + resource + "\", \"resources\": [{\"resourceID\": \""
                        + devices.replace(",", "\"}, {\"resourceID\": \"") + "\"}]}], ";
        String asks = resource.startsWith("claim:")
                ? "\"claims\": [{\"name\": \"gpu\"}]"
                : "\"limits\": {\"" + resource + "\": \"1\"}";
        return Some.read(Some.pod(name)
                .replace("{\"name\": \"main\"}]", "{\"name\": \"main\", \"resources\": {" + asks + "}}]")
                .replace("\"state\":", text + "\"state\":"));
    }

    private static GpuHolderSource.Answer ask(PodView... pods) {
        return PODS.holders(
                Some.node(Optional.empty()), Set.of("GPU-1"), Stream.of(pods).toList(), NOW);
    }

    @Test
    void allHoldersAreFoundEvenOfASharedGpu() {
        assertThat(ask(
                        pod("whole", "nvidia.com/gpu", "GPU-2,GPU-1"),
                        pod("other", "nvidia.com/gpu", "GPU-11"),
                        pod("slice", "nvidia.com/gpu.shared", "GPU-1::3"),
                        pod("claim", "claim:gpu/one", "gpu.nvidia.com/node/GPU-1"),
                        Some.read(Some.pod("none"))))
                .isEqualTo(new GpuHolderSource.Answer.Known(
                        Map.of(
                                "team/whole", Set.of("GPU-1"),
                                "team/slice", Set.of("GPU-1"),
                                "team/claim", Set.of("GPU-1")),
                        NOW));
    }

    /** The kubelet reports no device for HAMi's shares of a GPU, and the pod's GPU is known without them. */
    @Test
    void sharesOfAGpuAreNoFurtherDevices() {
        PodView hami = Some.read(Some.pod("hami")
                .replace(
                        "{\"name\": \"main\"}]",
                        "{\"name\": \"main\", \"resources\": {\"limits\": {\"nvidia.com/gpu\": \"1\","
                                + " \"nvidia.com/gpumem\": \"3000\", \"nvidia.com/gpucores\": \"30\"}}}]")
                .replace(
                        "\"state\":",
                        "\"allocatedResourcesStatus\": [{\"name\": \"nvidia.com/gpu\", \"resources\":"
                                + " [{\"resourceID\": \"GPU-1\"}]}], \"state\":"));
        assertThat(ask(hami)).isEqualTo(new GpuHolderSource.Answer.Known(Map.of("team/hami", Set.of("GPU-1")), NOW));
    }

    @Test
    void deviceWithoutAGpuUuidMayBeAnyGpu() {
        assertThat(ask(pod("mute", "nvidia.com/gpu", ""))).isInstanceOf(GpuHolderSource.Answer.Unknown.class);
        assertThat(ask(pod("mig", "nvidia.com/mig-1g.10gb", "MIG-7")))
                .isInstanceOfSatisfying(
                        GpuHolderSource.Answer.Unknown.class,
                        unknown -> assertThat(unknown.why()).contains("MIG-7"));
        assertThat(ask(pod("index", "nvidia.com/gpu", "0"))).isInstanceOf(GpuHolderSource.Answer.Unknown.class);
        assertThat(ask(pod("claim", "claim:gpu/one", ""))).isInstanceOf(GpuHolderSource.Answer.Unknown.class);
    }
}
