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
 * All attackers, as a process of their own: they share the processors with what they attack, so the operating system lets them run
 * where nothing else wants to (nice 19), and each keeps to a pace. They go on until standard input ends.
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

    /** All of it, ended by an empty line: what is told last counts. */
    private static void report(PrintStream out, AttackTally tally) {
        StringBuilder text = new StringBuilder();
        tally.counts().forEach((what, count) -> text.append(String.format(Locale.ROOT, "  %-70s %9d%n", what, count)));
        out.println(text);
        out.flush();
    }

    private static void awaitEnd() throws IOException {
        while (System.in.read() >= 0) {
            // What stands there means nothing.
        }
    }
}
