package dev.gpuwarden.daemon.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.core.holder.GpuHolder;
import dev.gpuwarden.core.holder.GpuHolder.Kind;
import dev.gpuwarden.core.holder.GpuHolders;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DcgmCollectorTest {

    private static final String GPU0 = "GPU-00000000-0000-0000-0000-000000000000";
    private static final Reading<GpuHolders> NO_KUBELET = Reading.absent(Absence.NO_DATA);

    private Reading<Map<PciAddress, Integer>> xids = Reading.of(Map.of());
    private Reading<GpuHolders> holders = NO_KUBELET;
    private final Collector collector = new DcgmCollector(() -> "node-7", () -> xids, () -> holders).collector();

    private List<String> lines(GpuSnapshot... gpus) {
        return Lines.of(Scrapes.scrape(NodeFixture.node(List.of(gpus))), collector);
    }

    private static GpuSnapshot gpu(GpuFrame frame) {
        return NodeFixture.gpu(0, GpuState.ANSWERING, frame, List.of());
    }

    private static List<String> of(String metric, List<String> lines) {
        return lines.stream().filter(line -> line.startsWith(metric + "{")).toList();
    }

    private static String only(String metric, List<String> lines) {
        assertThat(of(metric, lines)).as(metric).hasSize(1);
        return of(metric, lines).get(0);
    }

    private static GpuHolder holder(String pod, String container, Kind kind, String deviceId) {
        return new GpuHolder("team-a", pod, container, GPU0, kind, deviceId);
    }

    private void given(GpuHolder... all) {
        holders = Reading.of(new GpuHolders(Instant.EPOCH, List.of(all), List.of(), 0));
    }

    @Test
    void unitsAndLabelsMatchDcgmExporter() {
        String labels = "{DCGM_FI_DRIVER_VERSION=\"550.163.01\",Hostname=\"node-7\",UUID=\"" + GPU0
                + "\",device=\"nvidia0\",gpu=\"0\",hostname=\"node-7\","
                + "modelName=\"NVIDIA H100 80GB HBM3\",pci_bus_id=\"00000000:1B:00.0\"}";
        assertThat(lines(NodeFixture.gpu(0)))
                .contains(
                        "DCGM_FI_DEV_GPU_TEMP" + labels + " 41.0",
                        "DCGM_FI_DEV_SM_CLOCK" + labels + " 1980.0",
                        "DCGM_FI_DEV_POWER_USAGE" + labels + " 345.678",
                        "DCGM_FI_DEV_GPU_UTIL" + labels + " 97.0",
                        "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION" + labels + " 1.23456789012E11",
                        "DCGM_FI_DEV_POWER_VIOLATION" + labels + " 1.5E9")
                .anyMatch(line -> line.startsWith("DCGM_FI_DEV_FB_USED" + labels + " 40054.3"));
    }

    @Test
    void profilingIsRatioOrBytesPerSecondOrAbsent() {
        GpuFrame frame = NodeFixture.frame();
        NodeFixture.put(frame, GpuMetric.TENSOR_ACTIVE, 43_250);
        NodeFixture.put(frame, GpuMetric.PCIE_TRANSMIT_RATE, 3L << 20);
        frame.putAbsent(GpuFrame.slot(GpuMetric.SM_ACTIVE), Absence.NOT_SUPPORTED, 3);
        List<String> lines = lines(gpu(frame));
        assertThat(only("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", lines)).endsWith(" 0.4325");
        assertThat(only("DCGM_FI_PROF_PCIE_TX_BYTES", lines)).endsWith(" 3145728.0");
        assertThat(of("DCGM_FI_PROF_SM_ACTIVE", lines)).isEmpty();
    }

    @Test
    void lastXidIsTheValueAndZeroWithoutOne() {
        assertThat(only("DCGM_FI_DEV_XID_ERRORS", lines(NodeFixture.gpu(0))))
                .contains("err_code=\"0\",err_msg=\"No Error\"")
                .endsWith(" 0.0");
        xids = Reading.of(Map.of(new PciAddress(0, 0x1b, 0, 0), 79));
        List<String> lines = lines(NodeFixture.gpu(0), NodeFixture.gpu(1));
        assertThat(of("DCGM_FI_DEV_XID_ERRORS", lines)).hasSize(2);
        assertThat(of("DCGM_FI_DEV_XID_ERRORS", lines).get(0))
                .contains("gpu=\"0\"", "err_code=\"79\",err_msg=\"ROBUST_CHANNEL_GPU_HAS_FALLEN_OFF_THE_BUS\"")
                .endsWith(" 79.0");
        assertThat(of("DCGM_FI_DEV_XID_ERRORS", lines).get(1)).endsWith(" 0.0");
        xids = Reading.of(Map.of(new PciAddress(0, 0x1b, 0, 0), 4711));
        assertThat(only("DCGM_FI_DEV_XID_ERRORS", lines(NodeFixture.gpu(0)))).contains("err_msg=\"Unknown Error\"");
        xids = Reading.absent(Absence.NO_PERMISSION);
        assertThat(of("DCGM_FI_DEV_XID_ERRORS", lines(NodeFixture.gpu(0)))).isEmpty();
    }

    @Test
    void nvlinkBandwidthIsTheRateBetweenSamplings() {
        GpuFrame frame = NodeFixture.frame();
        NodeFixture.put(frame, GpuMetric.NVLINK_TRANSMITTED, 1_000);
        NodeFixture.put(frame, GpuMetric.NVLINK_RECEIVED, 2_000);
        String metric = "DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL";
        assertThat(of(metric, lines(gpu(frame)))).as("nothing to compare with").isEmpty();
        NodeFixture.put(frame, GpuMetric.NVLINK_TRANSMITTED, 1_000 + 30_000_000);
        NodeFixture.put(frame, GpuMetric.NVLINK_RECEIVED, 2_000 + 20_000_000);
        frame.sampled(Cadence.SLOW, 0, frame.sampledAtNanos(Cadence.SLOW) + 10_000_000_000L, 60);
        // 5,000,000 KiB in a second.
        assertThat(only(metric, lines(gpu(frame)))).endsWith(" 5000.0");
        assertThat(only(metric, lines(gpu(frame)))).as("the same sampling").endsWith(" 5000.0");
        NodeFixture.put(frame, GpuMetric.NVLINK_TRANSMITTED, 0);
        frame.sampled(Cadence.SLOW, 0, frame.sampledAtNanos(Cadence.SLOW) + 10_000_000_000L, 60);
        assertThat(of(metric, lines(gpu(frame))))
                .as("the driver was loaded again")
                .isEmpty();
    }

    @Test
    void gpuHasTheLabelsOfItsPod() {
        given(holder("trainer-0", "main", Kind.EXCLUSIVE, GPU0));
        List<String> lines = lines(NodeFixture.gpu(0), NodeFixture.gpu(1));
        assertThat(of("DCGM_FI_DEV_GPU_TEMP", lines).get(0))
                .contains("container=\"main\"", "namespace=\"team-a\"", "pod=\"trainer-0\"");
        assertThat(of("DCGM_FI_DEV_GPU_TEMP", lines).get(1))
                .contains("gpu=\"1\"")
                .doesNotContain("pod=");
        assertThat(of("gpuwarden_dcgm_pod_labels_absent", lines)).isEmpty();
    }

    @Test
    void sharedGpuHasOneSeriesWithoutPodLabels() {
        given(holder("a", "main", Kind.SHARED, GPU0 + "::0"), holder("b", "main", Kind.SHARED, GPU0 + "::1"));
        assertThat(only("DCGM_FI_DEV_GPU_TEMP", lines(NodeFixture.gpu(0)))).doesNotContain("pod=");
        given(holder("a", "main", Kind.DRA, "gpu-0"), holder("a", "sidecar", Kind.DRA, "gpu-0"));
        assertThat(only("DCGM_FI_DEV_GPU_TEMP", lines(NodeFixture.gpu(0))))
                .contains("container=\"\"", "namespace=\"team-a\"", "pod=\"a\"");
    }

    @Test
    void missingPodLabelsAreASeries() {
        assertThat(lines(NodeFixture.gpu(0))).contains("gpuwarden_dcgm_pod_labels_absent{cause=\"no_data\"} 1.0");
    }

    private static GpuSnapshot partitioned() {
        GpuFrame one = new GpuFrame();
        NodeFixture.put(one, GpuMetric.MEMORY_USED, 3L << 20);
        NodeFixture.put(one, GpuMetric.TENSOR_ACTIVE, 50_000);
        GpuSnapshot plain = NodeFixture.gpu(0);
        GpuIdentity is = plain.identity();
        List<GpuSnapshot.MigSnapshot> parts = new ArrayList<>();
        // Two compute instances in one GPU instance, and another GPU instance.
        for (String part : List.of("0 MIG-a 2 1c.3g.40gb", "1 MIG-b 2 1c.3g.40gb", "2 MIG-c 7 1g.10gb")) {
            String[] words = part.split(" ");
            parts.add(new GpuSnapshot.MigSnapshot(
                    new GpuIdentity.MigDevice(
                            Integer.parseInt(words[0]),
                            words[1],
                            Reading.of(Integer.valueOf(words[2])),
                            Reading.of(0),
                            Reading.of(words[3])),
                    one));
        }
        GpuIdentity identity = new GpuIdentity(
                is.index(),
                is.uuid(),
                is.pci(),
                is.minor(),
                is.name(),
                is.serial(),
                is.vbios(),
                is.boardPart(),
                is.computeCapability(),
                is.numaNode(),
                Reading.of(true),
                parts.stream().map(GpuSnapshot.MigSnapshot::identity).toList(),
                is.nvlinks());
        return new GpuSnapshot(
                identity,
                plain.state(),
                plain.detail(),
                plain.frame(),
                plain.ageNanos(),
                plain.processes(),
                plain.processesAgeNanos(),
                0,
                parts);
    }

    @Test
    void partitionedGpuIsExportedByInstanceAndCountedOnce() {
        given(holder("small", "main", Kind.MIG, "MIG-c"), holder("big", "main", Kind.MIG, "nvidia0/gi2"));
        List<String> lines = lines(partitioned());
        assertThat(of("DCGM_FI_DEV_FB_USED", lines))
                .hasSize(2)
                .allMatch(line -> line.endsWith(" 3.0"))
                .anyMatch(line -> line.contains("GPU_I_ID=\"2\",GPU_I_PROFILE=\"3g.40gb\"") && line.contains("\"big\""))
                .anyMatch(line ->
                        line.contains("GPU_I_ID=\"7\",GPU_I_PROFILE=\"1g.10gb\"") && line.contains("\"small\""));
        assertThat(of("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", lines)).hasSize(2).allMatch(line -> line.endsWith(" 0.5"));
        assertThat(only("DCGM_FI_DEV_POWER_USAGE", lines)).doesNotContain("GPU_I_ID", "pod=");
        assertThat(lines).contains("gpuwarden_duplicate_series_total 0.0");
    }

    @Test
    void countersKeepTheirBareNames() {
        NodeSnapshot node = NodeFixture.node(1);
        Exposition exposition = new Exposition(MetricsOptions.of(false, true, false), () -> List.of(collector));
        String text = Lines.text(TextFormat.PROMETHEUS, exposition.snapshots(Scrapes.scrape(node)));
        assertThat(text)
                .contains(
                        "\n# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION counter\nDCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION{")
                .contains("\n# TYPE DCGM_FI_DEV_GPU_TEMP gauge\n")
                .doesNotContain("untyped", "# HELP DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION_total");
        // OpenMetrics has no counter without `_total`.
        assertThat(Lines.text(TextFormat.OPEN_METRICS, exposition.snapshots(Scrapes.scrape(node))))
                .contains("# TYPE DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION unknown\n");
        assertThat(Arrays.stream(text.split("\n")).filter(line -> line.startsWith("# TYPE DCGM_")))
                .doesNotHaveDuplicates();
    }
}
