package dev.gpuwarden.daemon.kernlog;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.core.kernel.RecordRules;
import dev.gpuwarden.daemon.kernlog.Occurrence.Checks;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Events of additional record rules. */
class RecordRulesTest {

    private final ClassifierFixture log = new ClassifierFixture();

    @BeforeEach
    void rules() {
        log.classifier.alsoMatch(new RecordRules() {
            @Override
            public List<Found> match(KernelRecord record) {
                String text = record.text();
                return text.contains("stuck")
                        ? List.of(new Found("DiskStuck", "DiskIsStuck", text, true, "lab.json, DiskIsStuck"))
                        : text.contains("fan") || text.contains("Xid")
                                ? List.of(new Found("lab-monitor", "Odd", text, false, "lab.json, Odd"))
                                : List.of();
            }

            @Override
            public Set<String> checks() {
                return Set.of("DiskStuck", "lab-monitor");
            }
        });
    }

    private List<String> faults() {
        return log.store.faults().stream().map(fault -> fault.key().checkName()).toList();
    }

    @Test
    void lastingMatchIsFatalAndStays() {
        HealthEvent event = log.kernel("ata1: disk sda is stuck").flushIfDue().get(0);
        assertThat(event.checkName()).isEqualTo("DiskStuck");
        assertThat(event.componentClass()).isEqualTo("NODE");
        assertThat(event.errorCodes()).containsExactly("DiskIsStuck");
        assertThat(event.entities()).isEmpty();
        assertThat(event.fatal()).isTrue();
        assertThat(event.action()).isEqualTo(RecommendedAction.CONTACT_SUPPORT);
        assertThat(event.metadata()).containsEntry("why", "lab.json, DiskIsStuck");
        log.after(Duration.ofDays(1)).clearQuiet();
        assertThat(faults()).containsExactly("DiskStuck");
    }

    @Test
    void passingMatchIsClearedWhenQuiet() {
        HealthEvent event = log.kernel("fan 3 stopped").flushIfDue().get(0);
        assertThat(event.fatal()).isFalse();
        assertThat(event.action()).isEqualTo(RecommendedAction.NONE);
        assertThat(faults()).containsExactly("lab-monitor");
        log.after(Duration.ofMinutes(11)).clearQuiet();
        assertThat(faults()).isEmpty();
    }

    @Test
    void stormOfMatchesIsCounted() {
        for (int i = 0; i < 1000; i++) {
            log.kernel("fan 3 stopped");
        }
        log.after(Duration.ofMinutes(1)).flushIfDue();
        assertThat(log.store.faults())
                .singleElement()
                .extracting(Fault::occurrences)
                .isEqualTo(1000L);
    }

    @Test
    void knownMessagesAreMatchedToo() {
        log.kernel(ClassifierFixture.XID79).flushIfDue();
        assertThat(faults()).contains("lab-monitor", Checks.XID);
    }

    @Test
    void recordsOfUserSpaceAreNotMatched() {
        log.record(Writer.USER, log.time.instant(), "disk sda is stuck");
        assertThat(log.flush()).isEmpty();
    }

    @Test
    void rebootClearsAllMatches() {
        log.kernel("ata1: disk sda is stuck").flushIfDue();
        log.reboot();
        log.flush();
        assertThat(faults()).isEmpty();
    }
}
