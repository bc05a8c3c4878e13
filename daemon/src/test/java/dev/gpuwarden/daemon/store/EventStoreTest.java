package dev.gpuwarden.daemon.store;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.HealthEvent.EventLimits;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.StoredEvent;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class EventStoreTest extends StoreFixture {

    @Test
    void anEventSurvivesWithEverythingInIt() {
        HealthEvent event = HealthEvent.of("agent'); DROP TABLE events; --", "NIC", "check \"quoted\"")
                .id("given")
                .version(7)
                .fatal(true)
                .message("line 1\nline 2 \u0000 \u001b[31m \u00e9 \ud83d\ude00")
                .action(RecommendedAction.CUSTOM)
                .customAction("replace-cable")
                .errorCodes(List.of("a\"b", "c,d", ""))
                .entities(List.of(new Entity("NIC", "mlx5_0:1"), new Entity("", "")))
                .metadata(Map.of("key\u0000", "value\n", "", ""))
                .generated(Instant.parse("9999-12-31T23:59:59.999999999Z"))
                .nodeName("node-7")
                .quarantine(new Overrides(true, false))
                .drain(new Overrides(false, true))
                .strategy(ProcessingStrategy.STORE_AND_ANALYSE)
                .build();
        assertThat(store().accept(event)).isEqualTo(Receipt.STORED);
        StoredEvent stored = store().event("given").orElseThrow();
        assertThat(stored.event()).isEqualTo(event);
        assertThat(stored.received()).isEqualTo(clock.instant());
        assertThat(stored.occurrences()).isEqualTo(1);
        reopen();
        assertThat(store().event("given")).contains(stored);
        assertThat(store().faults()).extracting(Fault::cause).containsOnly(event);
    }

    @Test
    void anEventThatArrivesTwiceIsKeptOnce() {
        assertThat(store().accept(Events.xid("79", 1))).isEqualTo(Receipt.STORED);
        assertThat(store().accept(Events.xid("79", 1))).isEqualTo(Receipt.DUPLICATE);
        reopen();
        assertThat(store().accept(Events.xid("79", 1))).isEqualTo(Receipt.DUPLICATE);
        assertThat(all()).singleElement().extracting(StoredEvent::occurrences).isEqualTo(1L);
    }

    @Test
    void anEventThatWasCountedAndArrivesAgainIsNotCountedAgain() {
        store().accept(Events.xid("79", 1));
        assertThat(store().accept(Events.xid("79", 2))).isEqualTo(Receipt.COUNTED);
        reopen();
        assertThat(store().accept(Events.xid("79", 2))).isEqualTo(Receipt.DUPLICATE);
        assertThat(all()).singleElement().extracting(StoredEvent::occurrences).isEqualTo(2L);
    }

    @Test
    void anIdStandsForTheSendersClock() {
        HealthEvent first = Events.builder(1).id("a").errorCodes(List.of("79")).build();
        HealthEvent again = Events.builder(2).id("a").errorCodes(List.of("79")).build();
        assertThat(store().accept(first)).isEqualTo(Receipt.STORED);
        assertThat(store().accept(again)).isEqualTo(Receipt.DUPLICATE);
    }

    @Test
    void aFaultWithoutIdAndTimeThatComesBackIsNotTakenForOneThatArrivesTwice() {
        HealthEvent fault = HealthEvent.of("script", "GPU", "check").build();
        HealthEvent healthy =
                HealthEvent.of("script", "GPU", "check").healthy(true).build();
        assertThat(store().accept(fault)).isEqualTo(Receipt.STORED);
        assertThat(store().accept(fault)).isEqualTo(Receipt.COUNTED);
        assertThat(store().accept(healthy)).isEqualTo(Receipt.STORED);
        assertThat(store().accept(healthy)).isEqualTo(Receipt.COUNTED);
        assertThat(store().accept(fault)).isEqualTo(Receipt.STORED);
        assertThat(store().faults()).hasSize(1);
        assertThat(all())
                .extracting(e -> e.event().id())
                .doesNotHaveDuplicates()
                .hasSize(3);
    }

    @Test
    void aSenderWhoseCounterRestartsLosesNoEvent() {
        store().accept(Events.builder(1).id("1").errorCodes(List.of("79")).build());
        assertThat(store().accept(Events.builder(2)
                        .id("1")
                        .errorCodes(List.of("48"))
                        .build()))
                .isEqualTo(Receipt.STORED);
        assertThat(all()).hasSize(2).extracting(e -> e.event().id()).doesNotHaveDuplicates();
        assertThat(store().faults()).hasSize(4);
    }

    @Test
    void idsOfTheStoreAreUniqueAndSortByTime() {
        for (int i = 0; i < 20; i++) {
            store().accept(Events.xid("code" + i, i));
            clock.advance(Duration.ofMillis(1));
        }
        List<String> ids = all().stream().map(e -> e.event().id()).toList();
        assertThat(ids).isSorted().doesNotHaveDuplicates();
        assertThat(ids).allSatisfy(id -> {
            assertThat(UUID.fromString(id).version()).isEqualTo(7);
            assertThat(UUID.fromString(id).variant()).isEqualTo(2);
        });
    }

    @Test
    void theSameFaultByTwoSendersCountsOnce() {
        store().accept(Events.xid("79", 1));
        clock.advance(Duration.ofSeconds(1));
        HealthEvent other = Events.builder(2)
                .fatal(true)
                .errorCodes(List.of("79"))
                .entities(List.of(Events.UUID, Events.PCI))
                .message("GPU has fallen off the bus, says somebody else")
                .action(RecommendedAction.COMPONENT_RESET)
                .build();
        assertThat(store().accept(other)).isEqualTo(Receipt.COUNTED);
        assertThat(all()).singleElement().satisfies(stored -> {
            assertThat(stored.occurrences()).isEqualTo(2);
            assertThat(stored.lastSeen()).isEqualTo(clock.instant());
            assertThat(stored.received()).isEqualTo(clock.instant().minusSeconds(1));
        });
        assertThat(store().faults())
                .allSatisfy(fault -> assertThat(fault.occurrences()).isEqualTo(2));
    }

    @Test
    void occurrencesInMetadataCount() {
        store().accept(Events.builder(1)
                .errorCodes(List.of("95"))
                .metadata(Map.of(StoredEvent.OCCURRENCES, "100"))
                .build());
        store().accept(Events.builder(2)
                .errorCodes(List.of("95"))
                .metadata(Map.of(StoredEvent.OCCURRENCES, "50"))
                .build());
        assertThat(all()).singleElement().extracting(StoredEvent::occurrences).isEqualTo(150L);
        assertThat(store().faults())
                .allSatisfy(fault -> assertThat(fault.occurrences()).isEqualTo(150));
    }

    @Test
    void aFaultThatComesBackAfterTheWindowIsAnotherEventAndCountsFromThere() {
        store().accept(Events.xid("79", 1));
        clock.advance(Duration.ofHours(1));
        assertThat(store().accept(Events.xid("79", 2))).isEqualTo(Receipt.STORED);
        clock.advance(Duration.ofMinutes(59));
        assertThat(store().accept(Events.xid("79", 3))).isEqualTo(Receipt.COUNTED);
        reopen();
        clock.advance(Duration.ofMinutes(59));
        assertThat(store().accept(Events.xid("79", 4))).isEqualTo(Receipt.COUNTED);
        assertThat(all()).extracting(StoredEvent::occurrences).containsExactly(1L, 3L);
        assertThat(store().faults()).allSatisfy(fault -> {
            assertThat(fault.sequence()).isEqualTo(all().get(0).sequence());
            assertThat(fault.occurrences()).isEqualTo(4);
        });
    }

    @Test
    void anEscalationIsStored() {
        store().accept(Events.builder(1).errorCodes(List.of("79")).build());
        assertThat(store().accept(Events.xid("79", 2))).isEqualTo(Receipt.STORED);
        assertThat(store().accept(Events.xid("79", 3))).isEqualTo(Receipt.COUNTED);
        assertThat(all()).extracting(StoredEvent::occurrences).containsExactly(1L, 2L);
    }

    @Test
    void healthIsStoredOnceAndThenCounted() {
        assertThat(store().accept(Events.healthy(1))).isEqualTo(Receipt.STORED);
        for (int i = 2; i < 50; i++) {
            clock.advance(Duration.ofSeconds(10));
            assertThat(store().accept(Events.healthy(i))).isEqualTo(Receipt.COUNTED);
        }
        assertThat(store().accept(Events.xid("79", 60))).isEqualTo(Receipt.STORED);
        assertThat(store().accept(Events.healthy(61))).isEqualTo(Receipt.STORED);
        assertThat(store().accept(Events.healthy(62))).isEqualTo(Receipt.COUNTED);
        HealthEvent other =
                Events.builder(63).healthy(true).entities(List.of(Events.PCI)).build();
        assertThat(store().accept(other)).isEqualTo(Receipt.STORED);
        assertThat(all()).extracting(StoredEvent::occurrences).containsExactly(49L, 1L, 2L, 1L);
        assertThat(store().faults()).isEmpty();
    }

    @Test
    void currentFaultsAndPositionsSurvive() {
        Position position = new Position("kmsg", "boot-1", "4711");
        store().accept(List.of(Events.xid("79", 1), Events.xid("48", 2)), Optional.of(position));
        store().accept(
                        List.of(Events.builder(3)
                                .healthy(true)
                                .errorCodes(List.of("48"))
                                .build()),
                        Optional.empty());
        List<Fault> before = store().faults();
        assertThat(before).hasSize(2);
        reopen();
        assertThat(store().faults()).containsExactlyInAnyOrderElementsOf(before);
        assertThat(store().position("kmsg")).contains(position);
        assertThat(store().position("file:/var/log/kern.log")).isEmpty();
        store().accept(List.of(), Optional.of(new Position("kmsg", "boot-2", "1")));
        reopen();
        assertThat(store().position("kmsg").orElseThrow().bootId()).isEqualTo("boot-2");
    }

    @Test
    void eventsThatAreTooBigAreRefusedAndNothingIsKept() {
        HealthEvent big =
                Events.builder(1).message("m".repeat(EventLimits.CHARACTERS)).build();
        assertThatThrownBy(() -> store().accept(List.of(Events.xid("79", 1), big), Optional.empty()))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("characters");
        assertThat(all()).isEmpty();
    }

    @Test
    void faultsThatFindNoRoomAreInTheHistoryAndCounted() {
        List<String> codes = IntStream.range(0, 128).mapToObj(i -> "code" + i).toList();
        for (int i = 0; i < 9; i++) {
            store().accept(Events.builder(i)
                    .fatal(true)
                    .entities(List.of(Events.PCI, Entity.gpu("g" + i)))
                    .errorCodes(codes)
                    .build());
        }
        // They are counted after their senders got receipts. One agent may take half of the table.
        int share = FaultTable.MOST_FAULTS / 2;
        until(() -> store().status().faultsLeftOut() == 128 + 9 * 128 - share);
        assertThat(store().faults()).hasSize(share);
        assertThat(all()).hasSize(9);
    }
}
