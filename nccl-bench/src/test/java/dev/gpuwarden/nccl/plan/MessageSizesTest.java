package dev.gpuwarden.nccl.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class MessageSizesTest {

    @ParameterizedTest
    @CsvSource({"8, 8", "128M, 134217728", "1.5K, 1536", "2g, 2147483648", "0, 0"})
    void unitsArePowersOf1024(String text, long bytes) {
        assertThat(MessageSizes.parse(text)).hasValue(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "M", "-1", "1T", "8 bytes", "1e6", "99999999999999999G"})
    void otherTextsAreNoSize(String text) {
        assertThat(MessageSizes.parse(text)).isEmpty();
    }

    @Test
    void aFactorReplacesTheStep() {
        assertThat(new MessageSizes(8, 100, 1, 3).all()).containsExactly(8L, 24L, 72L);
        assertThat(new MessageSizes(8, 20, 4, 1).all()).containsExactly(8L, 12L, 16L, 20L);
        assertThat(new MessageSizes(8, 40, 4, 3).warmUp()).containsExactly(8L, 16L, 32L);
    }

    @Test
    void aSeriesAlwaysEnds() {
        assertThat(new MessageSizes(8, 100, 0, 1).all()).containsExactly(8L);
        assertThat(new MessageSizes(0, 100, 1, 2).all()).containsExactly(0L);
        assertThat(new MessageSizes(1, Long.MAX_VALUE, 1, 2).all()).hasSize(63);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new MessageSizes(0, 1 << 30, 1, 1).all())
                .withMessageContaining("-f");
    }

    @Test
    void memoryLimitsBothEnds() {
        assertThat(new MessageSizes(100, 200, 1, 2).limited(50)).isEqualTo(new MessageSizes(50, 50, 1, 2));
        long gib = 1L << 30;
        assertThat(MemoryLimit.of(80 * gib, true)).isEqualTo(75 * gib / 3);
        assertThat(MemoryLimit.of(16 * gib, false)).isEqualTo(14 * gib / 2);
    }
}
