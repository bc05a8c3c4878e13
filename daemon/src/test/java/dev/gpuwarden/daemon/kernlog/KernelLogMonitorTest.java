package dev.gpuwarden.daemon.kernlog;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.model.Absence;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.core.node.NodeSnapshot;
import dev.gpuwarden.daemon.node.NodeName;
import dev.gpuwarden.daemon.node.NodePaths;
import dev.gpuwarden.testkit.TestClock;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class KernelLogMonitorTest {

    private static final String BOOT_1 = "11111111-1111-1111-1111-111111111111";
    private static final String BOOT_2 = "22222222-2222-2222-2222-222222222222";

    @TempDir
    Path folder;

    private final RecordingIntake store = new RecordingIntake(Clock.systemUTC());
    private final List<KernelRecord> tapped = Collections.synchronizedList(new ArrayList<>());
    private KernelLogSettings settings;
    private int sequence;

    @BeforeEach
    void node() throws IOException {
        Files.createDirectories(folder.resolve("proc/sys/kernel/random"));
        boot(BOOT_1);
        settings = KernelLogSettings.of(KernelLogSettings.Source.FILE, log());
    }

    private Path log() {
        return folder.resolve("kmsg");
    }

    /** The ring of a node that boots is empty. */
    private void boot(String id) throws IOException {
        Files.writeString(folder.resolve("proc/sys/kernel/random/boot_id"), id + "\n");
        Files.writeString(folder.resolve("proc/uptime"), "10.00 1.0\n");
        Files.writeString(log(), "");
        sequence = 0;
        write("Linux version 6.1.0");
    }

    private void write(String... texts) throws IOException {
        StringBuilder lines = new StringBuilder();
        for (String text : texts) {
            lines.append("4,")
                    .append(sequence)
                    .append(',')
                    .append(1_000_000 + sequence++)
                    .append(",-;")
                    .append(text)
                    .append('\n');
        }
        Files.writeString(log(), lines, StandardOpenOption.APPEND);
    }

    private KernelLogMonitor start() {
        KernelLogMonitor monitor = monitor();
        monitor.start();
        return monitor;
    }

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

    private KernelLogMonitor monitor() {
        return new KernelLogMonitor(
                settings,
                new KernelLogMonitor.Surroundings(
                        NodeName.of("node1"),
                        NodePaths.of(folder.resolve("proc"), folder.resolve("sys"), folder.resolve("pods")),
                        KernelLogParser.standard(),
                        () -> new NodeSnapshot(
                                new NodeSnapshot.DriverState.Opening(), Reading.absent(Absence.PENDING), List.of()),
                        store,
                        store::faults,
                        longest -> {},
                        DriverSource.Feed.NONE,
                        tapped::add));
    }

    private static void pause(long millis) {
        try {
            assertThat(new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS))
                    .isFalse();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    /** Waits until a source was opened or failed to open. */
    private static KernelLogStatus status(KernelLogMonitor monitor) {
        until(() -> monitor.status() instanceof Reading.Present);
        return monitor.status().asOptional().orElseThrow();
    }

    @Test
    void lineIsStoredAsEventWithThePositionBehindIt() throws IOException {
        try (KernelLogMonitor monitor = start()) {
            write(ClassifierFixture.XID79);
            until(() -> store.events().size() == 1);
            assertThat(store.events().get(0).nodeName()).isEqualTo("node1");
            Position position = store.position(EventBatcher.POSITION).orElseThrow();
            assertThat(position.bootId()).isEqualTo(BOOT_1);
            assertThat(position.cursor()).startsWith("file:").contains(":1:").endsWith(":" + log());
            assertThat(status(monitor).records()).isEqualTo(2);
            assertThat(status(monitor).unreadable()).isEmpty();
            // Counted once the store has answered.
            until(() -> monitor.stats().events() == 1);
            assertThat(tapped).hasSize(2);
        }
    }

    @Test
    void closingStoresWaitingEventsAndReadingResumesBehindThem() throws IOException {
        try (KernelLogMonitor monitor = start()) {
            write(ClassifierFixture.XID79);
            until(() -> store.events().size() == 1);
            write(ClassifierFixture.XID79, ClassifierFixture.XID79, "nothing");
            until(() -> status(monitor).records() == 5);
            assertThat(store.events()).hasSize(1);
        }
        assertThat(store.events()).extracting(StoredEvent::occurrencesOf).containsExactly(1L, 2L);
        write(ClassifierFixture.XID79);
        try (KernelLogMonitor monitor = start()) {
            until(() -> store.events().size() == 3);
            assertThat(status(monitor).records()).isEqualTo(1);
        }
        assertThat(store.occurrences()).containsEntry("79 0000:3b:00", 4L);
        assertThat(store.faults()).hasSize(1);
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
        settings = KernelLogSettings.of(KernelLogSettings.Source.FILE, folder.resolve("none"));
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

    @Test
    void burstSharesBatches() throws IOException {
        try (KernelLogMonitor monitor = start()) {
            until(() -> status(monitor).records() == 1);
            String[] lines = new String[20_000];
            for (int i = 0; i < lines.length; i++) {
                lines[i] = "NVRM: Xid (PCI:0000:" + (10 + i % 8) + ":00): " + (100 + i % 3) + ", pid=1, name=a, what";
            }
            write(lines);
            until(() -> status(monitor).records() == 20_001);
        }
        assertThat(store.occurrences().values().stream()
                        .mapToLong(Long::longValue)
                        .sum())
                .isEqualTo(20_000);
        assertThat(store.occurrences()).hasSize(24);
        assertThat(store.events()).hasSizeLessThan(24 * 25);
        assertThat(store.calls()).isLessThan(30);
    }

    @Test
    void failedStoreIsRetried() throws IOException {
        try (KernelLogMonitor monitor = start()) {
            until(() -> status(monitor).records() == 1);
            store.fail(1);
            write(ClassifierFixture.XID79);
            until(() -> store.events().size() == 1);
            assertThat(status(monitor).lastError()).isPresent();
        }
        assertThat(store.occurrences()).containsEntry("79 0000:3b:00", 1L);
    }

    @Test
    void eventsSurviveAFailureOfTheStoreDuringTheShutdown() throws IOException {
        try (KernelLogMonitor monitor = start()) {
            until(() -> status(monitor).records() == 1);
            store.fail(1);
            write(ClassifierFixture.XID79);
            until(() -> status(monitor).lastError().isPresent());
            write("nothing");
            until(() -> status(monitor).records() == 3);
        }
        try (KernelLogMonitor monitor = start()) {
            until(() -> status(monitor).unreadable().isEmpty());
        }
        assertThat(store.occurrences()).containsEntry("79 0000:3b:00", 1L);
    }

    @Test
    void quietFaultIsCleared() throws IOException {
        settings.stormWindow = Duration.ofMillis(100);
        settings.quiet = Duration.ofSeconds(1);
        try (KernelLogMonitor monitor = start()) {
            write(ClassifierFixture.XID13, ClassifierFixture.XID79);
            until(() -> store.faults().size() == 2);
            until(() -> store.faults().size() == 1);
            assertThat(store.faults().get(0).key().errorCode()).isEqualTo("79");
            assertThat(monitor.stats().events()).isEqualTo(3);
        }
    }

    @Test
    void gapsAndForgedRecordsAreCounted() throws IOException {
        try (KernelLogMonitor monitor = start()) {
            until(() -> status(monitor).records() == 1);
            sequence += 5;
            write("after");
            Files.writeString(
                    log(), "12," + sequence++ + ",1,-;" + ClassifierFixture.XID79 + "\n", StandardOpenOption.APPEND);
            until(() -> status(monitor).forged() == 1);
            KernelLogStatus status = status(monitor);
            assertThat(status.records()).isEqualTo(3);
            assertThat(status.gaps()).isEqualTo(1);
            assertThat(status.lost()).isEqualTo(5);
            assertThat(status.lastGap().orElseThrow().lost()).isEqualTo(5);
            assertThat(store.events()).isEmpty();
        }
    }

    @Test
    void monitorDoesNothingWhenSwitchedOff() {
        settings = KernelLogSettings.of(KernelLogSettings.Source.NONE, null);
        try (KernelLogMonitor monitor = start()) {
            assertThat(monitor.status()).isInstanceOf(Reading.Absent.class);
            assertThat(KernelLogCheck.judge(monitor.status(), TestClock.START).code())
                    .isEqualTo("kernel-log-off");
        }
        assertThat(store.calls()).isZero();
    }

    @Test
    void idleReaderUsesNoCpu() throws IOException {
        try (KernelLogMonitor monitor = start()) {
            write(ClassifierFixture.XID79);
            until(() -> store.events().size() == 1);
            pause(200);
            var threads = (com.sun.management.ThreadMXBean) ManagementFactory.getThreadMXBean();
            long[] own = java.util.Arrays.stream(threads.getThreadInfo(threads.getAllThreadIds()))
                    .filter(info -> info != null && info.getThreadName().startsWith("gpuwarden-kernel"))
                    .mapToLong(info -> info.getThreadId())
                    .toArray();
            assertThat(own).hasSize(2);
            long[] before = threads.getThreadCpuTime(own);
            pause(1000);
            assertThat(threads.getThreadCpuTime(own)).isEqualTo(before);
            assertThat(status(monitor).records()).isEqualTo(2);
        }
    }

    @Test
    void closingEndsAllThreads() throws IOException {
        KernelLogMonitor monitor = start();
        write(ClassifierFixture.XID79);
        until(() -> store.events().size() == 1);
        monitor.close();
        assertThat(Thread.getAllStackTraces().keySet())
                .noneMatch(thread -> thread.getName().startsWith("gpuwarden-kernel"));
    }
}
