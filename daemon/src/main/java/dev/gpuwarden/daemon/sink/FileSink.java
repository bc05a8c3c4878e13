package dev.gpuwarden.daemon.sink;

import dev.gpuwarden.checks.view.EventView;
import dev.gpuwarden.cli.JsonReader;
import dev.gpuwarden.cli.Output;
import dev.gpuwarden.cli.file.LineLog;
import dev.gpuwarden.cli.file.RotatingLog;
import dev.gpuwarden.core.event.StoredEvent;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A file of events, one JSON object a line, for log shippers to follow. A file that would exceed its limit becomes
 * `FILE.1`, in place of the one before, and a new one begins. Each event is in it once: after a kill, written events
 * that were not acknowledged are found at the file's end.
 */
final class FileSink implements Sink {

    /** Bytes at the file's end that are searched: more than the longest line. */
    static final int TAIL_BYTES = 1 << 20;

    /** Levels of objects and lists in the JSON of an event. */
    private static final JsonReader READER = JsonReader.ofDepth(8);

    private final Path file;
    private final RotatingLog log;
    /** Ids of the last events in the file, which may be sent again. */
    private @Nullable Set<String> written;

    FileSink(Path file, long maxBytes) {
        this.file = file;
        this.log = new RotatingLog(file, maxBytes, 1);
    }

    @Override
    public String name() {
        return "file";
    }

    @Override
    public void send(List<StoredEvent> events) throws IOException {
        Set<String> before = written == null ? recover() : written;
        StringBuilder lines = new StringBuilder();
        Set<String> ids = new HashSet<>();
        for (StoredEvent event : events) {
            ids.add(event.event().id());
            if (!before.contains(event.event().id())) {
                lines.append(Output.jsonLine(EventView.tree(event))).append('\n');
            }
        }
        byte[] bytes = lines.toString().getBytes(StandardCharsets.UTF_8);
        // The lines that a failed call leaves are read again.
        written = null;
        log.append(bytes);
        written = ids;
    }

    /** Returns the ids of the whole lines at the end of both files. A line that cannot be read counts as not written. */
    private Set<String> recover() throws IOException {
        Set<String> found = new HashSet<>();
        for (Path each : List.of(RotatingLog.older(file, 1), file)) {
            if (Files.exists(each)) {
                LineLog.wholeLines(tail(each)).lines().forEach(line -> id(line).ifPresent(found::add));
            }
        }
        return found;
    }

    private static String tail(Path file) throws IOException {
        try (FileChannel in = FileChannel.open(file, StandardOpenOption.READ)) {
            in.position(Math.max(0, in.size() - TAIL_BYTES));
            return new String(Channels.newInputStream(in).readNBytes(TAIL_BYTES), StandardCharsets.UTF_8);
        }
    }

    private static Optional<String> id(String line) {
        try {
            return READER.readObject(line).get("id") instanceof String id ? Optional.of(id) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }
}
