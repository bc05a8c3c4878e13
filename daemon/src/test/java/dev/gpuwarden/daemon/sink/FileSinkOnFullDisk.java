package dev.gpuwarden.daemon.sink;

import static dev.gpuwarden.daemon.app.FullDisk.check;

import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.core.event.HealthEvent;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.daemon.app.FullDisk;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** Sends events to a file on a disk that is full from each byte on, and ends with an error unless each is in it once. */
final class FileSinkOnFullDisk {

    private static final int LONGEST = 1500;
    private static final long MOST_BYTES = 1 << 20;
    private static final Instant AT = Instant.parse("2026-06-01T00:00:00Z");

    private FileSinkOnFullDisk() {}

    private static StoredEvent event(int number, String message) {
        HealthEvent event = HealthEvent.of("agent", "GPU", "check")
                .id("event-" + number)
                .nodeName("node")
                .generated(AT)
                .message(message)
                .build();
        return new StoredEvent(number, event, AT, AT, 1);
    }

    public static void main(String... args) throws IOException {
        int cases = 0;
        try (FullDisk disk = FullDisk.of(args)) {
            Path file = disk.folder.resolve("events.jsonl");
            for (int cut = 0; cut < LONGEST; cut += FullDisk.STEP) {
                for (boolean killed : new boolean[] {false, true}) {
                    disk.empty();
                    run(disk, file, cut, killed);
                    cases++;
                }
            }
        }
        System.out.println(cases + " cuts");
    }

    private static void run(FullDisk disk, Path file, int cut, boolean killed) throws IOException {
        FileSink sink = new FileSink(file, MOST_BYTES);
        sink.send(List.of(event(1, "")));
        int more = (int) (FullDisk.PAGE - cut - Files.size(file));
        Files.delete(file);
        sink = new FileSink(file, MOST_BYTES);
        sink.send(List.of(event(1, "x".repeat(more))));
        List<StoredEvent> batch = new ArrayList<>(List.of(event(2, "a"), event(3, "b"), event(4, "c")));
        disk.full(FullDisk.PAGE);
        try {
            sink.send(batch);
        } catch (IOException e) {
            // The forwarder sends the same events again, later with more.
        }
        if (killed) {
            sink = new FileSink(file, MOST_BYTES);
        }
        disk.free();
        batch.add(event(5, "d"));
        sink.send(batch);
        List<Object> ids = new ArrayList<>();
        for (String line : Files.readAllLines(file)) {
            ids.add(JsonReader.ofDepth(8).readObject(line).get("id"));
        }
        check(
                ids.equals(List.of("event-1", "event-2", "event-3", "event-4", "event-5")),
                "cut at byte " + cut + ": " + ids);
    }
}
