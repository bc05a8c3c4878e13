package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.daemon.repair.RepairAttempt.End;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;

/**
 * The record of all repairs of this server in a file, which is their audit and their memory over restarts. Each line is on the
 * disk before the step after it begins. This process alone writes the file. Thread-safe; writes block on the disk.
 */
final class RepairLog {

    private static final int MOST_BYTES = 1 << 20;

    private final Path file;
    private final Clock clock;
    private final Map<String, RepairAttempt> attempts = new LinkedHashMap<>();

    private RepairLog(Path file, Clock clock) {
        this.file = file;
        this.clock = clock;
    }

    /**
     * Reads the file. The last line may be cut off by the end of a writer, and is removed then.
     *
     * @throws IOException if it cannot be read, or another line is wrong: without its memory no repair may begin
     */
    static RepairLog open(Path file, Clock clock) throws IOException {
        RepairLog log = new RepairLog(file, clock);
        String text = text(file);
        for (RepairAttempt each : RepairRecord.read(wholeLines(text))) {
            log.attempts.put(each.id(), each);
        }
        if (!text.isEmpty() && !text.endsWith("\n")) {
            log.rewrite(any -> true);
        }
        return log;
    }

    /** Reads the file of another process, which may write a line now, and leaves the file as it is. */
    static List<RepairAttempt> read(Path file) throws IOException {
        return RepairRecord.read(wholeLines(text(file)));
    }

    private static String text(Path file) throws IOException {
        try {
            if (Files.size(file) > 2L * MOST_BYTES) {
                throw new IOException("more than " + 2 * MOST_BYTES + " bytes");
            }
            return Files.readString(file);
        } catch (NoSuchFileException e) {
            // The first repair creates it.
            return "";
        }
    }

    private static List<String> wholeLines(String text) {
        return text.substring(0, text.lastIndexOf('\n') + 1).lines().toList();
    }

    /** Returns all attempts, the oldest first. */
    synchronized List<RepairAttempt> attempts() {
        return List.copyOf(attempts.values());
    }

    /** Returns the attempt that has not ended; at most one. */
    synchronized Optional<RepairAttempt> unfinished() {
        return attempts.values().stream().filter(each -> each.end().isEmpty()).findFirst();
    }

    /** Returns true if a repair has drained the node of Slurm, and none has resumed it since. */
    synchronized boolean drained() {
        boolean drained = false;
        for (RepairAttempt attempt : attempts.values()) {
            for (Step step : attempt.steps()) {
                if (step.done() && step.name().equals(RepairAttempt.DRAIN)) {
                    drained = true;
                } else if (step.done() && step.name().equals(RepairAttempt.RESUME)) {
                    drained = false;
                }
            }
        }
        return drained;
    }

    synchronized RepairAttempt begin(Kind kind, Set<String> subjects, String why, String bootId) throws IOException {
        Instant now = clock.instant();
        if (Files.exists(file) && Files.size(file) > MOST_BYTES) {
            Instant old = now.minus(RepairRules.MEMORY);
            boolean all = drained();
            rewrite(each -> all || each.began().isAfter(old) || each.end().isEmpty());
        }
        String id = now.toString();
        RepairAttempt attempt = new RepairAttempt(id, kind, subjects, why, now, bootId, List.of(), Optional.empty());
        append(RepairRecord.begin(attempt));
        attempts.put(id, attempt);
        return attempt;
    }

    synchronized void step(RepairAttempt attempt, Step step) throws IOException {
        append(RepairRecord.step(attempt, step));
        attempts.computeIfPresent(attempt.id(), (id, before) -> before.with(step));
    }

    /** Adds a step that ends now, and began at this time of {@link System#nanoTime}. */
    void record(RepairAttempt attempt, String name, String target, boolean done, String detail, long startNanos)
            throws IOException {
        Duration time = Duration.ofNanos(System.nanoTime() - startNanos);
        step(attempt, new Step(name, target, done, detail, time, clock.instant()));
    }

    /** Returns the attempt with its steps so far. */
    synchronized RepairAttempt current(RepairAttempt attempt) {
        return attempts.getOrDefault(attempt.id(), attempt);
    }

    synchronized void end(RepairAttempt attempt, Outcome outcome, String detail) throws IOException {
        End end = new End(clock.instant(), outcome, detail);
        append(RepairRecord.end(attempt, end));
        attempts.computeIfPresent(attempt.id(), (id, before) -> before.with(end));
    }

    private void append(String line) throws IOException {
        try (FileChannel out = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.WRITE, StandardOpenOption.APPEND)) {
            write(out, line + "\n");
        }
    }

    private static void write(FileChannel out, String text) throws IOException {
        ByteBuffer bytes = ByteBuffer.wrap(text.getBytes(StandardCharsets.UTF_8));
        while (bytes.hasRemaining()) {
            out.write(bytes);
        }
        out.force(true);
    }

    /** Replaces the file as a whole by the attempts to keep. */
    private void rewrite(Predicate<RepairAttempt> keep) throws IOException {
        attempts.values().removeIf(keep.negate());
        List<String> lines = new ArrayList<>();
        for (RepairAttempt attempt : attempts.values()) {
            lines.add(RepairRecord.begin(attempt));
            attempt.steps().forEach(step -> lines.add(RepairRecord.step(attempt, step)));
            attempt.end().ifPresent(end -> lines.add(RepairRecord.end(attempt, end)));
        }
        Path unfinished = file.resolveSibling(file.getFileName() + ".new");
        try (FileChannel out = FileChannel.open(
                unfinished,
                StandardOpenOption.CREATE,
                StandardOpenOption.WRITE,
                StandardOpenOption.TRUNCATE_EXISTING)) {
            write(out, lines.isEmpty() ? "" : String.join("\n", lines) + "\n");
        }
        Files.move(unfinished, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }
}
