package dev.gpuwarden.daemon.holders;

import static dev.gpuwarden.daemon.holders.DeviceIdsTest.G0;
import static dev.gpuwarden.daemon.holders.DeviceIdsTest.G1;
import static dev.gpuwarden.daemon.holders.DeviceIdsTest.G2;
import static dev.gpuwarden.daemon.holders.DeviceIdsTest.GPUS;
import static dev.gpuwarden.daemon.holders.DeviceIdsTest.PART;
import static dev.gpuwarden.daemon.holders.TestKubelet.claimed;
import static dev.gpuwarden.daemon.holders.TestKubelet.pod;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.podresources.PodResources;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.holder.UnresolvedDevice;
import java.time.Instant;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GpuHolderResolverTest {

    private static final Instant NOW = Instant.parse("2026-11-22T13:00:00Z");

    private static GpuHolders of(PodResources... pods) {
        return GpuHolderResolver.of(TestKubelet.told(pods), GPUS, NOW);
    }

    @Test
    void podsWithoutGpuAreLeftOut() {
        GpuHolders holders = of(
                pod("web", "example.com/nic", "eth1"),
                pod("rdma", "nvidia.com/hostdev", "0000:3b:00.1"),
                pod("shared-rdma", "nvidia.com/rdma_shared", "7a1b"),
                PodResources.newBuilder().setNamespace("ml").setName("plain").build());
        assertThat(holders).isEqualTo(new GpuHolders(NOW, java.util.List.of(), java.util.List.of(), 0));
        assertThat(holders.complete()).isTrue();
    }

    @Test
    void onePodMayHaveSeveralGpusAndOneGpuSeveralPods() {
        GpuHolders holders = of(
                pod("two", "nvidia.com/gpu", G1, G0),
                pod("slice-a", "nvidia.com/gpu.shared", G2 + "::0"),
                pod("slice-b", "nvidia.com/gpu", G2 + "::3"),
                pod("part", "nvidia.com/mig-1g.10gb", PART));
        assertThat(holders.complete()).isTrue();
        assertThat(holders.podsByGpu().toString())
                .isEqualTo("{" + G0 + "=[ml/two], " + G1 + "=[ml/two], " + G2 + "=[ml/part, ml/slice-a, ml/slice-b]}");
        assertThat(holders.podsOf(G2.toUpperCase(java.util.Locale.ROOT))).hasSize(3);
        assertThat(holders.podsOf("GPU-of-nobody")).isEmpty();
        assertThat(holders.holders())
                .extracting(GpuHolder::kind)
                .containsExactly(
                        GpuHolder.Kind.EXCLUSIVE,
                        GpuHolder.Kind.EXCLUSIVE,
                        GpuHolder.Kind.MIG,
                        GpuHolder.Kind.SHARED,
                        GpuHolder.Kind.SHARED);
    }

    @Test
    void aGpuUnderAnyOtherNameIsOne() {
        assertThat(of(pod("renamed", "example.com/a100", G0)).podsOf(G0)).hasSize(1);
    }

    @Test
    void ambiguousDevicesAreUnresolved() {
        GpuHolders holders = of(
                pod("index", "nvidia.com/gpu", "7"),
                pod("renamed", "nvidia.com/a100", "0"),
                pod("passed-through", "nvidia.com/GA100_A100_PCIE_80GB", "42"),
                pod("strange", "nvidia.com/gpu", "\u001b[31m"));
        assertThat(holders.holders()).isEmpty();
        assertThat(holders.complete()).isFalse();
        assertThat(holders.unresolved())
                .extracting(UnresolvedDevice::pod)
                .containsExactly("index", "renamed", "passed-through", "strange");
    }

    @Test
    void claimsCountWhereTheirDriverIsNvidiasForGpus() {
        GpuHolders holders = of(
                pod("by-name", claimed("gpu.nvidia.com", "gpu-0", "k8s.gpu.nvidia.com/claim=0-gpu-0")),
                pod("unsure", claimed("gpu.nvidia.com", "gpu-1", "k8s.gpu.nvidia.com/claim=0-gpu-1")),
                pod("channel", claimed("compute-domain.nvidia.com", "channel-0", "k8s.x/y=channel-0")),
                pod("old-kubelet", claimed("", "", "k8s.gpu.nvidia.com/device=gpu-0")),
                pod("nic", claimed("", "", "example.com/nic=0")));
        assertThat(holders.podsByGpu().toString()).isEqualTo("{" + G0 + "=[ml/by-name]}");
        assertThat(holders.unresolved()).extracting(UnresolvedDevice::pod).containsExactly("unsure", "old-kubelet");
        assertThat(holders.unresolved().get(0).resource()).isEqualTo("ml/two-gpus");
    }

    @Test
    void theSameDeviceTwiceIsOnce() {
        assertThat(of(pod("twice", "nvidia.com/gpu", G0, G0)).holders()).hasSize(1);
    }

    @Test
    void aThousandPodsAreNoMoreTrouble() {
        PodResources[] pods = IntStream.range(0, 1_000)
                .mapToObj(i -> pod("p-" + i, "nvidia.com/gpu", G0 + "::" + i))
                .toArray(PodResources[]::new);
        assertThat(of(pods).podsOf(G0)).hasSize(1_000);
    }
}
