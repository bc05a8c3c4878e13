package dev.gpuwarden.aggregator.quarantine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.breaker.PoolText;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PublishedTest {

    private static final String POOLS = "h100;gpu=h100,!spare;rate=50%,20/5m;level=50%";

    @Test
    void whatIsPublishedIsReadAsTheSame() {
        for (Mode mode : Mode.values()) {
            Published says = new Published(mode, PoolText.parseAll(List.of(POOLS)));
            Published read = Published.of(says.annotations());
            assertThat(read.mode()).isEqualTo(mode);
            assertThat(read.annotations()).isEqualTo(says.annotations()).containsEntry(Published.POOLS, POOLS);
        }
    }

    @Test
    void whatIsMissingOrWrongIsNamed() {
        assertThatThrownBy(() -> Published.of(Map.of(Published.POOLS, POOLS))).hasMessageContaining(Published.MODE);
        assertThatThrownBy(() -> Published.of(Map.of(Published.MODE, "DRY_RUN", Published.POOLS, POOLS)))
                .hasMessageContaining("expected armed or dry-run, found \"DRY_RUN\"");
        assertThatThrownBy(() -> Published.of(Map.of(Published.MODE, "armed"))).hasMessageContaining(Published.POOLS);
        assertThatThrownBy(() -> Published.of(Map.of(Published.MODE, "armed", Published.POOLS, "")))
                .hasMessageContaining(Published.POOLS);
    }
}
