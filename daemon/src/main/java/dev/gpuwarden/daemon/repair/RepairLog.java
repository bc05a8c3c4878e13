package dev.gpuwarden.daemon.repair;

import dev.gpuwarden.cli.file.AtomicFile;
import dev.gpuwarden.cli.file.LineLog;
import dev.gpuwarden.daemon.repair.RepairAttempt.End;
import dev.gpuwarden.daemon.repair.RepairAttempt.Kind;
import dev.gpuwarden.daemon.repair.RepairAttempt.Outcome;
import dev.gpuwarden.daemon.repair.RepairAttempt.Step;
import java.io.IOException;
import java.lang.System.Logger.Level;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
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

    private static final System.Logger LOG = System.getLogger(RepairLog.class.getName());
    private static final int MOST_BYTES = 1 << 20;

    private final Path file;
    private final Clock clock;
    private final LineLog lines;
    private final Map<String, RepairAttempt> attempts = new LinkedHashMap<>();
    /** Lines of acts that have happened, and that the disk has not taken. */
    private final StringBuilder kept = new StringBuilder();

    private RepairLog(Path file, Clock clock) {
        this.file = file;
        this.lines = new LineLog(file);
        this.clock = clock;
    }

    /**
     * Reads the file. A last line that was cut off is removed. Another line that cannot be read is logged and skipped, and its attempt has
     * a step {@link RepairAttempt#UNREADABLE}.
     *
     * @throws IOException if the file cannot be read, or has a word that this version lacks: without its memory no repair may begin
     */
    static RepairLog open(Path file, Clock clock) throws IOException {
        RepairLog log = new RepairLog(file, clock);
        RepairRecord.Content content = content(file);
        content.attempts().forEach(each -> log.attempts.put(each.id(), each));
        if (!content.unreadable().isEmpty()) {
            LOG.log(
                    Level.WARNING,
                    "the record of repairs " + file + ": what cannot be read is skipped in lines "
                            + content.unreadable() + "; a repair that was in progress then starts all its units");
        }
        var unused = log.lines.cut();
        return log;
    }

    /** Reads the file of another process, which may write a line now, and leaves the file as it is. */
    static List<RepairAttempt> read(Path file) throws IOException {
        return content(file).attempts();
    }

    private static RepairRecord.Content content(Path file) throws IOException {
        try {
            if (Files.size(file) > 2L * MOST_BYTES) {
                throw new IOException("more than " + 2 * MOST_BYTES + " bytes");
            }
            String text = new String(Files.readAllBytes(file), StandardCharsets.UTF_8);
            return RepairRecord.read(LineLog.wholeLines(text).lines().toList());
        } catch (NoSuchFileException e) {
            // The first repair creates it.
            return new RepairRecord.Content(List.of(), List.of());
        }
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
        return drained(step -> step.done() && step.name().equals(RepairAttempt.DRAIN));
    }

    /** Returns true also if a line that cannot be read may have been the drain. */
    synchronized boolean mayBeDrained() {
        return drained(step -> step.done() && step.name().equals(RepairAttempt.DRAIN)
                || step.name().equals(RepairAttempt.UNREADABLE));
    }

    private boolean drained(Predicate<Step> drains) {
        boolean drained = false;
        for (RepairAttempt attempt : attempts.values()) {
            for (Step step : attempt.steps()) {
                if (drains.test(step)) {
                    drained = true;
                } else if (step.done() && step.name().equals(RepairAttempt.RESUME)) {
                    drained = false;
                }
            }
        }
        return drained;
    }

    /** Begins an attempt. @throws IOException if the disk does not take it; then there is no attempt */
    synchronized RepairAttempt begin(Kind kind, Set<String> subjects, String why, String bootId) throws IOException {
        Instant now = clock.instant();
        if (lines.size() > MOST_BYTES) {
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

    /**
     * Adds a step, which is on the disk when this returns: call it before the act.
     *
     * @throws IOException if the disk does not take it; then the attempt has no such step, and the act must not begin
     */
    synchronized void step(RepairAttempt attempt, Step step) throws IOException {
        append(RepairRecord.step(attempt, step));
        attempts.computeIfPresent(attempt.id(), (id, before) -> before.with(step));
    }

    /** Adds an intent, before its act. See {@link #step}. */
    void intend(RepairAttempt attempt, String name, String target, String detail) throws IOException {
        step(attempt, new Step(name, target, true, detail, Duration.ZERO, clock.instant()));
    }

    /**
     * Adds the result of an act that ends now, and began at this time of {@link System#nanoTime}. It happened, whether the disk takes it or
     * not: it is kept in memory until the disk takes it, which is before any other line.
     */
    void record(RepairAttempt attempt, String name, String target, boolean done, String detail, long startNanos) {
        // The file has milliseconds.
        Duration time = Duration.ofMillis((System.nanoTime() - startNanos) / 1_000_000);
        result(attempt, new Step(name, target, done, detail, time, clock.instant()));
    }

    private synchronized void result(RepairAttempt attempt, Step step) {
        keep(RepairRecord.step(attempt, step));
        attempts.computeIfPresent(attempt.id(), (id, before) -> before.with(step));
    }

    /** Returns the attempt with its steps so far. */
    synchronized RepairAttempt current(RepairAttempt attempt) {
        return attempts.getOrDefault(attempt.id(), attempt);
    }

    /** Ends an attempt. Like a result, the end is kept until the disk takes it. */
    synchronized void end(RepairAttempt attempt, Outcome outcome, String detail) {
        End end = new End(clock.instant(), outcome, detail);
        keep(RepairRecord.end(attempt, end));
        attempts.computeIfPresent(attempt.id(), (id, before) -> before.with(end));
    }

    /**
     * Writes the results that the disk has not taken.
     *
     * @throws IOException if it does not take them now either
     */
    synchronized void flush() throws IOException {
        if (!kept.isEmpty()) {
            write("");
        }
    }

    private void append(String line) throws IOException {
        write(line + "\n");
    }

    private void keep(String line) {
        kept.append(line).append('\n');
        try {
            write("");
        } catch (IOException e) {
            LOG.log(Level.WARNING, "the record of repairs cannot be written, and is kept in memory: " + e.getMessage());
        }
    }

    private void write(String text) throws IOException {
        lines.append((kept + text).getBytes(StandardCharsets.UTF_8));
        kept.setLength(0);
    }

    /** Replaces the file as a whole by the attempts to keep. */
    private void rewrite(Predicate<RepairAttempt> keep) throws IOException {
        List<RepairAttempt> left = attempts.values().stream().filter(keep).toList();
        StringBuilder text = new StringBuilder();
        for (RepairAttempt attempt : left) {
            text.append(RepairRecord.begin(attempt)).append('\n');
            attempt.steps()
                    .forEach(step ->
                            text.append(RepairRecord.step(attempt, step)).append('\n'));
            attempt.end()
                    .ifPresent(
                            end -> text.append(RepairRecord.end(attempt, end)).append('\n'));
        }
        AtomicFile.replace(file, text.toString());
        attempts.values().removeIf(keep.negate());
        kept.setLength(0);
    }
}
