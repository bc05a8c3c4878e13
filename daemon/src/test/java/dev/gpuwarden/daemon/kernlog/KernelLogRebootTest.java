package dev.gpuwarden.daemon.kernlog;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.HealthEvent;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Reboots, which a monitor finds by the ID of the boot. */
class KernelLogRebootTest extends MonitoredKernelLog {

    private static final String BOOT_2 = "22222222-2222-2222-2222-222222222222";

    private KernelLogMonitor verifying() {
        KernelLogMonitor monitor = monitor();
        monitor.verifyRepairs();
        monitor.start();
        return monitor;
    }

    private void runUntil(KernelLogMonitor monitor, int events) {
        try (monitor) {
            until(() -> store.events().size() == events);
        }
    }

    @Test
    void rebootIsStoredBeforeAllEventsOfTheNewBoot() throws IOException {
        write(ClassifierFixture.XID79);
        try (KernelLogMonitor monitor = start()) {
            until(() -> store.events().size() == 1);
            assertThat(status(monitor).gaps()).isZero();
        }
        boot(BOOT_2);
        write(ClassifierFixture.XID13);
        try (KernelLogMonitor monitor = start()) {
            until(() -> store.events().size() == 8);
            assertThat(status(monitor).records()).isEqualTo(2);
        }
        List<HealthEvent> later = store.events().subList(1, 8);
        assertThat(later.subList(0, 6))
                .allMatch(event -> event.healthy() && event.entities().isEmpty());
        assertThat(later.get(6).errorCodes()).containsExactly("13");
        assertThat(store.faults()).extracting(fault -> fault.key().errorCode()).containsExactly("13");
        assertThat(store.position(EventBatcher.POSITION).orElseThrow().bootId()).isEqualTo(BOOT_2);
        try (KernelLogMonitor monitor = start()) {
            until(() -> status(monitor).unreadable().isEmpty());
        }
        assertThat(store.events()).hasSize(8);
    }

    @Test
    void partWithAFatalFaultStaysFaultyAfterABootUntilItIsVerified() throws IOException {
        write(ClassifierFixture.XID79, ClassifierFixture.XID13);
        runUntil(start(), 2);
        boot(BOOT_2);
        runUntil(verifying(), 9);
        assertThat(store.events().get(2).checkName()).isEqualTo("RepairVerification");
        assertThat(store.faults()).allSatisfy(fault -> {
            assertThat(fault.key().checkName()).isEqualTo("RepairVerification");
            assertThat(fault.cause().fatal()).isTrue();
        });
        assertThat(store.faults())
                .extracting(fault -> fault.key().entity().value())
                .containsExactlyElementsOf(store.events().get(0).entities().stream()
                        .map(entity -> entity.value())
                        .toList());
        // Its own boot ends no verification.
        boot(BOOT_1);
        runUntil(verifying(), 15);
        assertThat(store.faults()).isNotEmpty();
    }

    @Test
    void rebootUnderTheDaemonIsDetected() throws IOException {
        try (KernelLogMonitor monitor = start()) {
            write(ClassifierFixture.XID79);
            until(() -> store.events().size() == 1);
            write(ClassifierFixture.XID79);
            until(() -> status(monitor).records() == 3);
            Files.writeString(folder.resolve("proc/sys/kernel/random/boot_id"), BOOT_2 + "\n");
            sequence = 0;
            Path next = Files.writeString(folder.resolve("next"), "5,0,0,-;Linux version 6.1.0\n");
            Files.move(next, log(), java.nio.file.StandardCopyOption.ATOMIC_MOVE);
            sequence = 1;
            write(ClassifierFixture.XID13);
            until(() -> store.events().size() == 9);
            assertThat(status(monitor).gaps()).isZero();
        }
        assertThat(store.events().get(1).healthy())
                .as("the waiting event precedes the reboot")
                .isFalse();
        assertThat(store.faults()).extracting(fault -> fault.key().errorCode()).containsExactly("13");
        assertThat(store.position(EventBatcher.POSITION).orElseThrow().bootId()).isEqualTo(BOOT_2);
    }

    @Test
    void rebootIsStoredWhenNoLogCanBeRead() throws IOException {
        store.put(new Position(EventBatcher.POSITION, BOOT_1, "kmsg:7"));
        settings = MonitoredKernelLog.settings(KernelLogSettings.Source.FILE, folder.resolve("none"));
        boot(BOOT_2);
        try (KernelLogMonitor monitor = start()) {
            until(() -> store.events().size() == 6);
            until(() -> status(monitor)
                    .unreadable()
                    .filter(why -> why.contains("does not exist"))
                    .isPresent());
        }
        assertThat(store.position(EventBatcher.POSITION).orElseThrow().bootId()).isEqualTo(BOOT_2);
    }
}
