package dev.gpuwarden.daemon.kernlog;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import dev.gpuwarden.checks.child.BoundToThis;
import dev.gpuwarden.checks.child.FileTrust;
import dev.gpuwarden.core.kernel.KernelLogParser;
import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.core.kernel.KernelRecord.Writer;
import dev.gpuwarden.daemon.kernlog.logfile.LineSplitter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The journal, read by journalctl: the tool's output is stable, the journal's files are not. A tool that ends is started again behind
 * its last entry. It blocks while the sink blocks, and loses nothing.
 */
final class JournalSource implements LogSource {

    static final String KIND = "journald";

    private static final int BUFFER_BYTES = 64 * 1024;
    private static final int LONGEST_CURSOR = 512;

    private final List<String> tool;
    private final Optional<String> folder;
    private final String bootId;
    private final boolean follow;
    private final RetryPause backoff = new RetryPause(Duration.ofMinutes(1));
    private Optional<String> cursor;
    private String message = "";
    private boolean first;
    private volatile @Nullable Process process;

    /**
     * @param tool the program and its arguments
     * @param folder the folder of the journal's files; empty for the system's journal
     */
    JournalSource(List<String> tool, Optional<String> folder, Start start, String bootId, boolean follow) {
        this.tool = List.copyOf(tool);
        this.folder = folder;
        this.bootId = bootId.replace("-", "");
        this.follow = follow;
        this.cursor = start.ofThisBoot(KIND).filter(text -> text.matches("[0-9a-zA-Z=;]{1," + LONGEST_CURSOR + "}"));
    }

    @Override
    public String name() {
        return folder.map(path -> KIND + " in " + path).orElse(KIND);
    }

    @Override
    public void read(Sink sink) {
        do {
            message = "";
            first = true;
            try {
                if (follow && !hasEntries()) {
                    sink.unreadable(nothing());
                }
                int code = run(command(follow), (line, from, to, end) -> deliver(line, from, to, sink), () -> false);
                if (backoff.isClosed()) {
                    return;
                }
                if (!follow && code == 0) {
                    if (first) {
                        sink.unreadable(nothing());
                    }
                    return;
                }
                if (cursor.isPresent() && first && message.contains("cursor")) {
                    sink.gap(0, "the journal no longer has the last entry that was read: " + message);
                    cursor = Optional.empty();
                }
                sink.unreadable(tool.get(0) + " ended with code " + code + (message.isEmpty() ? "" : ": " + message));
            } catch (IOException e) {
                sink.unreadable(String.valueOf(e.getMessage()));
            }
            if (follow) {
                backoff.await();
            }
        } while (follow && !backoff.isClosed());
    }

    /** Returns whether the journal has an entry. journalctl prints no error for a journal that is empty or of another machine. */
    private boolean hasEntries() throws IOException {
        boolean[] any = new boolean[1];
        List<String> newest = new ArrayList<>(command(false));
        newest.removeIf(argument -> argument.startsWith("--cursor="));
        newest.add(tool.size(), "--lines=1");
        run(newest, (line, from, to, end) -> any[0] |= from < to && line[from] == '{', () -> any[0]);
        return any[0];
    }

    private String nothing() {
        return name() + " has no message of the kernel of this boot" + (message.isEmpty() ? "" : ": " + message);
    }

    private int run(List<String> command, LineSplitter.Lines taker, BooleanSupplier enough) throws IOException {
        Optional<String> refused = FileTrust.problem(command.get(0), Path.of("/"), System.getenv());
        if (refused.isPresent()) {
            throw new IOException(refused.get());
        }
        ProcessBuilder builder = new ProcessBuilder(BoundToThis.command(command)).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C");
        Process started = builder.start();
        process = started;
        try (InputStream out = started.getInputStream()) {
            byte[] bytes = new byte[BUFFER_BYTES];
            LineSplitter lines = new LineSplitter(0);
            int size;
            while (!backoff.isClosed() && !enough.getAsBoolean() && (size = out.read(bytes)) >= 0) {
                lines.feed(bytes, size, taker);
            }
            if (!backoff.isClosed()) {
                lines.end(taker);
            }
        } finally {
            started.destroy();
        }
        try {
            return started.waitFor();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            backoff.close();
            return 0;
        }
    }

    /** Makes the command line. It starts with the last entry and not behind it, which shows whether that entry still exists. */
    private List<String> command(boolean following) {
        List<String> command = new ArrayList<>(tool);
        command.addAll(List.of(
                "--quiet", "--no-pager", "--output=json", "--output-fields=" + String.join(",", JournalEntry.FIELDS)));
        folder.ifPresent(path -> command.add("--directory=" + path));
        cursor.ifPresent(text -> command.add("--cursor=" + text));
        if (following) {
            command.addAll(List.of("--follow", "--no-tail"));
        }
        List<String> matches = List.of(
                "_TRANSPORT=kernel",
                "SYSLOG_IDENTIFIER=" + KernelLogParser.RESET_JOB,
                "MESSAGE_ID=" + JournalEntry.MISSED);
        for (String match : matches) {
            if (!match.equals(matches.get(0))) {
                command.add("+");
            }
            if (bootId.matches("[0-9a-f]{32}")) {
                command.add("_BOOT_ID=" + bootId);
            }
            command.add(match);
        }
        return command;
    }

