package dev.gpuwarden.daemon.store;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.Entity;
import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventLimits;
import dev.gpuwarden.core.event.EventReader.Subscription;
import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.FaultTable.Effect;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.Overrides;
import dev.gpuwarden.core.event.ProcessingStrategy;
import dev.gpuwarden.core.event.RecommendedAction;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.KnownGpus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
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
    void listenersReceiveEveryChangeInOrderAfterItsCommit() {
        List<EventChange> told = Collections.synchronizedList(new ArrayList<>());
        List<Boolean> readable = Collections.synchronizedList(new ArrayList<>());
        Subscription subscription = store().listen(one -> {
            told.add(one);
            readable.add(store().event(one.stored().event().id()).isPresent());
            if (told.size() == 1) {
                throw new IllegalStateException("for this test");
            }
        });
        store().accept(Events.xid("79", 1));
        store().accept(Events.xid("79", 1));
        store().accept(Events.xid("79", 2));
        store().accept(Events.healthy(3));
        store().accept(List.of(), Optional.empty());
        subscription.close();
        store().accept(Events.xid("79", 4));
        assertThat(told)
                .extracting(one -> one.change().effect())
                .containsExactly(Effect.RAISED, Effect.REPEATED, Effect.CLEARED);
        assertThat(told).extracting(one -> one.stored().occurrences()).containsExactly(1L, 2L, 1L);
        assertThat(told).extracting(one -> one.stored().sequence()).isSorted();
        assertThat(readable).containsOnly(true);
    }

    @Test
    void manyCallersShareCommits() throws Exception {
        EventStore store = store();
        int threads = 16;
        int each = 100;
        ExecutorService pool = Executors.newFixedThreadPool(threads);
        try {
            List<Future<?>> done = new ArrayList<>();
            for (int t = 0; t < threads; t++) {
                int thread = t;
                done.add(pool.submit(() -> {
                    for (int i = 0; i < each; i++) {
                        assertThat(store.accept(Events.xid("t" + thread + "-" + i, 0)))
                                .isEqualTo(Receipt.STORED);
                    }
                }));
            }
            for (Future<?> one : done) {
                one.get();
            }
        } finally {
            pool.shutdown();
        }
        assertThat(store().events(filter(10_000))).hasSize(threads * each);
        assertThat(store().status().commitMicros().getTotalCount()).isLessThan(threads * each);
        assertThat(store().status().events()).isEqualTo(threads * each);
    }

    private static EventFilter filter(int limit) {
        EventFilter all = EventFilter.all();
        return new EventFilter(
                all.agents(),
                all.checks(),
                all.codes(),
                all.entityValue(),
                all.fatal(),
                all.healthy(),
                all.from(),
                all.until(),
                0,
                false,
                limit);
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

    @Test
    void laterListenersDoNotReceiveStoredEvents() {
        CountDownLatch listening = new CountDownLatch(1);
        store().listen(told -> awaitUninterruptibly(listening));
        store().accept(List.of(Events.xid("79", 1), Events.xid("79", 2)), Optional.empty());
        List<EventChange> told = Collections.synchronizedList(new ArrayList<>());
        store().listen(told::add);
        listening.countDown();
        store().accept(Events.xid("48", 3));
        store().accept(List.of(), Optional.empty());
        assertThat(told)
                .singleElement()
                .satisfies(one -> assertThat(one.stored().event().errorCodes()).containsExactly("48"));
    }

    private static void awaitUninterruptibly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aListenerThatWaitsForTheStoreGetsAnError() {
        List<String> said = Collections.synchronizedList(new ArrayList<>());
        store().listen(told -> {
            try {
                store().accept(Events.xid("48", 9));
            } catch (IllegalStateException e) {
                said.add(e.getMessage());
            }
        });
        store().accept(Events.xid("79", 1));
        store().accept(List.of(), Optional.empty());
        assertThat(said).singleElement().asString().contains("listener");
    }

    @Test
    void aSecondDaemonIsRefused() {
        store();
        assertThatThrownBy(() -> EventStore.open(settings(), clock))
                .isInstanceOf(UserError.class)
                .hasMessageContaining("in use by another gpuwarden")
                .hasMessageContaining("process " + ProcessHandle.current().pid());
    }

    @Test
    void requestsAfterCloseGetAnError() {
        EventStore store = store();
        store.close();
        assertThatThrownBy(() -> store.accept(Events.xid("79", 1))).isInstanceOf(IllegalStateException.class);
    }

    @Test
    void recordingsBelongToTheirEvent() {
        store().accept(Events.xid("79", 1));
        StoredEvent event = all().get(0);
        byte[] recording = {0, 1, 2, -1};
        assertThat(store().attach(event.sequence(), recording)).isTrue();
        assertThat(store().attach(event.sequence() + 1, recording)).isFalse();
        assertThat(store().recording(event.event().id()))
                .hasValueSatisfying(r -> assertThat(r).isEqualTo(recording));
        assertThat(store().recording("another")).isEmpty();
        assertThatThrownBy(() -> store().attach(event.sequence(), new byte[EventStore.LARGEST_RECORDING + 1]))
                .isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void gpusAreKnownAfterARestart() {
        KnownGpus.Known gpu = new KnownGpus.Known(
                4,
                new PciAddress(0, 0x89, 0, 0),
                "GPU-a3871a3f",
                Optional.of("NVIDIA H100 80GB HBM3"),
                Optional.empty());
        store().keepGpus(new KnownGpus(List.of(gpu)));
        reopen();
        assertThat(store().gpus().gpus()).containsExactly(gpu);
        store().keepGpus(KnownGpus.NONE);
        reopen();
        assertThat(store().gpus().gpus()).isEmpty();
    }
}
