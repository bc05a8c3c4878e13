package dev.gpuwarden.watchdog.observation;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class GpuBytesTest {

    private static final long MIB = 1 << 20;

    private static GpuBytes bytes(long total, long reserved, long used, long free) {
        return new GpuBytes(total * MIB, reserved * MIB, used * MIB, free * MIB);
    }

    @Test
    void bothDocumentedSumsArePlausible() {
        assertThat(bytes(15360, 450, 5000, 10360).doubt()).as("reserve in used").isEmpty();
        assertThat(bytes(15360, 450, 4550, 10360).doubt()).as("reserve apart").isEmpty();
    }

    @Test
    void amountsThatNoCardHasAreDoubted() {
        assertThat(bytes(0, 0, 0, 0).doubt()).isPresent();
        assertThat(bytes(15360, 0, -1, 15360).doubt()).isPresent();
        assertThat(bytes(15360, 0, 15361, 0).doubt()).isPresent();
        assertThat(bytes(15360, 450, 4000, 4000).doubt())
                .hasValueSatisfying(why -> assertThat(why).contains("do not make up the total"));
    }
}
