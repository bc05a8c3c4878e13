package dev.gpuwarden.daemon.kernlog;

import dev.gpuwarden.core.kernel.KernelRecord;
import dev.gpuwarden.daemon.kernlog.logfile.LineSplitter;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
    private final Backoff backoff = new Backoff(Duration.ofMinutes(1));
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
        return folder.map(path -> "journald in " + path).orElse("journald");
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
        ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
        builder.environment().put("LC_ALL", "C");
        Process started = builder.start();
        process = started;
        try (InputStream out = started.getInputStream()) {
            started.getOutputStream().close();
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
        List<String> wanted = List.of(
                "_TRANSPORT=kernel", "SYSLOG_IDENTIFIER=" + LineParser.RESET_TAG, "MESSAGE_ID=" + JournalEntry.MISSED);
        for (String match : wanted) {
            if (!match.equals(wanted.get(0))) {
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
}
