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

class TalliesTest {

    private final Told told = new Told();

    @Test
    void theFirstGoesAtOnceAndTheRestAtTheWindowsEnd() {
        told.kernel(Told.XID79);
        assertThat(told.tell()).hasSize(1);
        told.kernel(Told.XID79).after(Duration.ofSeconds(4)).kernel(Told.XID79);
        assertThat(told.tell()).isEmpty();
        told.after(Duration.ofMillis(5999));
        assertThat(told.tell()).isEmpty();
        told.after(Duration.ofMillis(1));
        assertThat(told.tell()).extracting(StoredEvent::occurrencesOf).containsExactly(2L);
        // A storm that goes on is told once in each window.
        told.kernel(Told.XID79);
        assertThat(told.tell()).isEmpty();
        told.after(Duration.ofSeconds(10));
        assertThat(told.tell()).hasSize(1);
        told.after(Duration.ofSeconds(11)).kernel(Told.XID79);
        assertThat(told.tell()).as("the storm is over, this is a first one").hasSize(1);
    }

    @Test
    void whatWaitsGoesWithWhateverGoes() {
        told.kernel(Told.XID79).tell();
        told.kernel(Told.XID79).kernel(Told.XID79).kernel(Told.XID13);
        List<HealthEvent> events = told.tell();
        assertThat(events).extracting(event -> event.errorCodes().get(0)).containsExactly("79", "13");
        assertThat(StoredEvent.occurrencesOf(events.get(0))).isEqualTo(2);
        assertThat(told.tallies.isEmpty()).isTrue();
    }

    @Test
    void differentGpusAndCodesAreDifferentFaults() {
        told.kernel(Told.XID79).kernel(Told.XID79.replace("3b", "3c")).kernel(Told.XID13);
        assertThat(told.tell()).hasSize(3);
    }

    /** NVIDIA/NVSentinel issue 1120: 800,000 lines, of which 29 were distinct. */
    @Test
    void aStormBecomesFewEventsAndNothingIsLost() {
        int lines = 800_000;
        Random random = new Random(1120);
        Map<String, Long> sums = new TreeMap<>();
        for (int i = 0; i < lines; i++) {
            // Ever new faults appear in the course of the storm.
            int fault = random.nextInt(Math.min(29, 1 + i / 20_000));
            String pci = "0000:" + (10 + fault % 8) + ":00";
            String code = List.of("95", "94", "31", "13").get(fault / 8);
            told.kernel(
                    "NVRM: Xid (PCI:" + pci + "): " + code + ", pid=" + i + ", name=python3, Uncontained: SM (0x1)");
            sums.merge(code + " " + pci, 1L, Long::sum);
            if (i % 100 == 0) {
                // 10,000 lines a second, and who stores is asked 100 times a second.
                told.after(Duration.ofMillis(10));
                told.tell();
            }
        }
        told.flush();
        assertThat(told.store.occurrences()).isEqualTo(sums).hasSize(29);
        assertThat(told.counts.records()).isEqualTo(lines);
        // Nine windows of 10 s with 29 faults each, and each of the 29 when it first appears, with what waited then.
        assertThat(told.store.events()).hasSizeLessThan(9 * 29 + 29 * 29);
        assertThat(told.tallies.collapsed() + told.store.events().size()).isEqualTo(lines);
    }

    @Test
    void faultsWithoutEndTakeBoundedMemoryAndAreAllTold() {
        for (int i = 0; i < 20_000; i++) {
            told.kernel("NVRM: Xid (PCI:0000:3b:00): " + (10_000 + i) + ", pid=1, name=a, what");
            if (told.tallies.many()) {
                // Who reads waits here.
                told.flush();
            }
            assertThat(told.tallies.many()).isFalse();
        }
        told.flush();
        assertThat(told.store.occurrences()).hasSize(20_000);
    }

    @Test
    void theSameLineWithinOneTickOfTheClockIsTwoOccurrences() {
        told.record(Writer.UNTOLD, TestClock.START, Told.XID79).flush();
        told.record(Writer.UNTOLD, TestClock.START, Told.XID79).flush();
        told.record(Writer.UNTOLD, TestClock.START, Told.XID79).flush();
        assertThat(told.store.occurrences()).containsEntry("79 0000:3b:00", 3L);
    }
}
