package dev.gpuwarden.checks.gpu;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.checks.gpu.RepeatedWork.Repetition;
import dev.gpuwarden.core.model.Reading;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.function.LongUnaryOperator;
import org.junit.jupiter.api.Test;

class RepeatedWorkTest {

    private static final Duration LEVEL = Duration.ofSeconds(1);

    private long halfSeconds;
    private long stopAfter = Long.MAX_VALUE;

    /** Repetitions of half a second, whose result is their number; those from the second number on are wrong. */
    private List<Repetition<Long>> run(LongUnaryOperator celsius, long wrongFrom) {
        RepeatedWork repeated = new RepeatedWork(() -> halfSeconds * 500_000_000, LEVEL);
        return repeated.<String, Long>run(
                        List.of(Optional.of("work")),
                        (work, gpus) -> List.of(Reading.of(++halfSeconds)),
                        () -> List.of(Reading.of(celsius.applyAsLong(halfSeconds))),
                        () -> halfSeconds >= stopAfter,
                        result -> result < wrongFrom,
                        (gpu, wrong) -> {})
                .get(0);
    }

    @Test
    void workEndsWhenNoTemperatureHasRisen() {
        List<Repetition<Long>> kept = run(half -> Math.min(half, 6), 99);
        assertThat(kept).containsExactly(new Repetition<>(8L, Reading.of(6L), Duration.ofSeconds(4)));
    }

    @Test
    void aTemperatureThatAlwaysRisesEndsAtTheBound() {
        assertThat(run(half -> half, 99)).extracting(Repetition::result).containsExactly(40L);
    }

    @Test
    void workEndsWhenItIsStopped() {
        stopAfter = 3;
        assertThat(run(half -> half, 99)).extracting(Repetition::result).containsExactly(3L);
    }

    @Test
    void theFirstWrongRepetitionIsKeptWithItsTemperature() {
        List<Repetition<Long>> kept = run(half -> Math.min(half, 6), 5);
        assertThat(kept)
                .containsExactly(
                        new Repetition<>(5L, Reading.of(5L), Duration.ofMillis(2500)),
                        new Repetition<>(8L, Reading.of(6L), Duration.ofSeconds(4)));
    }

    @Test
    void aGpuWithoutWorkHasNoRepetition() {
        RepeatedWork repeated = new RepeatedWork(System::nanoTime, LEVEL);
        assertThat(repeated.<String, Long>run(
                        List.of(Optional.empty()),
                        (work, gpus) -> List.of(),
                        List::of,
                        () -> false,
                        result -> true,
                        (gpu, wrong) -> {}))
                .isEqualTo(List.of(List.of()));
    }
}
