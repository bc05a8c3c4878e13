package dev.gpuwarden.testkit.command;

import java.io.PrintWriter;
import java.time.Duration;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;

/** Runs and prints the steps of a demo, up to the first whose checks fail within its limit. */
final class ClusterDemoRunner {

    /** Checks start programs: a shorter interval would slow the cluster that they check. */
    private static final Duration POLL = Duration.ofMillis(500);

    private final Function<String, String> query;
    private final PrintWriter out;
    private final Duration poll;

    /** @param query returns the output of a command; an exception counts as no output */
    ClusterDemoRunner(Function<String, String> query, PrintWriter out) {
        this(query, out, POLL);
    }

    ClusterDemoRunner(Function<String, String> query, PrintWriter out, Duration poll) {
        this.query = query;
        this.out = out;
        this.poll = poll;
    }

    /** Returns true when all steps succeeded; skips the steps after a failed one. */
    boolean run(List<Step> steps) {
        for (Step step : steps) {
            if (!run(step)) {
                return false;
            }
        }
        return true;
    }

    private boolean run(Step step) {
        printLine("\n" + step.title());
        try {
            step.action().run();
        } catch (IllegalStateException e) {
            printLine("NOT DONE: " + e.getMessage());
            return false;
        }
        if (step.checks().isEmpty()) {
            return true;
        }
        long since = System.nanoTime();
        Map<String, String> shown = new LinkedHashMap<>();
        boolean matches = matches(step, shown);
        while (!matches && System.nanoTime() - since < step.limit().toNanos()) {
            LockSupport.parkNanos(poll.toNanos());
            matches = matches(step, shown);
        }
        double seconds = (System.nanoTime() - since) / 1e9;
        print(step, shown);
        printLine(String.format(
                Locale.ROOT,
                "%s %.1f s (limit %.0f s)",
                matches ? "seen after" : "NOT SEEN within",
                seconds,
                step.limit().toMillis() / 1e3));
        return matches;
    }

    /** Runs the checks up to the first that fails; runs equal commands once. */
    private boolean matches(Step step, Map<String, String> shown) {
        shown.clear();
        return step.checks().stream()
                .allMatch(each -> each.expected().matches(shown.computeIfAbsent(each.command(), this::show)));
    }

    /** Prints the outputs that were checked, not later ones. */
    private void print(Step step, Map<String, String> shown) {
        Set<String> printed = new HashSet<>();
        for (ClusterDemoCheck each : step.checks()) {
            String text = shown.computeIfAbsent(each.command(), this::show);
            if (printed.add(each.command())) {
                printLine(each.title() + "\n" + text.stripTrailing());
            }
            if (!each.expected().matches(text)) {
                printLine("expected " + (each.expected().shown() ? "" : "no ")
                        + each.expected().line());
            }
        }
    }

    private String show(String command) {
        try {
            return query.apply(command);
        } catch (IllegalStateException notNow) {
            return "";
        }
    }

    private void printLine(String line) {
        out.println(line);
        out.flush();
    }

    /**
     * An action on a cluster and the checks of its effect.
     *
     * @param checks that must all succeed; the most expensive last
     * @param limit of the time until all checks succeed
     */
    record Step(String title, Runnable action, List<ClusterDemoCheck> checks, Duration limit) {}

    /**
     * A command and a line of its output by which a demo checks a cluster.
     *
     * @param command a line of shell with kubectl and gpuwarden; or {@link #PAGE} and a node's name for the page of a node, or
     *     {@link #PAGE} alone for the access check of the page
     */
    record ClusterDemoCheck(String command, ExpectedLine expected) {

        /** The aggregator's page. */
        static final String PAGE = "page ";

        static ClusterDemoCheck of(String command, String line) {
            return new ClusterDemoCheck(command, ExpectedLine.of(line));
        }

        /** Returns the title of the output. */
        String title() {
            if (!command.startsWith(PAGE)) {
                return "$ " + command;
            }
            return command.equals(PAGE)
                    ? "the page, by a port-forward, answers"
                    : "the page, by a port-forward and with a token, shows of " + command.substring(PAGE.length());
        }
    }
}
