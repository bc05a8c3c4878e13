package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.health.Snapshots;
import dev.gpuwarden.core.telemetry.GpuFrame;
import dev.gpuwarden.core.telemetry.GpuMetric;
import dev.gpuwarden.core.telemetry.GpuSnapshot;
import dev.gpuwarden.core.telemetry.GpuState;
import dev.gpuwarden.daemon.reset.ResettableNode;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ResetVerificationTest {

    private static GpuSnapshot gpu(long uncorrected) {
        return Snapshots.gpu(
                1,
                GpuState.ANSWERING,
                frame -> frame.put(GpuFrame.slot(GpuMetric.ECC_VOLATILE_UNCORRECTED), uncorrected));
    }

    private static ResettableNode.Verified of(GpuSnapshot before, GpuSnapshot after, List<Fault> faults) {
        return ResetVerification.of(List.of(before), List.of(after), List.of(), faults, List.of(Snapshots.uuid(1)));
    }

    @ParameterizedTest
    @CsvSource({"0, 0, false", "5, 0, false", "5, 1, false", "5, 5, true", "5, 6, true", "0, 3, false"})
    void aCounterThatGoesOnShowsThatThereWasNoReset(long before, long after, boolean unproven) {
        assertThat(of(gpu(before), gpu(after), List.of()).unproven().isPresent())
                .isEqualTo(unproven);
    }

    @ParameterizedTest
    @CsvSource({"1, true, true", "1, false, false", "2, true, false"})
    void aFatalFaultOfTheGpuDuringTheVerificationIsADefect(int gpu, boolean fatal, boolean defect) {
        FaultTable table = new FaultTable();
        table.apply(
                HealthEvent.of("syslog-health-monitor", "GPU", "SysLogsXIDError")
                        .fatal(fatal)
                        .errorCodes(List.of("48"))
                        .entities(List.of(Entity.pci(Snapshots.pci(gpu))))
                        .message("Xid 48")
                        .build(),
                1,
                Instant.EPOCH);
        List<String> defects = of(gpu(0), gpu(0), table.faults()).defects();
        assertThat(defects).hasSize(defect ? 1 : 0);
    }

    @Test
    void aGpuThatIsGoneIsADefect() {
        assertThat(ResetVerification.of(List.of(gpu(0)), List.of(), List.of(), List.of(), List.of(Snapshots.uuid(1)))
                        .defects())
                .containsExactly("GPU " + Snapshots.uuid(1) + " is not listed by the driver");
    }
}
