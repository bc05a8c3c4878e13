package dev.gpuwarden.runner;

import dev.gpuwarden.runner.jvm.Line;
import java.io.PrintStream;
import java.util.Locale;

/** The output of a test run. Thread-safe. */
public record Console(PrintStream out) {

    /** Prints one line, or several. */
    public synchronized void line(String text) {
        out.println(text);
    }

    /** Prints the result of a job: counts, time, and each failure in full. */
    public void ended(Outcome outcome) {
        ended(outcome.job().title(), outcome);
    }

    /** Prints the result of a job under another title. */
    synchronized void ended(String title, Outcome outcome) {
        out.printf(
                Locale.ROOT,
                "  %-24s %5d passed%s%s  %.1f s%n",
                title,
                outcome.count(Line.Kind.PASSED),
                many(outcome.count(Line.Kind.FAILED), "failed"),
                many(outcome.count(Line.Kind.SKIPPED), "skipped"),
                outcome.millis() / 1000.0);
        outcome.all(Line.Kind.FAILED).forEach(this::failure);
    }

    private static String many(int count, String what) {
        return count == 0 ? "" : ", " + count + " " + what;
    }

    private void failure(Line line) {
        String where = line.name().isEmpty() ? line.subject() : line.subject() + "#" + line.name();
        out.println("FAILED " + where);
        line.detail().lines().forEach(text -> out.println("    " + text));
    }
}
