package dev.gpuwarden.runner;

import dev.gpuwarden.runner.jvm.Line;
import dev.gpuwarden.runner.jvm.Tier;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** The text of a run's results. Pure. */
record Summary(List<Outcome> outcomes) {

    private static final int SLOWEST = 10;

    int count(Line.Kind kind) {
        return outcomes.stream().mapToInt(outcome -> outcome.count(kind)).sum();
    }

    /** Returns the last line, which programs read. */
    String total() {
        return String.format(
                Locale.ROOT,
                "%d passed, %d failed, %d skipped",
                count(Line.Kind.PASSED),
                count(Line.Kind.FAILED),
                count(Line.Kind.SKIPPED));
    }

    /** Returns all skipped tests, with their reasons. */
    List<String> skipped() {
        return outcomes.stream()
                .flatMap(outcome -> outcome.all(Line.Kind.SKIPPED).stream())
                .map(line -> "  " + line.subject() + (line.name().isEmpty() ? "" : "#" + line.name()) + ": "
                        + line.detail().lines().findFirst().orElse("no reason given"))
                .toList();
    }

    /** Returns the seconds of test JVMs by tier; parallel lanes need less than their sum. */
    String tiers() {
        Map<Tier, Long> millis = new TreeMap<>();
        outcomes.forEach(outcome -> millis.merge(outcome.job().tier(), outcome.millis(), Long::sum));
        return millis.entrySet().stream()
                .map(entry ->
                        String.format(Locale.ROOT, "%s %.0f s", entry.getKey().tag(), entry.getValue() / 1000.0))
                .collect(Collectors.joining(", "));
    }

    /** Returns the slowest classes, the slowest first. */
    List<String> slowest() {
        return classes().stream()
                .sorted(Comparator.comparingLong(Line::millis).reversed())
                .limit(SLOWEST)
                .map(line -> String.format(Locale.ROOT, "  %6.1f s  %s", line.millis() / 1000.0, line.subject()))
                .toList();
    }

    /** Returns the classes over a limit that are not on the list. */
    List<Line> over(long limitMillis, SlowClasses list) {
        return classes().stream()
                .filter(line -> line.millis() > limitMillis && !list.has(line.subject()))
                .toList();
    }

    /** Returns the message for a class over the limit. */
    static String tooSlow(Line line) {
        return String.format(
                Locale.ROOT,
                "%s: expected at most %d s, took %.1f s: make it faster, or give its reason in slow-classes.tsv",
                line.subject(),
                SlowClasses.LIMIT_MILLIS / 1000,
                line.millis() / 1000.0);
    }

    private List<Line> classes() {
        return outcomes.stream()
                .filter(outcome -> outcome.job().tier() != Tier.SOAK)
                .flatMap(outcome -> outcome.all(Line.Kind.CLASS).stream())
                .toList();
    }

    /** The test classes that may take long, each with its reason: `slow-classes.tsv`. */
    record SlowClasses(Set<String> names) {

        /** Limit of any other class. One that is over it beside other lanes, which double most times, is measured alone. */
        static final long LIMIT_MILLIS = 30_000;

        static SlowClasses listed() {
            return new SlowClasses(Table.rows("slow-classes.tsv").stream()
                    .map(row -> row.split("\\s+", 2))
                    .peek(row -> {
                        if (row.length != 2) {
                            throw new IllegalArgumentException(
                                    "slow-classes.tsv: expected a class and a reason, seen " + row[0]);
                        }
                    })
                    .map(row -> row[0])
                    .collect(Collectors.toSet()));
        }

        boolean has(String className) {
            return names.contains(className);
        }
    }
}
