package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.testkit.TestClock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class KernelMessageClassifierTest {

    private static final String XID48 =
            "NVRM: Xid (PCI:0000:03:00): 48, pid=91237, name=nv-hostengine, Ch 00000076, errorString CTX SWITCH TIMEOUT, Info 0x3c046";
    private static final List<Entity> GPU3 =
            List.of(new Entity("PCI", "0000:03:00"), new Entity("GPU_UUID", ClassifierFixture.GPU));

    private final ClassifierFixture log = new ClassifierFixture();

    /** The example of spec/gpu-reset.md 1.1. */
    @Test
    void threeLinesYieldTheEventOfTheSpecification() {
        Instant when = Instant.parse("2025-10-23T11:38:02.207323Z");
        log.record(Writer.KERNEL, when, "NVRM: GPU at PCI:0000:03:00: " + ClassifierFixture.GPU)
                .record(Writer.KERNEL, when, "NVRM: GPU Board Serial Number: 1324023049334")
                .record(Writer.KERNEL, when, XID48);
        List<HealthEvent> events = log.flushIfDue();
        assertThat(events).hasSize(1);
        HealthEvent event = events.get(0);
        assertThat(event.version()).isEqualTo(1);
        assertThat(event.agent()).isEqualTo("syslog-health-monitor");
        assertThat(event.componentClass()).isEqualTo("GPU");
        assertThat(event.checkName()).isEqualTo("SysLogsXIDError");
        assertThat(event.fatal()).isTrue();
        assertThat(event.healthy()).isFalse();
        assertThat(event.message()).endsWith(": " + XID48).matches("[A-Z_ /]+: NVRM: Xid .*");
        assertThat(event.action()).isEqualTo(RecommendedAction.COMPONENT_RESET);
        assertThat(event.errorCodes()).containsExactly("48");
        assertThat(event.entities()).isEqualTo(GPU3);
        assertThat(event.generated()).isEqualTo(when);
        assertThat(event.nodeName()).isEqualTo("node1");
        assertThat(event.metadata()).containsEntry("pid", "91237").containsEntry("process", "nv-hostengine");
        assertThat(event.metadata()).doesNotContainKey(StoredEvent.OCCURRENCES);
    }

    @Test
    void lastXidOfEachGpuSurvivesARestart() {
        PciAddress gpu3 = new PciAddress(0, 3, 0, 0);
        PciAddress gpu3b = new PciAddress(0, 0x3b, 0, 0);
        assertThat(log.lastXids()).isEmpty();
        log.kernel(XID48)
                .kernel(ClassifierFixture.XID13)
                .after(Duration.ofSeconds(1))
                .kernel(ClassifierFixture.XID79);
        log.record(Writer.USER, Instant.EPOCH, XID48.replace("48,", "62,"));
        assertThat(log.lastXids()).isEqualTo(Map.of(gpu3, 48, gpu3b, 79));
        log.flush();
        assertThat(new ClassifierFixture(Rules.NONE, log.time, log.store).lastXids())
                .isEqualTo(Map.of(gpu3, 48, gpu3b, 79));
        log.reboot();
        assertThat(log.lastXids()).isEmpty();
    }

    @Test
    void lastXidHasNoUnitAndAddressesAreBounded() {
        log.kernel("NVRM: Xid (PCI:0000:3b:00): 145, pid='<unknown>', name=<unknown>, RLW_REMAP Nonfatal XC0 i0 Link 5"
                + " (0x00000001 0x00000000 0x00000000 0x00000000 0x00000000 0x00000000)");
        assertThat(log.lastXids()).isEqualTo(Map.of(new PciAddress(0, 0x3b, 0, 0), 145));
        for (int i = 0; i < 1100; i++) {
            log.kernel(String.format("NVRM: Xid (PCI:%04x:%02x:00): 31, pid=1, name=a, MMU Fault", i / 256, i % 256));
        }
        assertThat(log.lastXids()).hasSize(1024);
    }

    /** The example of spec/gpu-reset.md 1.2. */
    @Test
    void resetClearsTheGpusFaults() {
        log.driverLists("0000:03:00.0", ClassifierFixture.GPU).kernel(XID48).kernel(XID48.replace("03:00", "04:00"));
        log.flush();
        log.record(Writer.PRIVILEGED, Instant.EPOCH, "GPU reset occurred: " + ClassifierFixture.GPU);
        List<HealthEvent> events = log.flushIfDue();
        assertThat(events).allMatch(HealthEvent::healthy);
        assertThat(events).extracting(HealthEvent::checkName).contains("SysLogsXIDError", "SysLogsGPUFallenOff");
        HealthEvent event = events.get(0);
        assertThat(event.agent()).isEqualTo("syslog-health-monitor");
        assertThat(event.componentClass()).isEqualTo("GPU");
        assertThat(event.fatal()).isTrue();
        assertThat(event.entities()).isEqualTo(GPU3);
        assertThat(event.errorCodes()).isEmpty();
        assertThat(event.message()).isEmpty();
        assertThat(log.store.faults())
                .extracting(fault -> fault.key().entity().value())
                .containsExactly("0000:04:00");
    }

    @Test
    void waitingEventsPrecedeTheReset() {
        log.driverLists("0000:03:00.0", ClassifierFixture.GPU).kernel(XID48);
        log.flush();
        log.kernel(XID48).kernel(XID48);
        log.record(Writer.PRIVILEGED, Instant.EPOCH, "GPU reset occurred: " + ClassifierFixture.GPU)
                .kernel(XID48);
        List<HealthEvent> events = log.flushIfDue();
        assertThat(events).extracting(HealthEvent::healthy).containsExactly(false, true, true, true, false);
        assertThat(StoredEvent.occurrencesOf(events.get(0))).isEqualTo(2);
        assertThat(log.store.faults()).hasSize(2);
    }

    @Test
    void failedResetAsksForARestart() {
        log.driverLists("0000:03:00.0", ClassifierFixture.GPU)
                .record(
                        Writer.PRIVILEGED,
                        Instant.EPOCH,
                        "GPU reset executed: " + ClassifierFixture.GPU + ", success: false");
        HealthEvent event = log.flushIfDue().get(0);
        assertThat(event.errorCodes()).containsExactly("GPU_RESET_FAILURE");
        assertThat(event.action()).isEqualTo(RecommendedAction.RESTART_VM);
        assertThat(event.checkName()).isEqualTo("SysLogsXIDError");
        assertThat(event.entities()).isEqualTo(GPU3);
        log.record(
                Writer.PRIVILEGED, Instant.EPOCH, "GPU reset executed: " + ClassifierFixture.GPU + ", success: true");
        log.flushIfDue();
        assertThat(log.store.faults()).isEmpty();
    }

    @Test
    void gpuWithoutUuidAsksForARestart() {
        log.kernel(XID48);
        HealthEvent event = log.flushIfDue().get(0);
        assertThat(event.action()).isEqualTo(RecommendedAction.RESTART_VM);
        assertThat(event.entities()).containsExactly(new Entity("PCI", "0000:03:00"));
        assertThat(event.metadata()).containsEntry("demoted-from", "COMPONENT_RESET");
    }

    @ParameterizedTest
    @EnumSource(
            value = Writer.class,
            names = {"PRIVILEGED", "USER"})
    void kernelMessagesOfOtherWritersAreForged(Writer writer) {
        log.record(writer, Instant.EPOCH, XID48)
                .record(writer, Instant.EPOCH, ClassifierFixture.XID79)
                .record(writer, Instant.EPOCH, "NVRM: GPU at PCI:0000:03:00: GPU-00000000-0000-0000-0000-000000000000");
        assertThat(log.flush()).isEmpty();
        assertThat(log.status().forged()).isEqualTo(3);
        log.kernel(XID48);
        assertThat(log.flushIfDue().get(0).entities()).hasSize(1);
    }

    @Test
    void userCannotClearAFault() {
        log.driverLists("0000:03:00.0", ClassifierFixture.GPU).kernel(XID48);
        log.flush();
        log.record(Writer.USER, Instant.EPOCH, "GPU reset occurred: " + ClassifierFixture.GPU);
        assertThat(log.flush()).isEmpty();
        assertThat(log.status().forged()).isEqualTo(1);
        assertThat(log.store.faults()).hasSize(2);
    }

    @Test
    void fallenOffBusWithoutXidIsAFault() {
        log.kernel("NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.");
        HealthEvent event = log.flushIfDue().get(0);
        assertThat(event.checkName()).isEqualTo("SysLogsGPUFallenOff");
        assertThat(event.action()).isEqualTo(RecommendedAction.RESTART_BM);
        assertThat(event.entities()).containsExactly(new Entity("PCI", "0000:3b:00"));
    }

    @Test
    void fallenOffBusBehindItsXidIsSuppressed() {
        String words = "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.";
        log.kernel(ClassifierFixture.XID79).after(Duration.ofMinutes(4)).kernel(words);
        assertThat(log.flush()).extracting(HealthEvent::checkName).containsExactly("SysLogsXIDError");
        log.kernel(words.replace("3b", "3c"));
        assertThat(log.flush()).hasSize(1);
        log.after(Duration.ofMinutes(2)).kernel(words);
        assertThat(log.flush()).extracting(HealthEvent::checkName).containsExactly("SysLogsGPUFallenOff");
    }

    @Test
    void messageOverSeveralRecordsIsJoined() {
        log.record(Writer.UNTOLD, Instant.EPOCH, "NVRM: The NVIDIA GPU 0000:b3:00.0")
                .record(Writer.UNTOLD, Instant.EPOCH, "NVRM: (PCI ID: 10de:26b5) installed in this system has")
                .record(Writer.UNTOLD, Instant.EPOCH, "NVRM: fallen off the bus and is not responding to commands.");
        assertThat(log.flush())
                .extracting(HealthEvent::entities)
                .containsExactly(List.of(new Entity("PCI", "0000:b3:00")));
    }

    @Test
    void messageOverSeveralLinesOfARecordIsRead() {
        byte[] record = ("4,1,2,-;NVRM: The NVIDIA GPU 0000:b3:00.0\\x0a               NVRM: (PCI ID: 10de:26b5)"
                        + " installed in this system has\\x0a               NVRM: fallen off the bus and is not"
                        + " responding to commands.\n")
                .getBytes(java.nio.charset.StandardCharsets.US_ASCII);
        log.kernel(KmsgSource.parse(record, 0, record.length, (writer, sequence, micros, text) -> text)
                .orElseThrow());
        assertThat(log.flush())
                .extracting(HealthEvent::entities)
                .containsExactly(List.of(new Entity("PCI", "0000:b3:00")));
    }

    @Test
    void applicationFaultsAreNotFatalAndPass() {
        log.driverLists("0000:3b:00.0", ClassifierFixture.GPU);
        for (int i = 0; i < 100; i++) {
            log.kernel(ClassifierFixture.XID13);
        }
        HealthEvent event = log.flushIfDue().get(0);
        assertThat(event.fatal()).isFalse();
        assertThat(event.action()).isEqualTo(RecommendedAction.NONE);
        log.after(Duration.ofMinutes(9));
        assertThat(log.clearQuiet()).isEmpty();
        log.kernel(ClassifierFixture.XID13).flush();
        log.after(Duration.ofMinutes(9));
        assertThat(log.clearQuiet()).isEmpty();
        log.after(Duration.ofMinutes(1));
        assertThat(log.clearQuiet()).singleElement().satisfies(clear -> {
            assertThat(clear.healthy()).isTrue();
            assertThat(clear.errorCodes()).containsExactly("13");
            assertThat(clear.entities()).isEqualTo(event.entities());
        });
        assertThat(log.store.faults()).isEmpty();
    }

    @Test
    void fatalFaultsDoNotPass() {
        log.kernel(ClassifierFixture.XID79).flush();
        log.after(Duration.ofDays(30));
        assertThat(log.clearQuiet()).isEmpty();
        assertThat(log.store.faults()).hasSize(1);
    }

    @Test
    void sxidConcernsTheSwitch() {
        log.kernel("nvidia-nvswitch3: SXid (PCI:0000:04:00.0): 20034, Fatal, Link 48 LTSSM Fault Up");
        HealthEvent event = log.flushIfDue().get(0);
        assertThat(event.checkName()).isEqualTo("SysLogsSXIDError");
        assertThat(event.componentClass()).isEqualTo("NVSWITCH");
        assertThat(event.entities()).containsExactly(new Entity("PCI", "0000:04:00"));
        assertThat(event.action()).isNotEqualTo(RecommendedAction.COMPONENT_RESET);
    }

    @Test
    void messagesOfCardsAndDriverHaveOwnChecks() {
        log.driverLists("0000:3b:00.0", ClassifierFixture.GPU)
                .kernel("mlx5_core 0000:1a:00.0: Port module event: module 0, Cable unplugged")
                .kernel("NVRM: GPU 0000:3b:00.0: RmInitAdapter failed! (0x24:0x65:1423)")
                .kernel("nvidia-nvlink: Unregistered Nvlink Core")
                .kernel("INFO: task nvidia-smi:4242 blocked for more than 120 seconds.");
        assertThat(log.flush())
                .extracting(event -> event.checkName() + " " + event.componentClass() + " " + event.errorCodes())
                .containsExactly(
                        "SysLogsNICDriverError NIC [nic-cable-unplugged]",
                        "SysLogsDriverError GPU [init-failed]",
                        "SysLogsDriverError NODE [hung-task]");
    }

    @Test
    void harmlessMessagesYieldNoEvent() {
        log.kernel("NVRM: GPU at PCI:0000:03:00: " + ClassifierFixture.GPU)
                .kernel("mlx5_core 0000:1a:00.0 ib0: Link up")
                .kernel("EXT4-fs (vda): mounted filesystem");
        assertThat(log.flush()).isEmpty();
        assertThat(log.status().records()).isEqualTo(3);
    }

    @Test
    void rebootClearsAllFaults() {
        log.driverLists("0000:3b:00.0", ClassifierFixture.GPU)
                .kernel(ClassifierFixture.XID79)
                .kernel(XID48)
                .flush();
        log.reboot();
        log.kernel(ClassifierFixture.XID79);
        List<HealthEvent> events = log.flushIfDue();
        assertThat(events.get(events.size() - 1).healthy()).isFalse();
        assertThat(events.subList(0, events.size() - 1))
                .allMatch(event -> event.healthy()
                        && event.entities().isEmpty()
                        && event.errorCodes().isEmpty())
                .extracting(event -> event.checkName() + " " + event.componentClass())
                .containsExactly(
                        "SysLogsXIDError GPU",
                        "SysLogsSXIDError NVSWITCH",
                        "SysLogsGPUFallenOff GPU",
                        "SysLogsNICDriverError NIC",
                        "SysLogsDriverError GPU",
                        "SysLogsDriverError NODE");
        assertThat(log.store.faults()).extracting(Fault::occurrences).containsExactly(1L, 1L);
    }

    @Test
    void nextProcessRemembersTheLostGpu() {
        log.driverLists("0000:3b:00.0", ClassifierFixture.GPU)
                .kernel(ClassifierFixture.XID79)
                .flush();
        ClassifierFixture next = new ClassifierFixture(Rules.NONE, log.time, log.store);
        next.resumeAt(1);
        next.kernel("NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.");
        assertThat(next.flush()).isEmpty();
        next.kernel(ClassifierFixture.XID79);
        assertThat(next.flush().get(0).entities()).contains(new Entity("GPU_UUID", ClassifierFixture.GPU));
    }

    @Test
    void hostileTextStaysWithinEventLimits() {
        log.kernel(ClassifierFixture.XID79 + "\u0000".repeat(3) + "x".repeat(8000))
                .flush();
        for (int i = 0; i < 50; i++) {
            log.kernel("NVRM: Xid (PCI:0000:3b:00): 31, pid=" + i + ", name=" + "n".repeat(3000) + i + ", Ch 1");
        }
        assertThat(log.flush()).hasSize(1);
        assertThat(log.store.events().get(0).message()).hasSizeLessThan(1200);
    }

    @Test
    void recordOfTheFutureHasThePresentTime() {
        log.record(Writer.KERNEL, TestClock.START.plus(Duration.ofDays(4000)), ClassifierFixture.XID79);
        assertThat(log.flush()).extracting(HealthEvent::generated).containsExactly(TestClock.START);
    }

    @Test
    void detailsOfRepetitionsAreKept() {
        String line = "NVRM: Xid (PCI:0000:3b:00): 31, pid=%s, name=python%s, Ch 00000010, intr 00000000.";
        log.kernel(String.format(line, 1, 1)).flush();
        log.kernel(String.format(line, 2, 2)).kernel(String.format(line, 3, 3));
        Map<String, String> metadata = log.flush().get(0).metadata();
        assertThat(metadata).containsEntry("pid", "2,3").containsEntry("process", "python2,python3");
    }
}
