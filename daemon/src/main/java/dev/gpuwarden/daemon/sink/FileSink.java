package dev.gpuwarden.daemon.sink;

import dev.gpuwarden.cli.Output;
import dev.gpuwarden.core.event.StoredEvent;
import dev.gpuwarden.daemon.view.EventView;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * A file of events, one JSON object a line, for log shippers to follow. A file that would exceed its limit becomes
 * `FILE.1`, in place of the one before, and a new one begins. Each event is in it once: after a kill, written events
 * that were not acknowledged are found at the file's end.
 */
final class FileSink implements Sink {

    /** Bytes at the file's end that are searched: more than the longest line. */
    static final int TAIL_BYTES = 1 << 20;

    private static final Pattern ID = Pattern.compile("(?m)^\\{\"id\": ?\"([^\"]+)\"");

    private final Path file;
    private final long maxBytes;
    /** Ids of the last events in the file, which may be sent again. */
    private @Nullable Set<String> written;

    FileSink(Path file, long maxBytes) {
        this.file = file;
        this.maxBytes = maxBytes;
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
        if (Files.exists(file) && Files.size(file) > 0 && Files.size(file) + bytes.length > maxBytes) {
            Files.move(file, file.resolveSibling(file.getFileName() + ".1"), StandardCopyOption.REPLACE_EXISTING);
        }
        try (FileChannel out = FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
            ByteBuffer rest = ByteBuffer.wrap(bytes);
            while (rest.hasRemaining()) {
                out.write(rest);
            }
            out.force(false);
        }
        written = ids;
    }

    /** Returns the ids at the end of the file, and removes an incomplete last line. */
    private Set<String> recover() throws IOException {
        Set<String> found = new HashSet<>();
        if (!Files.exists(file)) {
            return found;
        }
        try (RandomAccessFile in = new RandomAccessFile(file.toFile(), "rw")) {
            long from = Math.max(0, in.length() - TAIL_BYTES);
            byte[] tail = new byte[(int) (in.length() - from)];
            in.seek(from);
            in.readFully(tail);
            String text = new String(tail, StandardCharsets.ISO_8859_1);
            int end = text.lastIndexOf('\n') + 1;
            in.setLength(from + end);
            Matcher id = ID.matcher(text.substring(0, end));
            while (id.find()) {
                found.add(id.group(1));
            }
        }
        return found;
    }
}
