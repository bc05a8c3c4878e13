package dev.gpuwarden.daemon.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.NodeFixture;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.GpuIdentity;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.core.process.GpuMemoryUse;
import dev.gpuwarden.core.process.GpuProcess;
import dev.gpuwarden.core.process.Owner;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.core.telemetry.LinkMetric;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ExpositionTest {

    private static final String GPU0 = "{gpu=\"0\",uuid=\"GPU-00000000-0000-0000-0000-000000000000\"";

    private static Collector.Scrape scrape(GpuSnapshot gpu, IntFunction<Owner> owners) {
        NodeSnapshot node = NodeFixture.node(List.of(gpu));
        List<GpuMemoryUse> memory = NodeFixture.memory(node, owners);
        return new Collector.Scrape(node, () -> memory, Scrapes.sampler(), Scrapes.SELF);
    }

    private static GpuSnapshot holding(GpuProcess... processes) {
        return NodeFixture.gpu(0, GpuState.ANSWERING, NodeFixture.frame(), List.of(processes));
    }

    @Test
    void everyPresentReadingOfEveryGpuIsExported() {
        List<String> lines = Lines.of(Scrapes.scrape(NodeFixture.node(2)));
        for (GpuMetric metric : GpuMetric.values()) {
            String stem = metric == GpuMetric.CLOCK_EVENT_REASONS
                    ? "gpuwarden_gpu_clock_event_reason{"
                    : "gpuwarden_gpu_" + metric.label()
                            + (metric.unit().base().isEmpty()
                                    ? ""
                                    : "_" + metric.unit().base());
            for (int gpu = 0; gpu < 2; gpu++) {
                String label = "gpu=\"" + gpu + "\"";
                assertThat(lines)
                        .as(metric + " of GPU " + gpu)
                        .anySatisfy(line -> assertThat(line).startsWith(stem).contains(label));
            }
        }
        for (LinkMetric metric : LinkMetric.values()) {
            assertThat(lines.stream()
                            .filter(line -> line.startsWith("gpuwarden_nvlink_" + metric.label()))
                            .count())
                    .as(metric.name())
                    .isEqualTo(2 * 18);
        }
        assertThat(lines).noneMatch(line -> line.startsWith("gpuwarden_gpu_reading_absent"));
    }

    @Test
    void valuesAreInBaseUnits() {
        assertThat(Lines.of(Scrapes.scrape(NodeFixture.node(1))))
                .contains(
                        "gpuwarden_gpu_temperature_celsius" + GPU0 + "} 41.0",
                        "gpuwarden_gpu_power_usage_watts" + GPU0 + "} 345.678",
                        "gpuwarden_gpu_utilization_ratio" + GPU0 + "} 0.97",
                        "gpuwarden_gpu_clock_sm_hertz" + GPU0 + "} 1.98E9",
                        "gpuwarden_gpu_energy_joules_total" + GPU0 + "} 1.23456789012E8",
                        "gpuwarden_gpu_violation_power_seconds_total" + GPU0 + "} 1.5",
                        "gpuwarden_gpu_nvlink_transmitted_bytes_total" + GPU0 + "} 1048576.0",
                        "gpuwarden_gpu_sample_age_seconds" + GPU0 + "} 0.5",
                        "gpuwarden_gpu_clock_event_reason" + GPU0.replace(",uuid", ",reason=\"sw_power_cap\",uuid")
                                + "} 1.0");
    }

    @Test
    void absentReadingsHaveACauseAndNoValue() {
        GpuFrame frame = NodeFixture.frame();
        frame.putAbsent(GpuFrame.slot(GpuMetric.TEMPERATURE), Absence.STALE, 0);
        frame.putAbsent(GpuFrame.slot(GpuMetric.FAN_SPEED), Absence.NOT_SUPPORTED, 3);
        frame.putAbsent(GpuFrame.slot(GpuMetric.RECOVERY_ACTION), Absence.NO_SYMBOL, 13);
        GpuSnapshot gpu = NodeFixture.gpu(0, GpuState.HUNG, frame, List.of());
        Collector.Scrape scrape = scrape(gpu, pid -> new Owner.Unit("x.service"));
        List<String> lines = Lines.of(scrape);
        assertThat(lines)
                .noneMatch(line -> line.startsWith("gpuwarden_gpu_temperature_celsius"))
                .noneMatch(line -> line.startsWith("gpuwarden_gpu_fan_speed"))
                .contains("gpuwarden_gpu_reading_absent{cause=\"stale\",gpu=\"0\",reading=\"temperature\""
                        + ",uuid=\"GPU-00000000-0000-0000-0000-000000000000\"} 1.0")
                .contains("gpuwarden_gpu_readings_absent{cause=\"not_supported\"," + GPU0.substring(1) + "} 1.0")
                .noneMatch(line -> line.startsWith("gpuwarden_gpu_reading_absent{cause=\"not_supported\""));
        assertThat(Lines.of(scrape, MetricsOptions.of(false, false, true)))
                .anyMatch(line -> line.startsWith("gpuwarden_gpu_reading_absent{cause=\"not_supported\""))
                .anyMatch(line -> line.startsWith("gpuwarden_gpu_reading_absent{cause=\"no_symbol\""));
    }

    @ParameterizedTest
    @ValueSource(strings = {"starting", "answering", "hung", "lost", "reset_required", "gone", "released"})
    void exactlyOneStateIsOn(String state) {
        GpuSnapshot gpu =
                NodeFixture.gpu(0, GpuState.valueOf(state.toUpperCase(Locale.ROOT)), NodeFixture.frame(), List.of());
        assertThat(Lines.of(scrape(gpu, pid -> new Owner.Unit("x.service"))))
                .filteredOn(line -> line.startsWith("gpuwarden_gpu_state{") && line.endsWith(" 1.0"))
                .singleElement()
                .asString()
                .contains("state=\"" + state + "\"");
    }

    @Test
    void podMemoryHasTheContractsName() {
        List<String> lines = Lines.of(scrape(
                holding(
                        NodeFixture.process(1, 100),
                        NodeFixture.process(2, 20),
                        NodeFixture.process(3, 3),
                        NodeFixture.process(4, 7)),
                pid -> switch (pid) {
                    case 1 -> NodeFixture.pod("team-a", "trainer-0", "main");
                    case 2 -> NodeFixture.pod("team-a", "trainer-0", "sidecar");
                    case 3 -> NodeFixture.pod("team-b", "server", "main");
                    default -> new Owner.Unit("jupyter.service");
                }));
        String uuid = "uuid=\"GPU-00000000-0000-0000-0000-000000000000\"";
        assertThat(lines)
                .contains(
                        "gpu_pod_memory_used_bytes{gpu=\"0\",namespace=\"team-a\",pod=\"trainer-0\"," + uuid
                                + "} 120.0",
                        "gpu_pod_memory_used_bytes{gpu=\"0\",namespace=\"team-b\",pod=\"server\"," + uuid + "} 3.0",
                        "gpuwarden_unit_memory_used_bytes{gpu=\"0\",unit=\"jupyter.service\"," + uuid + "} 7.0",
                        "gpuwarden_gpu_memory_unattributed_bytes" + GPU0 + "} 4.199999987E10",
                        "gpuwarden_gpu_processes" + GPU0 + "} 4.0");
        assertThat(lines)
                .filteredOn(line -> line.startsWith("gpuwarden_container_memory_used_bytes"))
                .hasSize(3);
        assertThat(lines).noneMatch(line -> line.startsWith("gpuwarden_process_memory_used_bytes"));
    }

    @Test
    void podsOfTheSameNameAddUp() {
        Reading<String> none = Reading.absent(Absence.NO_DATA);
        assertThat(Lines.of(scrape(
                        holding(NodeFixture.process(1, 100), NodeFixture.process(2, 20)),
                        pid -> new Owner.Pod("uid-" + pid, Reading.of("ns"), Reading.of("db-0"), none, none))))
                .filteredOn(line -> line.startsWith("gpu_pod_memory_used_bytes"))
                .singleElement()
                .asString()
                .endsWith(" 120.0");
    }

    @Test
    void unnamedPodsAreSeparatedByUid() {
        Reading<String> none = Reading.absent(Absence.NO_DATA);
        assertThat(Lines.of(scrape(
                        holding(NodeFixture.process(1, 100), NodeFixture.process(2, 20)),
                        pid -> new Owner.Pod("uid-" + pid, none, none, none, none))))
                .filteredOn(line -> line.startsWith("gpu_pod_memory_used_bytes"))
                .hasSize(2)
                .allMatch(line -> line.contains("namespace=\"\",pod=\"uid-"));
    }

    @Test
    void sumWithAnUnknownPartIsNotExported() {
        Reading<Integer> none = Reading.absent(Absence.NOT_SUPPORTED);
        GpuProcess silent = new GpuProcess(2, GpuProcess.Type.COMPUTE, Reading.absent(Absence.NO_DATA), none, none);
        List<String> lines = Lines.of(scrape(
                holding(NodeFixture.process(1, 100), silent), pid -> NodeFixture.pod("team-a", "trainer-0", "main")));
        assertThat(lines)
                .noneMatch(line -> line.startsWith("gpu_pod_memory_used_bytes"))
                .noneMatch(line -> line.startsWith("gpuwarden_gpu_memory_unattributed_bytes"))
                .anyMatch(line -> line.startsWith("gpuwarden_gpu_processes_memory_absent{cause=\"no_data\""));
    }

    @Test
    void hostileNamesAreEscapedInEveryFormat() {
        String hostile = "x\"} 1\ngpuwarden_up 1\\\u001b[31m\u0000";
        Collector.Scrape scrape = scrape(holding(NodeFixture.process(1, 100)), pid -> new Owner.Unit(hostile));
        for (TextFormat format : TextFormat.values()) {
            Exposition exposition = new Exposition(
                    MetricsOptions.of(true, true, true),
                    () -> List.of(new DcgmCollector(
                                    () -> hostile, () -> Reading.of(Map.of()), () -> Reading.absent(Absence.NO_DATA))
                            .collector()));
            String text = Lines.text(format, exposition.snapshots(scrape));
            assertThat(text.lines()).noneMatch(line -> line.startsWith("gpuwarden_up"));
            assertThat(text).contains("unit=\"x\\\"} 1\\ngpuwarden_up 1\\\\\u001b[31m\u0000\"");
        }
    }

    @Test
    void failingCollectorCostsItsOwnSeriesAndIsCounted() {
        Collector.Scrape scrape = new Collector.Scrape(
                NodeFixture.node(1),
                () -> {
                    throw new IllegalStateException("for this test");
                },
                Scrapes.sampler(),
                Scrapes.SELF);
        List<String> lines = Lines.of(scrape);
        assertThat(lines)
                .anyMatch(line -> line.startsWith("gpuwarden_gpu_temperature_celsius"))
                .noneMatch(line -> line.startsWith("gpuwarden_gpu_memory_unattributed"))
                .contains(
                        "gpuwarden_collector_errors_total{collector=\"memory\"} 1.0",
                        "gpuwarden_collector_errors_total{collector=\"gpu\"} 0.0");
    }

    @Test
    void gpusWithTheSameIdentityDoNotCostOthers() {
        GpuSnapshot twin = NodeFixture.gpu(0);
        List<String> lines = Lines.of(Scrapes.scrape(NodeFixture.node(List.of(twin, twin, NodeFixture.gpu(1)))));
        assertThat(lines)
                .filteredOn(line -> line.startsWith("gpuwarden_gpu_temperature_celsius"))
                .hasSize(2);
    }

    @Test
    void partitionMemoryIsExported() {
        GpuIdentity.MigDevice mig =
                new GpuIdentity.MigDevice(0, "MIG-1", Reading.of(3), Reading.of(0), Reading.of("1g.10gb"));
        GpuFrame frame = new GpuFrame();
        NodeFixture.put(frame, GpuMetric.MEMORY_TOTAL, 10);
        NodeFixture.put(frame, GpuMetric.MEMORY_USED, 4);
        frame.putAbsent(GpuFrame.slot(GpuMetric.MEMORY_FREE), Absence.NO_PERMISSION, 4);
        GpuSnapshot plain = NodeFixture.gpu(0);
        GpuSnapshot gpu = new GpuSnapshot(
                plain.identity(),
                plain.state(),
                plain.detail(),
                plain.frame(),
                plain.ageNanos(),
                plain.processes(),
                plain.processesAgeNanos(),
                5,
                List.of(new GpuSnapshot.MigSnapshot(mig, frame)));
        assertThat(Lines.of(scrape(gpu, pid -> new Owner.Unit("x"))))
                .contains("gpuwarden_mig_memory_used_bytes{ci=\"0\",gi=\"3\",gpu=\"0\",mig_uuid=\"MIG-1\","
                        + "uuid=\"GPU-00000000-0000-0000-0000-000000000000\"} 4.0")
                .contains("gpuwarden_implausible_values_total" + GPU0 + "} 5.0")
                .anyMatch(line -> line.startsWith("gpuwarden_mig_info") && line.contains("profile=\"1g.10gb\""))
                .anyMatch(line -> line.startsWith("gpuwarden_mig_reading_absent{cause=\"no_permission\""));
    }

    @Test
    void manyGpusAndProcessesGrowLinearly() {
        List<GpuSnapshot> gpus = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            List<GpuProcess> processes = new ArrayList<>();
            for (int pid = 0; pid < 500; pid++) {
                processes.add(NodeFixture.process(1000 * i + pid, 1 << 20));
            }
            gpus.add(NodeFixture.gpu(i, GpuState.ANSWERING, NodeFixture.frame(), processes));
        }
        NodeSnapshot node = NodeFixture.node(gpus);
        org.junit.jupiter.api.Assertions.assertTimeout(Duration.ofSeconds(20), () -> {
            List<GpuMemoryUse> memory = NodeFixture.memory(node, pid -> NodeFixture.pod("ns", "pod-" + pid, "main"));
            Collector.Scrape scrape = new Collector.Scrape(node, () -> memory, Scrapes.sampler(), Scrapes.SELF);
            assertThat(Lines.of(scrape, MetricsOptions.of(true, true, true)))
                    .filteredOn(line -> line.startsWith("gpu_pod_memory_used_bytes"))
                    .hasSize(64 * 500);
        });
    }
}
