package dev.gpuwarden.core.compute;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MeasurementValuesTest {

    private static final OptionalDouble H100 = Rates.memoryLimit(2_619_000, 5120);
    private static final long LARGE = 3L << 30;

    private static MemoryWork memory(double share, long reserve, long most, long piece) {
        return new MemoryWork(share, reserve, most, piece, List.of(MemoryPattern.RANDOM), 1, Duration.ofSeconds(1));
    }

    @ParameterizedTest
    @CsvSource({
        "0.5, 100, 1000, 1000, 62", // half
        "1.0, 300, 1000, 1000, 87", // all but the reserve
        "1.0, 0, 400, 1000, 50", // at most
        "1.0, 996, 1000, 1000, 0", // less than a piece
        "1.0, 2000, 1000, 1000, 0", // a reserve that is not there
    })
    void memoryUnderTestIsTheLowestOfShareReserveAndBound(
            double share, long reserve, long most, long free, int pieces) {
        assertThat(memory(share, reserve, most, 8).pieces(free)).isEqualTo(pieces);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -1, 1.1, Double.NaN})
    void aShareOutsideOfFreeMemoryIsRefused(double share) {
        assertThatThrownBy(() -> memory(share, 0, 8, 8)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aRateMustBeANumberThatTheBoardCanReach() {
        assertThat(H100.getAsDouble()).isEqualTo(3.35232e12);
        assertThat(Rates.isPlausibleMemory(2.8e12, H100, LARGE)).isTrue();
        assertThat(Rates.isPlausibleMemory(4e12, H100, LARGE)).isFalse();
        assertThat(Rates.isPlausibleMemory(4e12, H100, 1 << 20))
                .as("in the cache")
                .isTrue();
        assertThat(Rates.isPlausibleMemory(4e12, Rates.memoryLimit(0, 5120), LARGE))
                .as("no clock")
                .isTrue();
        for (double none : new double[] {0, -1, Double.NaN, Double.POSITIVE_INFINITY}) {
            assertThat(Rates.isPlausibleMemory(none, H100, LARGE)).isFalse();
            assertThat(Rates.isPlausibleProduct(none)).isFalse();
        }
        assertThat(Rates.isPlausibleProduct(1e15)).isTrue();
    }

    @Test
    void verificationsAddUp() {
        Mismatch late = new Mismatch(9, 1, 3, OptionalInt.of(2), 0);
        Mismatch early = new Mismatch(4, 1, 3, OptionalInt.empty(), 1);
        Verification both = new Verification(10, 1, OptionalLong.of(9), List.of(late), new TreeMap<>(Map.of(2, 1L)))
                .and(new Verification(10, 3, OptionalLong.of(4), List.of(early), new TreeMap<>(Map.of(1, 2L, 2, 1L))));
        assertThat(both.elements()).isEqualTo(20);
        assertThat(both.wrong()).isEqualTo(4);
        assertThat(both.firstIndex()).hasValue(4);
        assertThat(both.first()).contains(early);
        assertThat(both.wrongBySm()).isEqualTo(Map.of(1, 2L, 2, 2L));
        assertThat(both.worstSm()).as("the lowest of several").contains(1);
        assertThat(early.text()).isEqualTo("element 4: expected 0x1, seen 0x3, read by SM 1");
    }
}
