package dev.gpuwarden.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.benchmarks.SamplerBenchmark.Baseline;
import dev.gpuwarden.benchmarks.SamplerBenchmark.GpuSampling;
import dev.gpuwarden.core.port.DriverOptions.SamplerPath;
import dev.gpuwarden.core.telemetry.Cadence;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.LinkMetric;
import dev.gpuwarden.core.telemetry.Unit;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The C program and the sampler do the same work, or the comparison has no value. */
class BaselineTest {

    private static final int GPUS = 1;

    @ParameterizedTest
    @ValueSource(strings = {"h100x8", "b200x8", "a100x8", "t4", "driver-470", "driver-535.54", "gpu-lost"})
    void readsWhatTheSamplerReadsWithAsManyCalls(String scenario) {
        try (Node node = Node.open(scenario);
                Baseline c = Baseline.start(node.library(), GPUS);
                GpuSampling java =
                        GpuSampling.of(node.driver(SamplerPath.AUTO), GPUS).get(0)) {
            node.freezeTime(); // energy grows with time
            for (Cadence cadence : List.of(Cadence.FAST, Cadence.SLOW)) {
                java.sample(cadence);
                assertThat(c.rounds(cadence, 3))
                        .as("calls of " + cadence)
                        .isEqualTo(java.frame().calls());
            }
            assertThat(c.values().split(", ")).isEqualTo(("[" + json(java.frame()) + "]").split(", "));
        }
    }

    /** Returns a frame in the format of sampler_loop.c. */
    private static String json(GpuFrame frame) {
        String gpu = IntStream.range(0, GpuMetric.count())
                .mapToObj(i -> json(GpuMetric.of(i).label(), GpuMetric.of(i).unit(), frame, i))
                .collect(Collectors.joining(", "));
        long links = frame.present(GpuMetric.NVLINK_LINKS) ? frame.raw(GpuMetric.NVLINK_LINKS) : 0;
        List<String> all = IntStream.range(0, (int) links)
                .mapToObj(link -> IntStream.range(0, LinkMetric.count())
                        .mapToObj(LinkMetric::of)
                        .map(m -> json(m.label(), m.unit(), frame, GpuFrame.slot(m, link)))
                        .collect(Collectors.joining(", ", "{", "}")))
                .toList();
        return "{" + gpu + ", \"links\": [" + String.join(", ", all) + "]}";
    }

    private static String json(String label, Unit unit, GpuFrame frame, int slot) {
        String key = unit.base().isEmpty() ? label : label + "_" + unit.base();
        String value = frame.present(slot) ? Long.toString(frame.raw(slot)) : "{\"code\": " + frame.code(slot) + "}";
        return "\"" + key + "\": " + value;
    }
}
