package dev.gpuwarden.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class ActionTextTest {

    private static HealthEvent event(RecommendedAction action, Map<String, String> metadata, Entity... entities) {
        return HealthEvent.of("a", "GPU", "c")
                .action(action)
                .metadata(metadata)
                .entities(List.of(entities))
                .build();
    }

    @Test
    void theRemedyOfTheCheckIsTheOneInstruction() {
        Map<String, String> remedy = Map.of(ActionText.REMEDY, "look at air flow");
        assertThat(ActionText.advice(event(RecommendedAction.NONE, remedy))).isEqualTo("look at air flow");
        assertThat(ActionText.advice(event(RecommendedAction.NONE, Map.of())))
                .isEqualTo("this alone asks for nothing on the node");
    }

    @Test
    void theResetCommandNamesTheGpu() {
        Entity pci = new Entity(Entity.PCI, "0000:89:00");
        assertThat(ActionText.advice(event(RecommendedAction.COMPONENT_RESET, Map.of(), pci, Entity.gpu("GPU-1"))))
                .startsWith("reset GPU-1: sudo gpuwarden gpu-reset GPU-1 --arm (");
        assertThat(ActionText.advice(event(RecommendedAction.COMPONENT_RESET, Map.of(), pci)))
                .startsWith("reset GPU 0000:89:00: sudo gpuwarden gpu-reset 0000:89:00 --arm (");
        assertThat(ActionText.advice(event(RecommendedAction.COMPONENT_RESET, Map.of())))
                .isEqualTo("stop what uses the part, then reset it");
    }
}
