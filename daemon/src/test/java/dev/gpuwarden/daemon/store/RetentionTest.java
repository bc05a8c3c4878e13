package dev.gpuwarden.daemon.store;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class RetentionTest extends StoreFixture {

    private static final long MIB = 1 << 20;

    @Override
    StoreSettings settings() {
        StoreSettings settings = super.settings();
        settings.maxSizeBytes = 2 * MIB;
        return settings;
    }

    /** Faults that come and go: two events each. */
    private void history(int from, int to, int characters) {
        for (int i = from; i < to; i += 50) {
            List<HealthEvent> batch = new ArrayList<>();
            for (int j = i; j < i + 50; j++) {
                batch.add(Events.builder(j)
                        .errorCodes(List.of("old" + j))
                        .message("m".repeat(characters))
                        .build());
                batch.add(Events.builder(j)
                        .healthy(true)
                        .errorCodes(List.of("old" + j))
                        .build());
            }
            store().accept(batch, Optional.empty());
        }
    }

    private void quiet() {
        until(() -> {
            long before = store().status().deleted();
            store().accept(List.of(), Optional.empty());
            store().accept(List.of(), Optional.empty());
            return store().status().deleted() == before;
        });
    }

    @Test
    void oldEventsGoAndCausesOfCurrentFaultsStay() {
        store().accept(List.of(Events.xid("79", 1)), Optional.of(new Position("kmsg", "boot", "1")));
        history(0, 100, 10);
        clock.advance(Duration.ofDays(31));
        store().accept(Events.healthy(5000).withId("young"));
        store().accept(Events.xid("79", 6000));
        reopen();
        until(() -> store().status().events() == 2);
        assertThat(all()).extracting(one -> one.event().errorCodes()).containsExactly(List.of(), List.of("79"));
        assertThat(store().status().deleted()).isEqualTo(201);
        assertThat(store().position("kmsg")).isPresent();
    }

    @Test
    void aFaultKeepsItsCauseHoweverOldItIs() {
        store().accept(Events.xid("79", 1));
        history(0, 100, 10);
        clock.advance(Duration.ofDays(400));
        store().accept(Events.xid("79", 2));
        clock.advance(Duration.ofDays(400));
        reopen();
        // They are counted before they are gone for readers.
        until(() -> store().status().deleted() == 200 && all().size() == 2);
        assertThat(store().faults())
                .hasSize(2)
                .allSatisfy(fault ->
                        assertThat(fault.sequence()).isEqualTo(all().get(0).sequence()));
    }

    @Test
    void numbersNeverComeAgain() {
        store().accept(Events.healthy(1));
        long last = store().status().lastSequence();
        clock.advance(Duration.ofDays(31));
        reopen();
        until(() -> store().status().events() == 0);
        reopen();
        store().accept(Events.healthy(2));
        assertThat(all().get(0).sequence()).isEqualTo(last + 1);
    }

    @Test
    void eventsThatAReceiverLacksStayAtAnyAge() {
        store().register("uplink");
        history(0, 50, 10);
        store().acknowledge("uplink", store().next("uplink", 60).get(59).sequence());
        clock.advance(Duration.ofDays(31));
        reopen();
        until(() -> store().status().deleted() == 60);
        quiet();
        assertThat(store().next("uplink", 1000)).hasSize(40);
    }

    @Test
    void theSizeIsBoundedAndTheOldestGo() throws Exception {
        store().register("uplink");
        store().accept(Events.xid("79", 1));
        history(0, 3000, 1000);
        until(() -> {
            store().accept(List.of(), Optional.empty());
            return pages("page_count") <= 2 * MIB / 4096;
        });
        quiet();
        List<StoredEvent> kept = store().next("uplink", 10_000);
        assertThat(kept.size()).isBetween(1000, 3000);
        assertThat(kept.get(0).event().errorCodes()).containsExactly("79");
        assertThat(kept.get(1).event().errorCodes().get(0)).isNotEqualTo("old0");
        assertThat(kept.get(kept.size() - 1).event().errorCodes()).containsExactly("old2999");
        assertThat(store().lag("uplink").waiting()).isEqualTo(kept.size());
        assertThat(store().lag("uplink").dropped()).isEqualTo(6001 - kept.size());
        assertThat(store().status().deleted()).isEqualTo(6001 - kept.size());
        assertThat(store().status().events()).isEqualTo(kept.size());
        assertThat(store().faults()).hasSize(2);
        close();
        assertThat(Files.size(file())).isLessThanOrEqualTo(2 * MIB);
        assertThat(store().lag("uplink").waiting()).isEqualTo(kept.size());
    }

    private long pages(String pragma) {
        StoreReader reader = new StoreReader(DatabaseFile.unclaimed(file()), error -> {});
        try {
            return reader.read(sql -> sql.number("PRAGMA " + pragma));
        } finally {
            reader.close();
        }
    }

    @Test
    void recordingsCountAndGoLastFromCurrentFaults() {
        byte[] recording = new byte[400_000];
        new Random(1).nextBytes(recording);
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            store().accept(Events.xid("code" + i, i));
            StoredEvent event = all().get(i);
            ids.add(event.event().id());
            assertThat(store().attach(event.sequence(), recording)).isTrue();
        }
        until(() -> {
            history(0, 50, 10);
            return store().recording(ids.get(0)).isEmpty()
                    && store().recording(ids.get(3)).isEmpty();
        });
        assertThat(store().recording(ids.get(7))).isPresent();
        assertThat(store().faults())
                .extracting(Fault::cause)
                .extracting(HealthEvent::id)
                .containsAll(ids);
    }
}
