package dev.gpuwarden.core.event;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.FaultTable.Effect;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A table that is full of what one agent reports, and the history of what found no room in it. */
class MissedFaultsTest {

    private static final int SHARE = FaultTable.MOST_FAULTS / 4;
    private static final Entity PCI = new Entity(Entity.PCI, "0000:3b:00");
    private static final Entity UUID = Entity.gpu("GPU-1");

    private final FaultTable table = new FaultTable();
    private final List<StoredEvent> history = new ArrayList<>();
    private long sequence;

    @Test
    void faultsWithoutRoomWaitAndFitWhenThereIsRoom() {
        fill();
        happens(event("late").build());
        assertThat(missed().waiting(table)).singleElement().satisfies(waiting -> {
            assertThat(waiting.keys()).hasSize(2);
            assertThat(waiting.fitting(table, Told.NOON)).isEmpty();
        });
        happens(event("code0").healthy(true).build());
        MissedFaults.Waiting waiting = missed().waiting(table).get(0);
        HealthEvent again = waiting.fitting(table, Told.NOON).get(0);
        assertThat(again.entities()).containsExactly(PCI, UUID);
        assertThat(again.id()).isNotEqualTo(waiting.cause().id());
        assertThat(again.metadata())
                .containsEntry(MissedFaults.RAISED_AGAIN, waiting.cause().id());
        assertThat(happens(again)).isEqualTo(Effect.RAISED);
        assertThat(missed().waiting(table)).isEmpty();
        assertThat(missed().unsettled(table)).isEmpty();
    }

    @Test
    void endedFaultsAreNotRaisedAgain() {
        fill();
        happens(event("late").build());
        happens(event("late").entities(List.of(UUID)).healthy(true).build());
        assertThat(missed().waiting(table)).isEmpty();
    }

    @Test
    void theNewestEventDecides() {
        fill();
        happens(event("late").build());
        happens(event("late").healthy(true).build());
        happens(event("late").action(RecommendedAction.RESTART_VM).build());
        assertThat(missed().waiting(table))
                .singleElement()
                .satisfies(waiting -> assertThat(waiting.cause().action()).isEqualTo(RecommendedAction.RESTART_VM));
    }

    @Test
    void onlyPairsThatAreNotOverAreRaisedAgain() {
        fill();
        happens(event("a").errorCodes(List.of("a", "b")).build());
        happens(event("a").healthy(true).build());
        happens(event("code0").healthy(true).build());
        assertThat(missed().waiting(table).get(0).fitting(table, Told.NOON))
                .singleElement()
                .satisfies(again -> {
                    assertThat(again.errorCodes()).containsExactly("b");
                    assertThat(again.entities()).containsExactly(PCI, UUID);
                });
    }

    @Test
    void fatalOnesComeFirst() {
        fill();
        happens(event("late").build());
        for (int i = 0; i < FaultTable.MOST_FAULTS; i++) {
            happens(event("fatal" + i).fatal(true).build());
        }
        assertThat(missed().waiting(table).get(0).cause().fatal()).isTrue();
    }

    @Test
    void eventsBeyondTheBoundsOfOneScanAreNotSettled() {
        fill();
        for (int i = 0; i < SHARE + 7; i++) {
            happens(event("late" + i).entities(List.of()).build());
        }
        assertThat(missed().waiting(table)).hasSize(SHARE);
        assertThat(missed().unsettled(table)).hasSize(SHARE + 7);
    }

    /** Reads all of the history that matters, like the store. */
    private MissedFaults missed() {
        MissedFaults missed = new MissedFaults();
        history.forEach(missed::next);
        return missed;
    }

    private void fill() {
        for (int i = 0; i < SHARE / 2; i++) {
            happens(event("code" + i).build());
        }
        assertThat(table.size()).isEqualTo(SHARE);
    }

    private Effect happens(HealthEvent event) {
        sequence++;
        FaultTable.Change change = table.apply(event, sequence, Told.NOON);
        if (event.healthy() || change.keys().size() < event.keys().size()) {
            history.add(Told.stored(sequence, event));
        }
        return change.effect();
    }

    private HealthEvent.Builder event(String code) {
        return HealthEvent.of("noisy", "GPU", "check")
                .id("event-" + sequence)
                .nodeName("node1")
                .errorCodes(List.of(code))
                .entities(List.of(PCI, UUID));
    }
}
