package dev.gpuwarden.aggregator.breaker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.aggregator.breaker.BreakerConfigMap.BreakerSettingsAnnotation;
import dev.gpuwarden.aggregator.controller.ActionMode;
import dev.gpuwarden.aggregator.controller.StepModes;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class BreakerSettingsAnnotationTest {

    private static final String POOLS = "h100;gpu=h100,!spare;rate=50%,20/5m;level=50%";

    private static final StepModes STEPS = new StepModes(Optional.of(ActionMode.ARMED), Optional.empty());

    @Test
    void aLeaderOfAnEarlierVersionPublishesNoModesOfDrainsAndRepairs() {
        Map<String, String> earlier =
                Map.of(BreakerSettingsAnnotation.MODE, "armed", BreakerSettingsAnnotation.POOLS, POOLS);
        assertThat(BreakerSettingsAnnotation.of(earlier).steps()).isEmpty();
        Map<String, String> wrong = new HashMap<>(earlier);
        wrong.putAll(Map.of(BreakerSettingsAnnotation.DRAIN, "armed", BreakerSettingsAnnotation.REPAIR, "yes"));
        assertThatThrownBy(() -> BreakerSettingsAnnotation.of(wrong))
                .hasMessage("annotation gpuwarden.dev/repair-mode: expected off, dry-run or armed, found \"yes\"");
    }

    @Test
    void publishedSettingsAreReadUnchanged() {
        for (ActionMode mode : ActionMode.values()) {
            BreakerSettingsAnnotation settings =
                    new BreakerSettingsAnnotation(mode, Pool.Parser.parseAll(List.of(POOLS)), Optional.of(STEPS));
            BreakerSettingsAnnotation read = BreakerSettingsAnnotation.of(settings.annotations());
            assertThat(read.mode()).isEqualTo(mode);
            assertThat(read.annotations())
                    .isEqualTo(settings.annotations())
                    .containsEntry(BreakerSettingsAnnotation.POOLS, POOLS)
                    .containsEntry(BreakerSettingsAnnotation.DRAIN, "armed")
                    .containsEntry(BreakerSettingsAnnotation.REPAIR, "off");
            assertThat(read.steps()).contains(STEPS);
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
