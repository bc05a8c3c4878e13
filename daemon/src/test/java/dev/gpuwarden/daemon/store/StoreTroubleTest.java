package dev.gpuwarden.daemon.store;

import static dev.gpuwarden.testkit.Await.until;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.gpuwarden.core.event.EventChange;
import dev.gpuwarden.core.event.EventFilter;
import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.EventWriter.Receipt;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.StoredEvent;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Corrupt files, and disks that refuse writes. */
class StoreTroubleTest extends StoreFixture {

    private List<String> files() throws IOException {
        try (Stream<Path> files = Files.list(file().getParent())) {
            return files.map(file -> file.getFileName().toString()).sorted().toList();
        }
    }

    private void fill(int events) {
        for (int i = 0; i < events; i += 100) {
            List<dev.gpuwarden.core.event.HealthEvent> batch = new ArrayList<>();
            for (int j = i; j < i + 100; j++) {
                batch.add(Events.builder(j)
                        .errorCodes(List.of("code" + j))
                        .message("m".repeat(500))
                        .build());
                batch.add(Events.builder(j)
                        .healthy(true)
                        .errorCodes(List.of("code" + j))
                        .build());
            }
            store().accept(batch, Optional.empty());
        }
    }

    private void overwrite(long from, int bytes) throws IOException {
        try (RandomAccessFile raw = new RandomAccessFile(file().toFile(), "rw")) {
            raw.seek(from);
            raw.write(new byte[bytes]);
        }
    }

    @Test
    void aFileWithoutAHeaderIsSetAside() throws IOException {
        fill(100);
        close();
        overwrite(0, 4096);
        assertThat(store().status().setAside()).isEqualTo(1);
        assertThat(store().accept(Events.xid("79", 1))).isEqualTo(Receipt.STORED);
        assertThat(files()).contains("events.db", "events.db.corrupt-20261121T100000Z");
    }

    @Test
    void aFileWithABrokenPageIsSetAside() throws IOException {
        fill(400);
        close();
        overwrite(40 * 4096, 3 * 4096);
        assertThat(store().status().setAside()).isEqualTo(1);
        assertThat(all()).isEmpty();
    }

    @Test
    void aFileThatIsCutOffIsSetAside() throws IOException {
        fill(400);
        close();
        try (RandomAccessFile raw = new RandomAccessFile(file().toFile(), "rw")) {
            raw.setLength(20 * 4096);
        }
        assertThat(store().status().setAside()).isEqualTo(1);
    }

    @Test
    void aFileThatBecomesCorruptIsSetAsideAndCurrentFaultsAreKept() throws IOException {
        Position position = new Position("kmsg", "boot", "17");
        store().register("uplink");
        store().accept(List.of(Events.xid("79", 1)), Optional.of(position));
        StoredEvent cause = all().get(0);
        fill(1000);
        reopen();
        List<Fault> before = store().faults();
        long last = store().status().lastSequence();
        long size = Files.size(file());
        overwrite(4096, (int) size - 4096);
        assertThatThrownBy(() -> store().events(EventFilter.all())).isInstanceOf(UncheckedIOException.class);
        until(() -> store().status().setAside() == 1);
        assertThat(store().accept(Events.xid("48", 2))).isEqualTo(Receipt.STORED);
        reopen();
        assertThat(store().faults()).hasSize(4);
        assertThat(store().faults().subList(0, 2)).allSatisfy(fault -> {
            Fault same = before.stream()
                    .filter(b -> b.key().equals(fault.key()))
                    .findFirst()
                    .orElseThrow();
            assertThat(fault.cause()).isEqualTo(same.cause());
            assertThat(fault.since()).isEqualTo(same.since());
            assertThat(fault.occurrences()).isEqualTo(same.occurrences());
            assertThat(fault.sequence()).isGreaterThan(last);
        });
        assertThat(store().event(cause.event().id())).isPresent();
        assertThat(store().position("kmsg")).contains(position);
        assertThat(store().lag("uplink").dropped()).isEqualTo(2001);
        assertThat(store().next("uplink", 10)).hasSize(2);
        assertThat(store().accept(Events.xid("79", 3))).isEqualTo(Receipt.COUNTED);
    }

    @Test
    void aRemovedFileIsCreatedAgain() throws Exception {
        store().accept(Events.xid("79", 1));
        assertThat(all()).hasSize(1);
        for (String name : files()) {
            Files.delete(file().resolveSibling(name));
        }
        Files.delete(file().getParent());
        TimeUnit.MILLISECONDS.sleep(1100);
        assertThat(store().accept(Events.xid("48", 2))).isEqualTo(Receipt.STORED);
        assertThat(all()).as("readers see the new file").hasSize(2);
        reopen();
        assertThat(store().faults()).hasSize(4);
    }

