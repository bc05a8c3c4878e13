package dev.gpuwarden.daemon.view;

import dev.gpuwarden.core.check.CheckResult;
import dev.gpuwarden.core.check.MeasuredGpus;
import dev.gpuwarden.core.check.NodeVerdict;
import dev.gpuwarden.core.event.Fault;
import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Outcome;
import dev.gpuwarden.core.health.Verdict;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The conclusion from checks that a user ran. Some checks are no verdict on the node, and a GPU that was in use was not measured. Pure.
 *
 * @param all whether these are all checks of the node
 * @param faults the daemon's current faults; empty without a daemon
 * @param measured the GPUs that checks with a load measured
 * @param partial whether the user takes a result without the GPUs that were not measured
 */
public record CheckSummary(
        List<CheckResult> results,
        boolean all,
        boolean byDaemon,
        List<Fault> faults,
        MeasuredGpus measured,
        boolean partial) {

    /** A bound on the parts that a line names. */
    private static final int MOST_PARTS = 4;

    private static final List<Outcome> ORDER =
            List.of(Outcome.FAIL, Outcome.WARN, Outcome.UNKNOWN, Outcome.PASS, Outcome.SKIPPED);

    /** Returns the verdict over these checks; on the node if these are all. */
    public Verdict verdict() {
        return incomplete() ? Verdict.UNDECIDED : checked();
    }

    private Verdict checked() {
        return all ? NodeVerdict.of(results, faults) : NodeVerdict.of(results);
    }

    /** Returns true if GPUs that were not measured are all that is missing to a pass. */
    boolean incomplete() {
        return checked() == Verdict.FIT && !measured.complete() && !partial;
    }

    /** Returns the lines after the findings: what was measured, and the conclusion. */
    public List<String> lines() {
        List<String> lines = new ArrayList<>();
        if (!measured.complete()) {
            lines.add("measured: " + measured.text());
            measured.reasons().forEach(reason -> lines.add("  not measured: " + reason));
        }
        lines.add((all ? "verdict: " : names() + ": ") + conclusion() + (all ? "" : " (" + ofNode() + ")"));
        return lines;
    }

    /** Returns for example "fit (23 checks passed)" or "passed". */
    public String conclusion() {
        return conclusion(count(passed(), "check") + " passed" + (byDaemon ? ", run by the daemon" : ""));
    }

    /** @param passed text behind the verdict FIT on the node */
    public String conclusion(String passed) {
        if (incomplete()) {
            return "INCOMPLETE (measured: " + measured.text() + "); free the GPUs and run it again, or --allow-partial";
        }
        String part = measured.complete() ? "" : ", as far as measured (" + measured.text() + ")";
        List<Finding> findings = NodeVerdict.findings(results);
        return switch (checked()) {
            case FIT ->
                (all ? "fit" : "passed")
                        + part
                        + warnings(findings)
                        + (all ? " (" + passed + ")" : byDaemon ? ", run by the daemon" : "");
            case NOT_FIT -> (all ? "not fit (" : "failed, ") + wrong(findings) + (all ? ")" : "") + part;
            case UNDECIDED -> "could not decide (" + undecided(findings) + ")";
        };
    }

    private String wrong(List<Finding> findings) {
        long failed = findings.stream().filter(f -> f.outcome() == Outcome.FAIL).count();
        if (!all || fatal() == 0) {
            return count(failed, "fault");
        }
        return count(failed, "failing finding") + ", " + count(fatal(), "fatal fault") + ": gpuwarden status";
    }

    private String names() {
        return results.stream().map(result -> result.check().id()).distinct().collect(Collectors.joining(", "));
    }

    private String ofNode() {
        String no = "this is not the verdict of the node: ";
        if (fatal() > 0) {
            return no + "it has " + count(fatal(), "fatal fault") + ", gpuwarden status";
        }
        return no + (byDaemon ? "gpuwarden status" : "gpuwarden scan");
    }

    private long fatal() {
        return faults.stream()
                .filter(Fault::decides)
                .map(fault -> fault.cause().id())
                .distinct()
                .count();
    }

    private long passed() {
        return results.stream()
                .filter(result -> result.outcome() == Outcome.PASS || result.outcome() == Outcome.WARN)
                .count();
    }

    /** Returns the unknown codes. */
    public static String undecided(List<Finding> findings) {
        String unknown = findings.stream()
                .filter(f -> f.outcome() == Outcome.UNKNOWN)
                .map(Finding::code)
                .distinct()
                .collect(Collectors.joining(", "));
        return unknown.isEmpty() ? "nothing was checked" : unknown;
    }

    /** Returns ", with 2 warnings: GPU 6: temperature-high, hw-thermal-slowdown"; empty without warnings. */
    public static String warnings(List<Finding> findings) {
        Map<String, List<String>> byPart = new LinkedHashMap<>();
        findings.stream()
                .filter(finding -> finding.outcome() == Outcome.WARN)
                .forEach(finding -> byPart.computeIfAbsent(part(finding), any -> new ArrayList<>())
                        .add(finding.code()));
        if (byPart.isEmpty()) {
            return "";
        }
        long all = byPart.values().stream().mapToLong(List::size).sum();
        return ", with " + count(all, "warning") + ": "
                + byPart.entrySet().stream()
                        .limit(MOST_PARTS)
                        .map(part -> part.getKey() + ": "
                                + part.getValue().stream().distinct().collect(Collectors.joining(", ")))
                        .collect(Collectors.joining("; "))
                + (byPart.size() > MOST_PARTS ? "; " + count(byPart.size() - MOST_PARTS, "more part") : "");
    }

    /** Returns "GPU 6" of "GPU 6 (0000:c0:00.0)". */
    private static String part(Finding finding) {
        return finding.subject().label().replaceFirst("^(GPU \\d+) \\(.*", "$1");
    }

    public static String count(long count, String what) {
        return count + " " + what + (count == 1 ? "" : "s");
    }

    /** Returns the counts of findings by outcome: "7 pass, 1 fail". */
    public static String parts(List<Finding> findings) {
        String parts = ORDER.stream()
                .map(outcome -> parts(findings, outcome))
                .filter(text -> !text.isEmpty())
                .collect(Collectors.joining(", "));
        return parts.isEmpty() ? "does not apply" : parts;
    }

    private static String parts(List<Finding> findings, Outcome outcome) {
        long count = findings.stream().filter(f -> f.outcome() == outcome).count();
        return count == 0 ? "" : count + " " + outcome.name().toLowerCase(Locale.ROOT);
    }
}
