package dev.gpuwarden.daemon.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.gpuwarden.cli.UserError;
import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventReader.Subscription;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.FaultTable.Effect;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.core.model.PciAddress;
import dev.gpuwarden.core.node.KnownGpus;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

/** Callers and listeners of the store, and the data beside its events. */
class StoreRequestsTest extends StoreFixture {

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
