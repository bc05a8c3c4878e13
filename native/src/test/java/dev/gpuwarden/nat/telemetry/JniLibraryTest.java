package dev.gpuwarden.nat.telemetry;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class JniLibraryTest {

    /** Such a buffer has no address in native memory: before the check, the process died here. */
    @Test
    void refusesABufferThatLiesInTheHeap() {
        assertThat(JniLibrary.whyNot()).isEmpty();
        assertThatThrownBy(() -> JniLibrary.run(0, 0, ByteBuffer.allocate(4096)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("direct buffer");
    }
}
