package dev.gpuwarden.core.kernel;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FabricSuspicionTest {

    private static final Instant NOW = Instant.parse("2026-11-29T08:00:00Z");

    private final FabricSuspicion fabric = new FabricSuspicion();

    private Optional<Signal> add(String gpu, int cause, Duration later) {
        String line = "NVRM: Xid (PCI:0000:" + gpu + ":00): 45, pid=1, name=a, Ch 1 caused by previous Xid " + cause;
        return fabric.add(KernelLogParser.standard().parse(line).orElseThrow(), NOW.plus(later));
    }

    @Test
    void endsOnSeveralGpusNameTheFabricOnce() {
        assertThat(add("dc", 145, Duration.ZERO)).isEmpty();
        assertThat(add("dc", 145, Duration.ofSeconds(1))).isEmpty();
        Signal first = add("dd", 149, Duration.ofSeconds(59)).orElseThrow();
        assertThat(first.code()).isEqualTo("nvlink-fabric-suspect");
        assertThat(first.severity()).isEqualTo(Signal.Severity.WARNING);
        assertThat(first.pci()).isEmpty();
        assertThat(first.details())
                .containsEntry("gpus", "0000:dc:00.0 0000:dd:00.0")
                .containsEntry("caused_by", "149")
                .containsEntry("incidents", "1");
        assertThat(add("de", 149, Duration.ofSeconds(100))).isEmpty();
    }

    @Test
    void furtherIncidentIsCounted() {
        add("dc", 145, Duration.ZERO);
        assertThat(add("dd", 145, Duration.ZERO)).isPresent();
        assertThat(add("dc", 145, Duration.ofMinutes(2))).isEmpty();
        assertThat(add("dd", 145, Duration.ofMinutes(2)).orElseThrow().why())
                .endsWith("incident 2 in the log: drain and reboot the node");
        fabric.clear();
        assertThat(add("dc", 145, Duration.ofMinutes(2))).isEmpty();
        assertThat(add("dd", 145, Duration.ofMinutes(2)).orElseThrow().details())
                .containsEntry("incidents", "1");
    }

    @Test
    void endsFarApartHaveNoCommonCause() {
        assertThat(add("dc", 145, Duration.ZERO)).isEmpty();
        assertThat(add("dd", 145, Duration.ofSeconds(61))).isEmpty();
        assertThat(add("dc", 145, Duration.ofSeconds(122))).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 13, 31, 74, 79, 143, 151})
    void otherCausesAreNoReasonToSuspectTheFabric(int cause) {
        assertThat(add("dc", cause, Duration.ZERO)).isEmpty();
        assertThat(add("dd", cause, Duration.ZERO)).isEmpty();
    }
}
