package dev.gpuwarden.daemon.grpc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class FaultListTest {

    private final FaultTable table = new FaultTable();
    private int sequence;

    private void raise(String agent, String code, boolean fatal, String message) {
        sequence++;
        table.apply(
                HealthEvent.of(agent, "GPU", "check")
                        .errorCodes(List.of(code))
                        .fatal(fatal)
                        .message(message)
                        .build(),
                sequence,
                Instant.EPOCH.plusSeconds(sequence));
    }

    @Test
    void fatalFaultsComeFirstThenTheNewest() {
        raise("a", "1", false, "");
        raise("a", "2", true, "");
        raise("a", "3", false, "");
        raise("a", "4", true, "");
        assertThat(FaultMessages.FaultList.of(table.faults()).faults())
                .extracting(fault -> fault.getKey().getErrorCode())
                .containsExactly("4", "2", "3", "1");
    }

    @Test
    void fatalFaultsAreListedBeforeOthers() {
        for (int i = 0; i < 1000; i++) {
            raise("noisy" + i % 4, "code" + i, false, "m".repeat(15_000));
        }
        for (int i = 0; i < 100; i++) {
            raise("long", "code" + i, true, "m".repeat(15_000));
        }
        raise("syslog-health-monitor", "79", true, "fell off the bus");
        FaultMessages.FaultList list = FaultMessages.FaultList.of(table.faults());
        assertThat(list.leftOut()).isPositive();
        assertThat(list.faults().get(0).getKey().getErrorCode()).isEqualTo("79");
        assertThat(list.faults())
                .filteredOn(fault -> fault.getKey().getAgent().equals("long"))
                .hasSize(100);
    }
}
