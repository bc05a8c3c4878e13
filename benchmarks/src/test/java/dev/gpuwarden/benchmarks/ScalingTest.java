package dev.gpuwarden.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class ScalingTest {

    @Test
    void fixedCostsCountAsLessThanLinear() {
        assertThat(Scaling.exponent(new TreeMap<>(Map.of(1, 101.0, 32, 132.0, 64, 164.0))))
                .isLessThan(0.5);
    }

    @Test
    void growthIsJudgedByTheLargestCounts() {
        assertThat(Scaling.exponent(new TreeMap<>(Map.of(10, 1.0, 100, 10.0, 500, 50.0))))
                .isEqualTo(1, within(1e-9));
        assertThat(Scaling.exponent(new TreeMap<>(Map.of(10, 1.0, 100, 100.0, 500, 2500.0))))
                .isEqualTo(2, within(1e-9));
        assertThat(2.0).isGreaterThan(Scaling.MAX_EXPONENT);
    }
}
