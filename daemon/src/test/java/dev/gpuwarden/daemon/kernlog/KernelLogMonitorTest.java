package dev.gpuwarden.daemon.kernlog;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.kernel.KernelLogStatus;
import dev.gpuwarden.core.model.Reading;
import dev.gpuwarden.testkit.TestClock;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class KernelLogMonitorTest extends MonitoredKernelLog {

    private static void pause(long millis) {
        try {
            assertThat(new CountDownLatch(1).await(millis, TimeUnit.MILLISECONDS))
                    .isFalse();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
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
        settings = MonitoredKernelLog.settings(KernelLogSettings.Source.NONE, null);
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