    private void deliver(byte[] line, int from, int to, Sink sink) {
        if (from == to) {
            return;
        }
        if (line[from] != '{') {
            message = KernelRecord.clean(line, from, Math.min(to, from + 300));
            return;
        }
        Optional<JournalEntry> parsed = JournalEntry.parse(line, from, to);
        if (parsed.isEmpty()) {
            sink.gap(1, "an entry of the journal cannot be parsed");
            return;
        }
        JournalEntry entry = parsed.get();
        if (first) {
            first = false;
            sink.readable();
            backoff.reset();
            if (cursor.filter(entry.cursor()::equals).isPresent()) {
                return;
            }
            if (cursor.isPresent()) {
                sink.gap(0, "the journal no longer has the last entry that was read");
            }
        }
        cursor = Optional.of(entry.cursor());
        if (entry.missed()) {
            sink.gap(lost(entry.record().text()), "journald: " + entry.record().text());
        }
        sink.record(entry.record(), () -> KIND + ":" + entry.cursor());
    }

    /** Returns the number in "Missed 12 kernel messages"; 0 where it has none. */
    private static long lost(String text) {
        String digits = text.replaceAll("\\D", "");
        return digits.isEmpty() || digits.length() > 12 ? 0 : Long.parseLong(digits);
    }

    @Override
    public void close() {
        backoff.close();
        Process running = process;
        if (running != null) {
            // This ends its output, and with it the read.
            running.destroy();
        }
    }

    /**
     * One entry of the journal in the form of {@code journalctl -o json} (systemd.journal-fields(7)).
     *
     * @param missed whether journald itself reports that it missed records of the kernel
     */
    record JournalEntry(String cursor, KernelRecord record, boolean missed) {

        /** sd-messages.h, SD_MESSAGE_JOURNAL_MISSED */
        static final String MISSED = "e9bf28e6e834481bb6f48f548ad13606";

        /** The fields that {@link #parse} reads and journalctl must be asked for. It always prints cursor and times. */
        static final List<String> FIELDS = List.of(
                "MESSAGE", "_TRANSPORT", "_UID", "SYSLOG_FACILITY", "_SOURCE_MONOTONIC_TIMESTAMP", "MESSAGE_ID");

        /** The longest time for which a record waits for journald while the node boots. */
        private static final long LONGEST_WAIT_MICROS = 600_000_000L;

        private static final JsonFactory JSON = new JsonFactory();

        /** Reads an entry; empty for other bytes. */
        static Optional<JournalEntry> parse(byte[] bytes, int from, int to) {
            Map<String, String> fields = new HashMap<>();
            try (JsonParser parser = JSON.createParser(bytes, from, to - from)) {
                if (parser.nextToken() != JsonToken.START_OBJECT) {
                    return Optional.empty();
                }
                while (parser.nextToken() == JsonToken.FIELD_NAME) {
                    String name = parser.currentName();
                    fields.put(name, value(parser));
                }
                if (parser.currentToken() != JsonToken.END_OBJECT) {
                    return Optional.empty();
                }
            } catch (IOException e) {
                return Optional.empty();
            }
            String cursor = fields.getOrDefault("__CURSOR", "");
            if (cursor.isEmpty()) {
                return Optional.empty();
            }
            String text = KernelRecord.clean(fields.getOrDefault("MESSAGE", ""));
            KernelRecord record = new KernelRecord(time(fields), writer(fields), text);
            // Any program can send the id, but only journald itself has this transport.
            boolean missed = MISSED.equals(fields.get("MESSAGE_ID")) && "driver".equals(fields.get("_TRANSPORT"));
            return Optional.of(new JournalEntry(cursor, record, missed));
        }

        /** Reads a value: a string; numbers for bad UTF-8; a list of either for a repeated field; null for one that is too long. */
        private static String value(JsonParser parser) throws IOException {
            JsonToken token = parser.nextToken();
            if (token != JsonToken.START_ARRAY) {
                parser.skipChildren();
                return token == JsonToken.VALUE_STRING ? parser.getText() : "";
            }
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            String first = "";
            while ((token = parser.nextToken()) != JsonToken.END_ARRAY && token != null) {
                if (token == JsonToken.VALUE_NUMBER_INT) {
                    bytes.write(parser.getIntValue());
                } else if (token == JsonToken.VALUE_STRING && first.isEmpty()) {
                    first = parser.getText();
                }
                parser.skipChildren();
            }
            byte[] raw = bytes.toByteArray();
            return raw.length == 0 ? first : KernelRecord.clean(raw, 0, raw.length);
        }

        /** Returns the writer. Records from user space in /dev/kmsg have the kernel's transport too, but not its facility. */
        private static Writer writer(Map<String, String> fields) {
            boolean kernel = "kernel".equals(fields.get("_TRANSPORT"));
            if (kernel) {
                return "0".equals(fields.getOrDefault("SYSLOG_FACILITY", "0")) ? Writer.KERNEL : Writer.PRIVILEGED;
            }
            return "0".equals(fields.get("_UID")) ? Writer.PRIVILEGED : Writer.USER;
        }

        /** Returns the kernel's own time. At boot it is long before journald's. */
        private static Instant time(Map<String, String> fields) {
            long received = number(fields.get("__REALTIME_TIMESTAMP"));
            if (received < 0) {
                return Instant.EPOCH;
            }
            long source = number(fields.get("_SOURCE_MONOTONIC_TIMESTAMP"));
            long monotonic = number(fields.get("__MONOTONIC_TIMESTAMP"));
            long waited = source < 0 || monotonic < 0 ? 0 : monotonic - source;
            boolean likely = waited >= 0 && waited <= LONGEST_WAIT_MICROS;
            return Instant.EPOCH.plusNanos((received - (likely ? waited : 0)) * 1000);
        }

        private static long number(@Nullable String text) {
            if (text == null || text.isEmpty() || text.length() > 16) {
                return -1;
            }
            long value = 0;
            for (int i = 0; i < text.length(); i++) {
                int digit = text.charAt(i) - '0';
                if (digit < 0 || digit > 9) {
                    return -1;
                }
                value = 10 * value + digit;
            }
            return value;
        }
    }
}
