package dev.gpuwarden.daemon.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.daemon.store.WriteRequest.AppendRequest;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class PendingBufferTest {

    private static final Instant NOW = Instant.parse("2026-11-21T10:00:00Z");

    private final PendingBuffer holding = new PendingBuffer();

    private List<Receipt> add(HealthEvent... events) {
        return add(Optional.empty(), events);
    }

    private List<Receipt> add(Optional<Position> position, HealthEvent... events) {
        List<PreparedEvent> incoming = new ArrayList<>();
        for (HealthEvent event : events) {
            incoming.add(PreparedEvent.of(event, NOW));
        }
        return holding.add(new AppendRequest(incoming, position), List.of(), NOW);
    }

    private static Optional<Position> at(String source, int cursor) {
        return Optional.of(new Position(source, "boot", String.valueOf(cursor)));
    }

    @Test
    void aStormOfOneFaultTakesTheRoomOfOneEvent() {
        int storm = 2 * PendingBuffer.MOST_EVENTS;
        for (int i = 0; i < storm; i++) {
            assertThat(add(Events.xid("95", i))).containsExactly(Receipt.HELD);
        }
        assertThat(holding.events()).isEqualTo(1);
        assertThat(holding.first(1).get(0).events().get(0).times()).isEqualTo(storm);
        assertThat(holding.first(1).get(0).merged()).hasSizeLessThanOrEqualTo(PendingBuffer.MOST_EVENTS);
    }

    @Test
    void aFaultThatCameBackIsNoRepetition() {
        add(Events.xid("79", 1), Events.healthy(2), Events.xid("79", 3), Events.healthy(4), Events.healthy(5));
        assertThat(holding.events()).isEqualTo(4);
        assertThat(holding.faults()).isEmpty();
    }

    @Test
    void beyondItsBoundItRefusesAllOfAUnit() {
        for (int i = 0; i < PendingBuffer.MOST_EVENTS - 1; i++) {
            add(Events.builder(i).healthy(true).errorCodes(List.of("c" + i)).build());
        }
        assertThat(add(Events.xid("1", 1), Events.xid("2", 2))).containsOnly(Receipt.REFUSED);
        assertThat(add(Events.xid("1", 1))).containsOnly(Receipt.HELD);
        assertThat(add(Events.xid("1", 1))).containsOnly(Receipt.HELD);
        assertThat(add(Events.xid("2", 2))).containsOnly(Receipt.REFUSED);
        assertThat(add(Events.xid("1", 3))).containsOnly(Receipt.HELD);
        assertThat(holding.events()).isEqualTo(PendingBuffer.MOST_EVENTS);
    }

    @Test
    void itsMemoryIsBoundedToo() {
        int held = 0;
        while (add(Events.builder(held)
                        .errorCodes(List.of("c" + held))
                        .message("m".repeat(16_000))
                        .build())
                .contains(Receipt.HELD)) {
            held++;
        }
        assertThat(holding.bytes()).isBetween(PendingBuffer.MOST_BYTES - 60_000, PendingBuffer.MOST_BYTES);
        assertThat(held).isBetween(300, 1000);
    }

    @Test
    void aPositionNeverOvertakesItsEvents() {
        add(at("kmsg", 1), Events.xid("79", 1));
        add(at("kmsg", 2));
        assertThat(holding.first(9)).hasSize(1);
        add(at("file", 1), Events.xid("48", 2));
        // Repeats the first event, but what comes between it and this position is in the second unit.
        add(at("kmsg", 3), Events.xid("79", 3));
        add(at("kmsg", 4));
        assertThat(holding.first(9))
                .extracting(unit ->
                        unit.position().map(p -> p.source() + p.cursor()).orElse(""))
                .containsExactly("kmsg2", "file1", "kmsg4");
    }

    @Test
    void writtenRequestsGoAndTheOthersStay() {
        add(Events.xid("79", 1));
        add(Events.xid("79", 2));
        add(Events.xid("48", 3));
        holding.remove(holding.first(1));
        assertThat(holding.events()).isEqualTo(1);
        add(Events.xid("79", 4));
        assertThat(holding.events()).isEqualTo(2);
        holding.remove(holding.first(9));
        assertThat(holding.isEmpty()).isTrue();
        assertThat(holding.bytes()).isZero();
        assertThat(holding.events()).isZero();
    }
}
