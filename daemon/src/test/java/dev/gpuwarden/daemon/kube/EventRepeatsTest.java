package dev.gpuwarden.daemon.kube;

import static dev.gpuwarden.core.event.Told.NOON;
import static dev.gpuwarden.core.event.Told.stored;
import static dev.gpuwarden.core.event.Told.xid79;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.kube.EventObject;
import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.FaultTable.Change;
import dev.gpuwarden.core.event.FaultTable.Effect;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.event.Told;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class EventRepeatsTest {

    private final EventRepeats news = new EventRepeats();

    private void hear(StoredEvent stored, Effect effect) {
        news.add(new EventChange(stored, new Change(effect, Set.of())));
    }

    private static StoredEvent again(long sequence, long times) {
        return new StoredEvent(sequence, xid79("0000:3b:00").build(), NOON, NOON, times);
    }

    @Test
    void healthThatEndedNothingIsNoNews() {
        StoredEvent idle = stored(1, xid79("x").healthy(true).build());
        StoredEvent ends = stored(2, xid79("x").healthy(true).build());
        StoredEvent quiet =
                stored(3, xid79("x").strategy(ProcessingStrategy.STORE_ONLY).build());
        hear(idle, Effect.REPEATED);
        hear(ends, Effect.CLEARED);
        assertThat(news.published(List.of(idle, ends, quiet))).containsExactly(ends);
    }

    @Test
    void repetitionsAreReportedOnceWithTheLastCount() {
        hear(again(5, 1), Effect.RAISED);
        assertThat(news.anyRepeated()).isFalse();
        hear(again(5, 2), Effect.REPEATED);
        hear(again(6, 2), Effect.REPEATED);
        hear(again(5, 3), Effect.REPEATED);
        assertThat(news.repeated())
                .extracting(StoredEvent::sequence, StoredEvent::occurrences)
                .containsExactly(
                        org.assertj.core.groups.Tuple.tuple(6L, 2L), org.assertj.core.groups.Tuple.tuple(5L, 3L));
        assertThat(news.repeated()).isEmpty();
    }

    @Test
    void anEventThatStandsForSeveralIsNotCountedAsOne() {
        List<EventObject> sent = EventObject.of(
                List.of(
                        stored(1, xid79("x").build()),
                        stored(2, xid79("x").build()),
                        stored(3, xid79("y").build())),
                Told.NODE);
        assertThat(sent).as("not sent yet").noneMatch(news::countsOne);
        sent.forEach(news::sent);
        assertThat(sent).extracting(news::countsOne).containsExactly(false, true);
    }

    @Test
    void isBounded() {
        for (int i = 0; i < 10_000; i++) {
            hear(again(i, 2), Effect.REPEATED);
            hear(stored(i, xid79("x").healthy(true).build()), Effect.REPEATED);
        }
        assertThat(news.repeated()).hasSizeLessThan(100);
        List<StoredEvent> early = List.of(stored(1, xid79("x").healthy(true).build()));
        assertThat(news.published(early)).as("forgotten, and so told").isEqualTo(early);
    }
}
