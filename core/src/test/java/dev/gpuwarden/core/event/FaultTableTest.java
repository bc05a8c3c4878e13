package dev.gpuwarden.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.FaultTable.Effect;
import dev.gpuwarden.core.event.HealthEvent.EventLimits;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FaultTableTest {

    private static final Entity PCI = new Entity(Entity.PCI, "0000:3b:00");
    private static final Entity UUID = Entity.gpu("GPU-1");
    private static final Entity OTHER = Entity.gpu("GPU-2");

    private final FaultTable table = new FaultTable();
    private long sequence;

    @Test
    void raisesOneFaultForEachEntityAndCode() {
        assertThat(apply(fault(List.of("48", "63"), PCI, UUID))).isEqualTo(Effect.RAISED);
        assertThat(table.faults()).hasSize(4);
    }

    @Test
    void repetitionsAreCountedAndTheFirstEventIsKept() {
        apply(fault(List.of("48"), UUID));
        assertThat(apply(fault(List.of("48"), UUID))).isEqualTo(Effect.REPEATED);
        Fault fault = table.faults().get(0);
        assertThat(fault.occurrences()).isEqualTo(2);
        assertThat(fault.sequence()).isEqualTo(1);
        assertThat(fault.lastSeen()).isAfter(fault.since());
    }

    @Test
    void takesAnEscalationOver() {
        apply(fault(List.of("48"), UUID));
        HealthEvent worse = builder(List.of("48"), UUID)
                .fatal(true)
                .action(RecommendedAction.RESTART_BM)
                .build();
        assertThat(apply(worse)).isEqualTo(Effect.CHANGED);
        assertThat(table.faults().get(0).cause().action()).isEqualTo(RecommendedAction.RESTART_BM);
        assertThat(table.faults().get(0).since()).isEqualTo(Instant.EPOCH.plusSeconds(1));
    }

    /** Otherwise the fault would keep its first cause, and receivers would act on a part that is good. */
    @Test
    void aHeldFaultIsAnotherCauseAndSoIsItsNextFailure() {
        HealthEvent failing = builder(List.of("hung"), UUID).fatal(true).build();
        HealthEvent held = failing.toBuilder()
                .metadata(Map.of(HealthEvent.OUTCOME, "pass"))
                .build();
        apply(failing);
        assertThat(apply(held)).isEqualTo(Effect.CHANGED);
        assertThat(table.faults().get(0).cause().isHeld()).isTrue();
        assertThat(table.faults().get(0).since()).isEqualTo(Instant.EPOCH.plusSeconds(1));
        assertThat(apply(held)).isEqualTo(Effect.REPEATED);
        assertThat(apply(failing)).isEqualTo(Effect.CHANGED);
        assertThat(table.faults().get(0).cause().isHeld()).isFalse();
    }

    @Test
    void healthClearsTheNamedEntityWithAnyCode() {
        apply(fault(List.of("48"), UUID));
        apply(fault(List.of("48"), OTHER));
        assertThat(apply(healthy(List.of(), UUID))).isEqualTo(Effect.CLEARED);
        assertThat(table.faults()).extracting(fault -> fault.key().entity()).containsExactly(OTHER);
    }

    @Test
    void healthClearsTheNamedCodeAlone() {
        apply(fault(List.of("48", "63"), UUID));
        apply(healthy(List.of("63"), UUID));
        assertThat(table.faults()).extracting(fault -> fault.key().errorCode()).containsExactly("48");
    }

    @Test
    void healthWithoutEntitiesClearsTheCheck() {
        apply(fault(List.of("48"), UUID));
        apply(fault(List.of("79"), OTHER));
        apply(healthy(List.of()));
        assertThat(table.faults()).isEmpty();
    }

    @Test
    void aGpuNamedByOneOfItsNamesIsClearedUnderAll() {
        apply(fault(List.of("48"), PCI, UUID));
        apply(healthy(List.of(), UUID));
        assertThat(table.faults()).isEmpty();
    }

    @Test
    void healthOfAnotherCheckAgentOrNodeClearsNothing() {
        apply(fault(List.of("48"), UUID));
        HealthEvent.Builder other = HealthEvent.of("somebody", "GPU", "SysLogsXIDError");
        assertThat(apply(other.nodeName("node1").healthy(true).build())).isEqualTo(Effect.REPEATED);
        HealthEvent elsewhere = HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .nodeName("node2")
                .healthy(true)
                .build();
        apply(elsewhere);
        assertThat(table.faults()).hasSize(1);
    }

    @Test
    void countsEveryOccurrenceThatAnEventStandsFor() {
        apply(builder(List.of("95"), UUID)
                .metadata(Map.of(StoredEvent.OCCURRENCES, "800000"))
                .build());
        apply(builder(List.of("95"), UUID)
                .metadata(Map.of(StoredEvent.OCCURRENCES, "-3"))
                .build());
        assertThat(table.faults().get(0).occurrences()).isEqualTo(800_001);
    }

    @Test
    void isBoundedInNumber() {
        int share = FaultTable.MOST_FAULTS / 4;
        for (int i = 0; i < share; i++) {
            apply(fault(List.of("code" + i), UUID));
        }
        assertThat(table.size()).isEqualTo(share);
        assertThat(apply(fault(List.of("one", "more", "code0"), UUID))).isEqualTo(Effect.REPEATED);
        assertThat(table.size()).isEqualTo(share);
        assertThat(table.fault(fault(List.of("code0"), UUID).keys().get(0)))
                .hasValueSatisfying(fault -> assertThat(fault.occurrences()).isEqualTo(2));
        apply(healthy(List.of("code0"), UUID));
        assertThat(apply(fault(List.of("one"), UUID))).isEqualTo(Effect.RAISED);
    }

    @Test
    void isBoundedInText() {
        String message = "m".repeat(EventLimits.CHARACTERS - 200);
        int share = FaultTable.MOST_CHARACTERS / 4;
        for (int i = 0; i < FaultTable.MOST_FAULTS; i++) {
            apply(builder(List.of("code" + i), UUID).message(message).build());
        }
        assertThat(table.faults().stream()
                        .mapToInt(fault -> fault.cause().characters())
                        .sum())
                .isBetween(share - EventLimits.CHARACTERS, share);
        HealthEvent longer = builder(List.of("code0"), UUID)
                .message(message + "m".repeat(150))
                .fatal(true)
                .build();
        assertThat(apply(longer)).isEqualTo(Effect.CHANGED);
        table.faults().forEach(fault -> apply(healthy(List.of(fault.key().errorCode()), UUID)));
        assertThat(apply(builder(List.of("new"), UUID).message(message).build()))
                .isEqualTo(Effect.RAISED);
    }

    @Test
    void otherFaultsNeverTakeTheRoomOfFatalOnes() {
        for (int agent = 0; agent < 100; agent++) {
            for (int i = 0; i < 100; i++) {
                apply(of("noisy" + agent, i, false));
            }
        }
        assertThat(table.size()).isEqualTo(FaultTable.MOST_FAULTS / 2);
        HealthEvent lost = builder(List.of("79"), PCI, UUID).fatal(true).build();
        assertThat(apply(lost)).isEqualTo(Effect.RAISED);
        assertThat(table.faults()).filteredOn(fault -> fault.cause().fatal()).hasSize(2);
    }

    @Test
    void anAgentThatReportsFatalFaultsWithoutEndLeavesRoomForOthers() {
        for (int i = 0; i < 5000; i++) {
            apply(of("noisy", i, true));
        }
        assertThat(table.size()).isEqualTo(FaultTable.MOST_FAULTS / 2);
        assertThat(apply(fault(List.of("63"), UUID))).isEqualTo(Effect.RAISED);
        assertThat(apply(builder(List.of("79"), UUID).fatal(true).build())).isEqualTo(Effect.RAISED);
    }

    @Test
    void aFaultThatIsNoLongerFatalNeedsTheRoomOfThoseThatAreNot() {
        apply(of("a", 0, true));
        for (int i = 1; i <= FaultTable.MOST_FAULTS / 4; i++) {
            assertThat(apply(of("a", i, false))).isEqualTo(Effect.RAISED);
        }
        assertThat(apply(of("a", 0, false))).isEqualTo(Effect.REPEATED);
        assertThat(apply(of("a", 1, true))).isEqualTo(Effect.CHANGED);
        assertThat(apply(of("a", 0, false))).isEqualTo(Effect.CHANGED);
        assertThat(apply(of("a", 9999, false))).isEqualTo(Effect.REPEATED);
    }

    private static HealthEvent of(String agent, int number, boolean fatal) {
        return HealthEvent.of(agent, "GPU", "check")
                .nodeName("node1")
                .errorCodes(List.of("code" + number))
                .fatal(fatal)
                .build();
    }

    private Effect apply(HealthEvent event) {
        sequence++;
        return table.apply(event, sequence, Instant.EPOCH.plusSeconds(sequence)).effect();
    }

    private static HealthEvent fault(List<String> codes, Entity... entities) {
        return builder(codes, entities).build();
    }

    private static HealthEvent healthy(List<String> codes, Entity... entities) {
        return builder(codes, entities).healthy(true).build();
    }

    private static HealthEvent.Builder builder(List<String> codes, Entity... entities) {
        return HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                .nodeName("node1")
                .errorCodes(codes)
                .entities(List.of(entities));
    }
}