    @Test
    void unwrittenEventsAreHeldAndWrittenInOrderLater() throws Exception {
        List<EventChange> told = Collections.synchronizedList(new ArrayList<>());
        store().accept(Events.xid("79", 1));
        store().listen(told::add);
        try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file());
                Statement statement = other.createStatement()) {
            statement.execute("BEGIN EXCLUSIVE");
            Position position = new Position("kmsg", "boot", "17");
            assertThat(store().accept(List.of(Events.xid("48", 2)), Optional.of(position)))
                    .containsExactly(Receipt.HELD);
            assertThat(store().accept(Events.xid("48", 2))).isEqualTo(Receipt.HELD);
            assertThat(store().accept(Events.xid("48", 3))).isEqualTo(Receipt.HELD);
            assertThat(store().accept(Events.healthy(4))).isEqualTo(Receipt.HELD);
            assertThat(store().accept(Events.xid("63", 5))).isEqualTo(Receipt.HELD);
            assertThat(store().faults()).hasSize(2).allSatisfy(fault -> {
                assertThat(fault.key().errorCode()).isEqualTo("63");
                assertThat(fault.sequence()).isZero();
            });
            assertThat(store().position("kmsg")).contains(position);
            assertThat(store().status().heldEvents()).isEqualTo(3);
            assertThat(store().status().trouble()).isPresent();
            assertThat(store().attach(1, new byte[1])).isFalse();
            assertThatThrownBy(() -> store().acknowledge("nobody", 1)).isInstanceOf(UncheckedIOException.class);
            store().register("uplink");
            assertThat(told).isEmpty();
            assertThat(all()).hasSize(1);
        }
        until(() -> store().status().trouble().isEmpty());
        assertThat(store().status().heldEvents()).isZero();
        assertThat(store().accept(Events.xid("48", 3))).isEqualTo(Receipt.DUPLICATE);
        assertThat(all())
                .extracting(one -> one.event().message())
                .containsExactly(
                        Events.xid("79", 1).message(),
                        Events.xid("48", 2).message(),
                        Events.healthy(4).message(),
                        Events.xid("63", 5).message());
        assertThat(all()).extracting(StoredEvent::occurrences).containsExactly(1L, 2L, 1L, 1L);
        assertThat(told)
                .extracting(one -> one.stored().sequence())
                .containsExactlyElementsOf(
                        all().stream().skip(1).map(StoredEvent::sequence).toList());
        assertThat(store().next("uplink", 10)).hasSize(3);
        List<Fault> faults = store().faults();
        reopen();
        assertThat(store().faults()).containsExactlyInAnyOrderElementsOf(faults).hasSize(2);
        assertThat(store().position("kmsg")).isPresent();
    }

    /** SQLite waits for the lock of another program when a transaction begins. Once it has read, SQLite refuses a write immediately. */
    @Test
    void aTransactionHasTheLockBeforeItReads() throws Exception {
        store().accept(Events.xid("79", 1));
        close();
        try (Sql sql = Sql.open(file().toString());
                Connection other = DriverManager.getConnection("jdbc:sqlite:" + file());
                Statement statement = other.createStatement()) {
            statement.execute("PRAGMA busy_timeout = 0");
            sql.transactions();
            assertThat(sql.number("SELECT count(*) FROM events")).isEqualTo(1);
            assertThatThrownBy(() -> statement.execute("BEGIN IMMEDIATE")).hasMessageContaining("SQLITE_BUSY");
            sql.commit();
            statement.execute("BEGIN IMMEDIATE");
        }
    }

    @Test
    void heldEventsAreWrittenBeforeTheDaemonEnds() throws Exception {
        store();
        try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + file());
                Statement statement = other.createStatement()) {
            statement.execute("BEGIN EXCLUSIVE");
            assertThat(store().accept(Events.xid("48", 2))).isEqualTo(Receipt.HELD);
        }
        reopen();
        assertThat(all()).hasSize(1);
    }

    /** A disk of its own, of one megabyte, where this user may have one. */
    @Test
    void aFullDiskLosesNothing() throws Exception {
        Path disk = Files.createDirectory(folder.resolve("disk"));
        assumeTrue(
                run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk.toString()) == 0,
                "only root can mount a disk of its own");
        try {
            StoreSettings settings = StoreSettings.at(disk.resolve("events.db"));
            EventStore full = EventStore.open(settings, clock);
            int held = 0;
            int number = 0;
            try {
                while (held < 300) {
                    Receipt receipt = full.accept(Events.builder(number)
                            .fatal(true)
                            .errorCodes(List.of("code" + number % 1000))
                            .message("m".repeat(1000))
                            .build());
                    assertThat(receipt).isIn(Receipt.STORED, Receipt.HELD);
                    held += receipt == Receipt.HELD ? 1 : 0;
                    number++;
                }
                assertThat(full.faults()).hasSize(2 * number);
                assertThat(full.status().trouble()).isPresent();
            } finally {
                assertThat(run("mount", "-o", "remount,size=16m", disk.toString()))
                        .isZero();
                until(() -> full.status().heldEvents() == 0);
                full.close();
            }
            EventStore again = EventStore.open(settings, clock);
            assertThat(again.status().events()).isEqualTo(number);
            assertThat(again.status().setAside()).isZero();
            assertThat(again.faults()).hasSize(2 * number);
            again.close();
        } finally {
            run("umount", disk.toString());
        }
    }

    @Test
    void aDiskThatIsFullAtStartIsNoReasonNotToStart() throws Exception {
        Path disk = Files.createDirectory(folder.resolve("disk"));
        assumeTrue(
                run("mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", disk.toString()) == 0,
                "only root can mount a disk of its own");
        try {
            StoreSettings settings = StoreSettings.at(disk.resolve("events.db"));
            EventStore first = EventStore.open(settings, clock);
            first.accept(Events.xid("79", 1));
            first.close();
            Path filler = disk.resolve("filler");
            assertThat(run("dd", "if=/dev/zero", "of=" + filler, "bs=1k")).isNotZero();
            EventStore full = EventStore.open(settings, clock);
            try {
                assertThat(full.accept(Events.xid("48", 2))).isEqualTo(Receipt.HELD);
                Files.delete(filler);
                until(() -> full.status().heldEvents() == 0);
                assertThat(full.faults()).hasSize(4);
            } finally {
                full.close();
            }
        } finally {
            run("umount", disk.toString());
        }
    }

    private static int run(String... command) throws Exception {
        return new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                .start()
                .waitFor();
    }
}
