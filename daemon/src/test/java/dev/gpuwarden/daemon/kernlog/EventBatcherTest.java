package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.testkit.TestClock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class EventBatcherTest {

    private final ClassifierFixture log = new ClassifierFixture();

    @Test
    void firstEventIsDueImmediatelyAndRepetitionsAtTheWindowsEnd() {
        log.kernel(ClassifierFixture.XID79);
        assertThat(log.flushIfDue()).hasSize(1);
        log.kernel(ClassifierFixture.XID79).after(Duration.ofSeconds(4)).kernel(ClassifierFixture.XID79);
        assertThat(log.flushIfDue()).isEmpty();
        log.after(Duration.ofMillis(5999));
        assertThat(log.flushIfDue()).isEmpty();
        log.after(Duration.ofMillis(1));
        assertThat(log.flushIfDue()).extracting(StoredEvent::occurrencesOf).containsExactly(2L);
        // A continuing storm yields one event in each window.
        log.kernel(ClassifierFixture.XID79);
        assertThat(log.flushIfDue()).isEmpty();
        log.after(Duration.ofSeconds(10));
        assertThat(log.flushIfDue()).hasSize(1);
        log.after(Duration.ofSeconds(11)).kernel(ClassifierFixture.XID79);
        assertThat(log.flushIfDue())
                .as("the storm is over, this is a first one")
                .hasSize(1);
    }

    @Test
    void waitingEventsLeaveWithAnyDueEvent() {
        log.kernel(ClassifierFixture.XID79).flushIfDue();
        log.kernel(ClassifierFixture.XID79).kernel(ClassifierFixture.XID79).kernel(ClassifierFixture.XID13);
        List<HealthEvent> events = log.flushIfDue();
        assertThat(events).extracting(event -> event.errorCodes().get(0)).containsExactly("79", "13");
        assertThat(StoredEvent.occurrencesOf(events.get(0))).isEqualTo(2);
        assertThat(log.batcher.isEmpty()).isTrue();
    }

    @Test
    void gpusAndCodesAreCountedSeparately() {
        log.kernel(ClassifierFixture.XID79)
                .kernel(ClassifierFixture.XID79.replace("3b", "3c"))
                .kernel(ClassifierFixture.XID13);
        assertThat(log.flushIfDue()).hasSize(3);
    }

    /** NVIDIA/NVSentinel issue 1120: 800,000 lines, of which 29 were distinct. */
    @Test
    void stormBecomesFewEventsAndLosesNoOccurrence() {
        int lines = 800_000;
        Random random = new Random(1120);
        Map<String, Long> sums = new TreeMap<>();
        for (int i = 0; i < lines; i++) {
            // Ever new faults appear in the course of the storm.
            int fault = random.nextInt(Math.min(29, 1 + i / 20_000));
            String pci = "0000:" + (10 + fault % 8) + ":00";
            String code = List.of("95", "94", "31", "13").get(fault / 8);
            log.kernel("NVRM: Xid (PCI:" + pci + "): " + code + ", pid=" + i + ", name=python3, Uncontained: SM (0x1)");
            sums.merge(code + " " + pci, 1L, Long::sum);
            if (i % 100 == 0) {
                // 10,000 lines a second, and the writer checks 100 times a second.
                log.after(Duration.ofMillis(10));
                log.flushIfDue();
            }
        }
        log.flush();
        assertThat(log.store.occurrences()).isEqualTo(sums).hasSize(29);
        assertThat(log.status().records()).isEqualTo(lines);
        // Nine windows of 10 s with 29 faults each, and each of the 29 when it first appears, with what waited then.
        assertThat(log.store.events()).hasSizeLessThan(9 * 29 + 29 * 29);
        assertThat(log.batcher.collapsed() + log.store.events().size()).isEqualTo(lines);
    }

    @Test
    void endlessFaultsTakeBoundedMemoryAndAreAllStored() {
        for (int i = 0; i < 20_000; i++) {
            log.kernel("NVRM: Xid (PCI:0000:3b:00): " + (10_000 + i) + ", pid=1, name=a, what");
            if (log.batcher.isFull()) {
                // The reader waits here.
                log.flush();
            }
            assertThat(log.batcher.isFull()).isFalse();
        }
        log.flush();
        assertThat(log.store.occurrences()).hasSize(20_000);
    }

    @Test
    void equalLinesOfOneTickAreSeparateOccurrences() {
        log.record(Writer.UNTOLD, TestClock.START, ClassifierFixture.XID79).flush();
        log.record(Writer.UNTOLD, TestClock.START, ClassifierFixture.XID79).flush();
        log.record(Writer.UNTOLD, TestClock.START, ClassifierFixture.XID79).flush();
        assertThat(log.store.occurrences()).containsEntry("79 0000:3b:00", 3L);
    }
}
