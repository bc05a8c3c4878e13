package dev.gpuwarden.daemon.store;

import static org.assertj.core.api.Assertions.assertThat;

import dev.gpuwarden.core.event.EventWriter.Position;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.event.FaultTable;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.daemon.app.ChildJvm;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A process that stores events under load is killed at random moments, over and over on the same file. After each kill the
 * file is sound, every acknowledged event is there once, and positions agree with events. {@code -Dkills.seed} repeats a run.
 */
@Tag("programs")
class StoreKillTest {

    private static final int ROUNDS_OF_ONE_STORE = 20;
    private static final int LONGEST_MILLIS = 500;
    /** So small that the store deletes all the time. */
    private static final long SMALL = 1 << 20;

    private static final long LARGE = 1L << 40;

    @TempDir
    Path folder;

    private final long seed = Long.getLong("kills.seed", System.nanoTime());
    private final Random random = new Random(seed);
    /** The last number that each source's child reported as acknowledged. */
    private final Map<String, Long> acknowledged = new HashMap<>();

    private long events;
    private long counted;

    @Test
    void eightKillsLoseNothing() throws Exception {
        rounds(8);
    }

    @Test
    @Tag("soak")
    @Timeout(value = 1, unit = TimeUnit.HOURS)
    void fiveHundredKillsLoseNothing() throws Exception {
        rounds(500);
    }

    private void rounds(int rounds) throws Exception {
        for (int round = 0; round < rounds; round++) {
            Path file = folder.resolve("store" + round / ROUNDS_OF_ONE_STORE + "/events.db");
            long bound = round / ROUNDS_OF_ONE_STORE % 5 == 4 ? SMALL : LARGE;
            if (round % ROUNDS_OF_ONE_STORE == 0) {
                acknowledged.clear();
            }
            // One in four while it still begins, whatever it is at.
            boolean busy = round % 4 != 3;
            read(kill(file, bound, busy));
            check(file, bound, "round " + round + ", seed " + seed);
        }
        assertThat(events).as("events stored, seed " + seed).isGreaterThan(rounds);
        assertThat(counted).as("events counted, seed " + seed).isGreaterThan(rounds);
    }

    /** Runs a child for a random time, since its start or since it stores, and returns its output. */
    private String kill(Path file, long bound, boolean busy) throws IOException, InterruptedException {
        Process child = ChildJvm.of(KilledStore.class.getName(), List.of(file.toString(), String.valueOf(bound)))
                .redirectError(folder.resolve("errors").toFile())
                .start();
        StringBuilder lines = new StringBuilder();
        CountDownLatch begun = new CountDownLatch(1);
        Thread reader = new Thread(() -> drain(child.getInputStream(), lines, begun));
        reader.start();
        if (busy) {
            assertThat(begun.await(30, TimeUnit.SECONDS))
                    .as("it says something")
                    .isTrue();
        }
        boolean ended = child.waitFor(random.nextInt(LONGEST_MILLIS), TimeUnit.MILLISECONDS);
        assertThat(ended).as(Files.readString(folder.resolve("errors"))).isFalse();
        // SIGKILL. Not by Process itself, which would close the pipe with what it still holds.
        child.toHandle().destroyForcibly();
        child.waitFor();
        reader.join();
        return lines.toString();
    }

    private static void drain(InputStream in, StringBuilder lines, CountDownLatch begun) {
        try (in) {
            byte[] some = new byte[8192];
            for (int n = in.read(some); n >= 0; n = in.read(some)) {
                lines.append(new String(some, 0, n, StandardCharsets.US_ASCII));
                begun.countDown();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void read(String said) {
        assertThat(said)
                .satisfiesAnyOf(
                        text -> assertThat(text).isEmpty(),
                        text -> assertThat(text).endsWith("\n"));
        for (String line : said.lines().toList()) {
            assertThat(line).as("a source was told to begin where it had been").doesNotContain("again");
            String[] words = line.split(" ");
            Long last = acknowledged.put(words[0], Long.parseLong(words[2]));
            assertThat(Long.parseLong(words[1])).isGreaterThan(last == null ? 0 : last);
        }
    }

    private void check(Path file, long bound, String round) throws IOException {
        if (!Files.exists(file)) {
            assertThat(acknowledged).isEmpty();
            return;
        }
        EventStore store = EventStore.open(StoreSettings.at(file), Clock.systemUTC());
        StoreReader reader = new StoreReader(DatabaseFile.unclaimed(file), error -> {});
        try {
            assertThat(store.status().setAside()).as(round).isZero();
            List<String> complaints = reader.read(sql -> sql.list("PRAGMA integrity_check", row -> row.getString(1)));
            assertThat(complaints).as(round).containsExactly("ok");
            for (int i = 0; i < KilledStore.SOURCES; i++) {
                checkSource(store, reader, "source" + i, bound, round);
            }
            assertThat(number(reader, "SELECT count(*) - count(DISTINCT agent || (body ->> 'message')) FROM events"))
                    .as(round)
                    .isZero();
            if (bound == LARGE) {
                assertThat(store.faults().stream().map(Fault::key))
                        .as(round)
                        .containsExactlyInAnyOrderElementsOf(replayed(reader).faults().stream()
                                .map(Fault::key)
                                .toList());
            }
            events += number(reader, "SELECT count(*) FROM events");
            counted += number(reader, "SELECT sum(occurrences - 1) FROM events");
        } finally {
            reader.close();
            store.close();
        }
        try (Stream<Path> files = Files.list(file.getParent())) {
            assertThat(files.map(Path::toString)).as(round).noneMatch(name -> name.contains("corrupt"));
        }
    }

    private void checkSource(EventStore store, StoreReader reader, String source, long bound, String round) {
        long position = store.position(source)
                .map(Position::cursor)
                .map(Long::parseLong)
                .orElse(0L);
        assertThat(position).as(round + ", " + source).isGreaterThanOrEqualTo(acknowledged.getOrDefault(source, 0L));
        assertThat(number(
                        reader,
                        "SELECT max(CAST(substr(body ->> 'message', 8) AS INTEGER)) FROM events WHERE agent = ?",
                        source))
                .as(round + ", " + source)
                .isLessThanOrEqualTo(position);
        if (bound == LARGE) {
            // Numbers up to the position and no others, each once: as a row, or counted with one.
            assertThat(number(reader, "SELECT sum(occurrences) FROM events WHERE agent = ?", source))
                    .as(round + ", " + source)
                    .isEqualTo(position);
        }
    }

    private static long number(StoreReader reader, String question, Object... values) {
        return reader.<Long>read(sql -> sql.number(question, values));
    }

    /** Computes the faults from the history alone: repetitions change none. */
    private static FaultTable replayed(StoreReader reader) {
        FaultTable table = new FaultTable();
        List<StoredEvent> history = reader.read(
                sql -> sql.list("SELECT " + EventTable.COLUMNS + " FROM events ORDER BY sequence", EventTable::read));
        history.forEach(stored -> table.apply(stored.event(), stored.sequence(), Instant.EPOCH));
        return table;
    }
}
