package dev.gpuwarden.aggregator.breaker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.breaker.BreakerConfigMap.BreakerSettingsAnnotation;
import dev.gpuwarden.aggregator.controller.ActionMode;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BreakerSettingsAnnotationTest {

    private static final String POOLS = "h100;gpu=h100,!spare;rate=50%,20/5m;level=50%";

    @Test
    void publishedSettingsAreReadUnchanged() {
        for (ActionMode mode : ActionMode.values()) {
            BreakerSettingsAnnotation settings =
                    new BreakerSettingsAnnotation(mode, Pool.Parser.parseAll(List.of(POOLS)));
            BreakerSettingsAnnotation read = BreakerSettingsAnnotation.of(settings.annotations());
            assertThat(read.mode()).isEqualTo(mode);
            assertThat(read.annotations())
                    .isEqualTo(settings.annotations())
                    .containsEntry(BreakerSettingsAnnotation.POOLS, POOLS);
        }
    }

    @Test
    void missingOrInvalidAnnotationIsNamed() {
        assertThatThrownBy(() -> BreakerSettingsAnnotation.of(Map.of(BreakerSettingsAnnotation.POOLS, POOLS)))
                .hasMessageContaining(BreakerSettingsAnnotation.MODE);
        assertThatThrownBy(() -> BreakerSettingsAnnotation.of(
                        Map.of(BreakerSettingsAnnotation.MODE, "DRY_RUN", BreakerSettingsAnnotation.POOLS, POOLS)))
                .hasMessageContaining("expected armed or dry-run, found \"DRY_RUN\"");
        assertThatThrownBy(() -> BreakerSettingsAnnotation.of(Map.of(BreakerSettingsAnnotation.MODE, "armed")))
                .hasMessageContaining(BreakerSettingsAnnotation.POOLS);
        assertThatThrownBy(() -> BreakerSettingsAnnotation.of(
                        Map.of(BreakerSettingsAnnotation.MODE, "armed", BreakerSettingsAnnotation.POOLS, "")))
                .hasMessageContaining(BreakerSettingsAnnotation.POOLS);
    }
}
