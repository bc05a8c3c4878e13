package dev.gpuwarden.checks;

import static dev.gpuwarden.checks.ScriptedCheck.BAD;
import static dev.gpuwarden.checks.ScriptedCheck.GOOD;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.check.CheckInfo;
import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.health.Finding;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class CheckEventEmitterTest {

    private final InMemoryEvents book = new InMemoryEvents();
    private final CheckPlan plan = CheckPlan.of(List.of(ScriptedCheck.of("port", context -> List.of())));
    private final CheckInfo port = plan.planned().get(0).info();
    private CheckEventEmitter emitter = started(plan);
    private Instant now = Instant.parse("2026-01-01T00:00:00Z");

    private CheckEventEmitter started(CheckPlan with) {
        CheckEventEmitter started = new CheckEventEmitter(with, book, book, "node-7");
        started.begin(Clock.systemUTC());
        return started;
    }

    private void run(Finding... findings) {
        emitter.accept(List.of(CheckResult.of(port, now, Duration.ZERO, List.of(findings))));
        now = now.plus(port.every());
    }

    @Test
    void faultIsRaisedOnceAndClearedOnce() {
        run(BAD);
        run(BAD);
        run(BAD);
        assertThat(book.faults()).hasSize(1);
        run(GOOD);
        run(GOOD);
        run(GOOD);
        assertThat(book.faults()).isEmpty();
        assertThat(book.taken()).extracting(HealthEvent::healthy).containsExactly(false, true);
    }

    @Test
    void restartNeitherRepeatsNorClearsFaults() {
        run(BAD);
        emitter = started(plan);
        run(BAD);
        run(GOOD);
        assertThat(book.taken()).hasSize(1);
        run(GOOD);
        assertThat(book.faults()).isEmpty();
        assertThat(book.taken()).hasSize(2);
    }

    @Test
    void flappingFaultIsMarkedWhileItsCheckPassesAlsoAfterARestart() {
        for (int flap = 0; flap < 2; flap++) {
            run(BAD);
            assertThat(book.faults()).noneMatch(fault -> fault.cause().isHeld());
            run(GOOD);
            run(GOOD);
        }
        assertThat(book.faults()).singleElement().matches(fault -> fault.cause().isHeld());
        int events = book.taken().size();
        emitter = started(plan);
        run(GOOD);
        run(GOOD);
        assertThat(book.taken()).hasSize(events);
        run(BAD);
        assertThat(book.faults())
                .singleElement()
                .matches(fault -> !fault.cause().isHeld());
        run(GOOD);
        run(GOOD);
        assertThat(book.faults()).singleElement().matches(fault -> fault.cause().isHeld());
    }

    @Test
    void faultSetHealthyIsRaisedAgainIfItPersists() {
        run(BAD);
        HealthEvent mended = HealthEvent.of("gpuwarden", "NIC", "Port")
                .healthy(true)
                .nodeName("node-7")
                .build();
        book.accept(List.of(mended), Optional.empty());
        assertThat(book.faults()).isEmpty();
        run(BAD);
        assertThat(book.faults()).hasSize(1);
    }

    @Test
    void refusedFaultIsSentAgainWhenThereIsRoom() {
        book.full = true;
        run(BAD);
        run(BAD);
        book.full = false;
        run(BAD);
        assertThat(book.faults()).hasSize(1);
        book.full = true;
        run(GOOD);
        run(GOOD);
        run(GOOD);
        book.full = false;
        assertThat(book.faults()).hasSize(1);
        run(GOOD);
        run(GOOD);
        assertThat(book.faults()).isEmpty();
    }

    @Test
    void switchingACheckOffClearsOnlyItsFaults() {
        run(BAD);
        HealthEvent others = HealthEvent.of("somebody", "NIC", "Port")
                .errorCodes(List.of("x"))
                .nodeName("node-7")
                .build();
        book.accept(others);
        started(plan.only(id -> false));
        assertThat(book.faults()).extracting(fault -> fault.key().agent()).containsExactly("somebody");
        started(plan.only(id -> false));
        assertThat(book.taken()).hasSize(3);
    }

    @Test
    void faultsOfOtherNodesAndAgentsAreIgnored() {
        HealthEvent forged = HealthEvent.of("gpuwarden", "NIC", "Port")
                .errorCodes(List.of("port-down"))
                .entities(ScriptedCheck.PORT.entities())
                .nodeName("node-8")
                .build();
        book.accept(forged);
        run(GOOD);
        run(GOOD);
        run(GOOD);
        assertThat(book.faults()).hasSize(1);
    }
}
