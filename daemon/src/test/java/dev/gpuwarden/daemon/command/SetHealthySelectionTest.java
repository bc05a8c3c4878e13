package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.v1.SetHealthyRequest;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class SetHealthySelectionTest {

    private static final Entity UUID = Entity.gpu("GPU-1");
    private static final Entity PCI = new Entity(Entity.PCI, "0000:3b:00");
    private static final Entity LINK = new Entity("NVLINK", "5");

    private final FaultTable faults = new FaultTable();

    SetHealthySelectionTest() {
        raise("id-1", "Xid", List.of("79", "48"), List.of(PCI, UUID));
        raise("id-2", "NvLink", List.of("74"), List.of(UUID, LINK));
        raise("id-3", "Xid", List.of("79"), List.of(Entity.gpu("GPU-2")));
        raise("id-4", "Whole", List.of(), List.of());
    }

    private void raise(String id, String check, List<String> codes, List<Entity> entities) {
        faults.apply(
                HealthEvent.of("a", "GPU", check)
                        .id(id)
                        .errorCodes(codes)
                        .entities(entities)
                        .build(),
                1,
                Instant.EPOCH);
    }

    private List<Fault> meant(List<String> checks, List<String> codes, List<Entity> gpu, Optional<String> event) {
        return new SetHealthyCommand.Selection(checks, codes, gpu, event).of(faults.faults());
    }

    @Test
    void allConditionsMustMatch() {
        assertThat(meant(List.of(), List.of(), List.of(), Optional.empty())).hasSize(8);
        assertThat(meant(List.of("Xid"), List.of("79"), List.of(), Optional.empty()))
                .hasSize(3);
        assertThat(meant(List.of("Xid"), List.of(), List.of(UUID, PCI), Optional.empty()))
                .hasSize(4);
        assertThat(meant(List.of(), List.of(), List.of(), Optional.of("id-3"))).hasSize(1);
        assertThat(meant(List.of("Other"), List.of(), List.of(), Optional.empty()))
                .isEmpty();
    }

    @Test
    void gpuSelectionIncludesItsParts() {
        assertThat(meant(List.of(), List.of("74"), List.of(UUID), Optional.empty()))
                .extracting(fault -> fault.key().entity())
                .containsExactly(UUID, LINK);
    }

    @Test
    void requestNamesOnlyTheShownFaults() {
        List<SetHealthyRequest> requests = SetHealthyCommand.Selection.requests(
                meant(List.of(), List.of(), List.of(), Optional.of("id-1")), "why");
        assertThat(requests).hasSize(2).allMatch(request -> request.getEntitiesCount() == 2 && !request.getAll());
        assertThat(requests).extracting(request -> request.getErrorCodes(0)).containsExactlyInAnyOrder("79", "48");
        SetHealthyRequest whole = SetHealthyCommand.Selection.requests(
                        meant(List.of("Whole"), List.of(), List.of(), Optional.empty()), "why")
                .get(0);
        assertThat(whole.getErrorCodesList()).containsExactly("");
        assertThat(whole.getEntitiesList()).hasSize(1);
    }
}
