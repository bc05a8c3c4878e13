package dev.gpuwarden.benchmarks;

import dev.gpuwarden.core.SuppressForbidden;
import java.io.IOException;
import java.io.PrintStream;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;

/**
 * All attackers, in a separate process. They share the processors with their targets, so the operating system runs them at
 * the lowest priority (nice 19), and each keeps its pace. They run until standard input ends.
 */
final class Attackers {

    private static final int THREADS = 24;
    private static final int REPORT_SECONDS = 5;

    private Attackers() {}

    /** Arguments: {@link AttackTargets}. */
    @SuppressForbidden("a program of its own: reports what it did")
    public static void main(String[] args) throws Exception {
        AttackTargets targets = AttackTargets.of(List.of(args));
        AttackTally tally = new AttackTally();
        ScheduledExecutorService timer = Executors.newScheduledThreadPool(THREADS, task -> {
            Thread thread = new Thread(task, "attacker");
            thread.setDaemon(true);
            return thread;
        });
        new HostileBrowsers(targets, tally).begin(timer);
        new HostileReporters(targets, tally).begin(timer);
        new HostileNodes(targets, tally).begin(timer);
        new HostileExpressions(targets, tally).begin(timer);
        var unused = timer.scheduleWithFixedDelay(
                () -> report(System.out, tally), REPORT_SECONDS, REPORT_SECONDS, TimeUnit.SECONDS);
        awaitEnd();
        System.exit(0);
    }

    /** Prints the whole tally, with an empty line at its end. The last report counts. */
    private static void report(PrintStream out, AttackTally tally) {
        StringBuilder text = new StringBuilder();
        tally.counts().forEach((what, count) -> text.append(String.format(Locale.ROOT, "  %-70s %9d%n", what, count)));
        out.println(text);
        out.flush();
    }

    private static void awaitEnd() throws IOException {
        while (System.in.read() >= 0) {
            // Ignores the content, which has no meaning.
        }
    }
}
