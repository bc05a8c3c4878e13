package dev.gpuwarden.daemon.command;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.api.FaultCodec;
import dev.gpuwarden.api.v1.ListEventsRequest;
import dev.gpuwarden.api.v1.ListEventsResponse;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Instant;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Combines pages of a daemon whose pages are short. */
class EventsQueryTest {

    private static final Entity UUID = Entity.gpu("GPU-1");
    private static final Entity PCI = new Entity(Entity.PCI, "0000:3b:00");

    private static StoredEvent event(long sequence) {
        Instant at = Instant.ofEpochSecond(sequence);
        // Every third event has the GPU's UUID alone, every other third its address, the rest both.
        List<Entity> entities =
                List.of(List.of(UUID), List.of(PCI), List.of(UUID, PCI)).get((int) (sequence % 3));
        HealthEvent event = HealthEvent.of("a", "GPU", "Check")
                .id("id-" + sequence)
                .entities(entities)
                .build();
        return new StoredEvent(sequence, event, at, at, 1);
    }

    /** Answers as a daemon with ten events that returns at most three in a page. */
    private static ListEventsResponse answer(ListEventsRequest request) {
        assertThat(request.getNewestFirst()).isTrue();
        long before = request.getPageToken().isEmpty() ? 11 : Long.parseLong(request.getPageToken());
        List<StoredEvent> all = LongStream.range(1, before)
                .map(i -> before - i)
                .mapToObj(EventsQueryTest::event)
                .filter(event -> request.getEntityValue().isEmpty()
                        || event.event().entities().stream()
                                .anyMatch(entity -> entity.value().equals(request.getEntityValue())))
                .toList();
        int size = Math.min(all.size(), Math.min(3, request.getPageSize()));
        ListEventsResponse.Builder page = ListEventsResponse.newBuilder();
        all.subList(0, size).forEach(event -> page.addEvents(FaultCodec.toWire(event)));
        if (size < all.size()) {
            page.setNextPageToken(Long.toString(all.get(size - 1).sequence()));
        }
        return page.build();
    }

    private static List<Long> sequences(EventsCommand.Answer answer) {
        return answer.events().stream().map(StoredEvent::sequence).toList();
    }

    private static EventsCommand.Answer last(List<Entity> names, int limit) {
        return EventsCommand.last(EventsQueryTest::answer, ListEventsRequest.getDefaultInstance(), names, limit);
    }

    @Test
    void lastEventsComeOldestFirst() {
        assertThat(sequences(last(List.of(), 4))).containsExactly(7L, 8L, 9L, 10L);
        assertThat(last(List.of(), 4).more()).isTrue();
    }

    @Test
    void allEventsAreReturnedBelowTheLimit() {
        assertThat(sequences(last(List.of(), 10))).hasSize(10);
        assertThat(last(List.of(), 10).more()).isFalse();
        assertThat(last(List.of(), 9).more()).isTrue();
    }

    @Test
    void gpuIsMatchedByEachNameAndEventsAreReturnedOnce() {
        assertThat(sequences(last(List.of(UUID, PCI), 5))).containsExactly(6L, 7L, 8L, 9L, 10L);
        assertThat(sequences(last(List.of(UUID), 3))).containsExactly(6L, 8L, 9L);
        assertThat(last(List.of(UUID, PCI), 10).more()).isFalse();
    }
}
