package dev.gpuwarden.core.check;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.FaultChange.Kind;
import dev.gpuwarden.core.check.FaultChange.Meaning;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.HealthEvent.EventLimits;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Subject;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class FindingEventsTest {

    private static final Instant AT = Instant.parse("2026-01-01T00:00:00Z");
    private static final CheckInfo CHECK = CheckInfo.of("gpu-remapped-rows", "GPU", "Rows.");
    private static final Subject GPU =
            new Subject("GPU-a", List.of(new Entity(Entity.PCI, "0000:10:00"), Entity.gpu("GPU-a")));

    private static HealthEvent event(Kind kind, Finding finding, int flaps) {
        Meaning meaning = kind == Kind.LIFTED
                ? new Meaning("remap-failed", true, RecommendedAction.RUN_FIELDDIAG)
                : Meaning.of(finding);
        return FindingEvents.of(new FaultChange(kind, CHECK, GPU, meaning, finding, flaps, AT), "node-7");
    }

    private static final Finding FAILED = Finding.fail(
                    "remap-failed",
                    GPU,
                    "GPU-a: a row could not be remapped",
                    "replace it",
                    RecommendedAction.RUN_FIELDDIAG)
            .with(new Measurement("remap_failures", 1, "0 (nvml.h)"), new Measurement("spare_ratio", 0.25, ""));

    @Test
    void eventHasEveryFieldOfTheFinding() {
        HealthEvent event = event(Kind.RAISED, FAILED, 0);
        assertThat(event.agent()).isEqualTo("gpuwarden");
        assertThat(event.componentClass()).isEqualTo("GPU");
        assertThat(event.checkName()).isEqualTo("GpuRemappedRows");
        assertThat(event.fatal()).isTrue();
        assertThat(event.healthy()).isFalse();
        assertThat(event.action()).isEqualTo(RecommendedAction.RUN_FIELDDIAG);
        assertThat(event.errorCodes()).containsExactly("remap-failed");
        assertThat(event.entities()).isEqualTo(GPU.entities());
        assertThat(event.message()).isEqualTo("GPU-a: a row could not be remapped; replace it");
        assertThat(event.nodeName()).isEqualTo("node-7");
        assertThat(event.generated()).isEqualTo(AT);
        assertThat(event.metadata())
                .containsEntry("remap_failures", "1, expected 0 (nvml.h)")
                .containsEntry("spare_ratio", "0.25")
                .containsEntry(FindingEvents.OUTCOME, "fail")
                .containsEntry(FindingEvents.CHECK, "gpu-remapped-rows");
    }

    @Test
    void aWarningIsNotFatal() {
        assertThat(event(Kind.RAISED, Finding.warn("few-spares", GPU, "few", ""), 0)
                        .fatal())
                .isFalse();
        assertThat(event(Kind.RAISED, Finding.fail("odd", GPU, "odd", "", RecommendedAction.NONE), 0)
                        .fatal())
                .isFalse();
    }

    @Test
    void clearEventMatchesTheRaisedFaultOnly() {
        FaultTable table = new FaultTable();
        table.apply(event(Kind.RAISED, FAILED, 0), 1, AT);
        table.apply(
                FindingEvents.of(
                        new FaultChange(
                                Kind.RAISED,
                                CHECK,
                                Subject.of(new Entity(Entity.PCI, "0000:20:00")),
                                Meaning.of(FAILED),
                                FAILED,
                                0,
                                AT),
                        "node-7"),
                2,
                AT);
        assertThat(table.faults()).hasSize(3);
        HealthEvent lifted = event(Kind.LIFTED, Finding.pass("fine", GPU, "GPU-a: all rows are in order"), 0);
        assertThat(lifted.fatal()).isFalse();
        assertThat(lifted.message()).isEqualTo("remap-failed is over: GPU-a: all rows are in order");
        table.apply(lifted, 3, AT);
        assertThat(table.faults())
                .extracting(fault -> fault.key().entity().value())
                .containsExactly("0000:20:00");
    }

    @Test
    void flappingEventHasTheCount() {
        assertThat(event(Kind.RAISED, FAILED, 5).message())
                .endsWith("flapping: it came and went 5 times within 10 min");
        assertThat(event(Kind.HELD, FAILED, 4).message()).contains("flapping: it came and went 4 times");
        assertThat(event(Kind.HELD, FAILED, 4).healthy()).isFalse();
    }

    @Test
    void eventStaysWithinItsLimitsForAnyFinding() {
        String endless = "\ud83d\ude00\u001b\n".repeat(5_000);
        Measurement[] many = new Measurement[200];
        Entity[] names = new Entity[200];
        for (int i = 0; i < many.length; i++) {
            many[i] = new Measurement(i + endless, Double.NEGATIVE_INFINITY, endless);
            names[i] = new Entity(i + endless, i + endless);
        }
        Subject subject = new Subject(endless, List.of(names));
        Finding finding = Finding.fail(endless, subject, endless, endless, RecommendedAction.NONE)
                .with(many);
        for (Kind kind : Kind.values()) {
            FaultChange change = new FaultChange(kind, CHECK, subject, Meaning.of(finding), finding, 3, AT);
            HealthEvent event = FindingEvents.of(change, "node-7");
            assertThat(EventLimits.violation(event)).isEmpty();
            assertThat(event.entities()).isNotEmpty();
        }
    }
}
