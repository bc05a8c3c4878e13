package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.gpu.GpuResultsCheck.Measured;
import dev.gpuwarden.checks.gpu.RepeatedWork.Repetition;
import dev.gpuwarden.core.check.CheckContext;
import dev.gpuwarden.core.check.GpuHistory;
import dev.gpuwarden.core.check.Limits;
import dev.gpuwarden.core.compute.Digest;
import dev.gpuwarden.core.compute.ProductResult;
import dev.gpuwarden.core.compute.ProductResult.Round;
import dev.gpuwarden.core.compute.Verification;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class RepeatedWrongNotesTest {

    private static final Digest DIGEST = new Digest(1, 2);

    private static Measured wrong(long celsius, Duration after) {
        Verification seen = new Verification(100, 1, OptionalLong.of(4), List.of(), new TreeMap<>());
        ProductResult product = new ProductResult(1e12, List.of(new Round(1e12, DIGEST, seen)));
        return new Measured(new Repetition<>(product, Reading.of(celsius), after), List.of(), DIGEST);
    }

    @Test
    void sizesOfOneGrowthCountAsOneWorkWhateverTheTemperature() {
        GpuSnapshot gpu = Gpus.gpu(frame -> {});
        CheckContext context = Gpus.context(Snapshots.running(1, gpu), GpuHistory.NONE, Limits.NONE);
        Map<String, Integer> counted = new HashMap<>();
        FindingBuilder first = new FindingBuilder(gpu, context, counted);
        new GpuResultsCheck().evaluateIncomplete(first, wrong(40, Duration.ZERO));
        FindingBuilder larger = new FindingBuilder(gpu, context, counted);
        new GpuResultsCheck().evaluateIncomplete(larger, wrong(41, Duration.ZERO));
        assertThat(larger.finding().code()).isEqualTo("wrong-result-once");
        assertThat(larger.finding().message()).contains("tensor cores at 41 C, immediately: ");
        FindingBuilder later = new FindingBuilder(gpu, context, counted);
        new GpuResultsCheck().evaluateIncomplete(later, wrong(41, Duration.ofSeconds(2)));
        assertThat(later.finding().code())
                .as("a second wrong result in one run")
                .isEqualTo("wrong-result");
    }
}
