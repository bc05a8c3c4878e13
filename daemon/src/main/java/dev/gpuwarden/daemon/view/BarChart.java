package dev.gpuwarden.daemon.view;

import dev.gpuwarden.core.health.Finding;
import dev.gpuwarden.core.health.Measurement;
import dev.gpuwarden.core.health.Outcome;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * A chart of one measured value, a bar for each part, as SVG. Pure.
 *
 * @param name of the value, with its unit as last words
 */
record BarChart(String name, List<Bar> bars) {

    private static final int LABEL_WIDTH = 190;
    private static final int BAR_WIDTH = 420;
    private static final int WIDTH = LABEL_WIDTH + BAR_WIDTH + 150;
    private static final int ROW = 22;
    private static final int HEAD = 24;
    private static final String LEAST = "least_";
    private static final String MOST = "most_";
    private static final Pattern LIMIT = Pattern.compile("^at (?:least|most) (-?[0-9]+(?:\\.[0-9]+)?)");

    /**
     * A bar.
     *
     * @param good false where the finding is a complaint
     * @param range the lowest and the highest value behind this one, which is their median; empty where it is a single one
     * @param expected the limit with its direction and source; empty where there is none
     */
    record Bar(String label, double value, boolean good, Optional<Range> range, String expected) {

        Optional<Double> limit() {
            Matcher matcher = LIMIT.matcher(expected);
            return matcher.find() ? Optional.of(Double.parseDouble(matcher.group(1))) : Optional.empty();
        }
    }

    /** The lowest and the highest of several values. */
    record Range(double least, double most) {

        private static Optional<Range> of(Finding finding, String name) {
            return value(finding, LEAST + name)
                    .flatMap(least -> value(finding, MOST + name).map(most -> new Range(least, most)));
        }

        private static Optional<Double> value(Finding finding, String name) {
            return finding.evidence().stream()
                    .filter(measured -> measured.name().equals(name))
                    .map(Measurement::value)
                    .findFirst();
        }
    }

    /** Returns whether a value has no chart of its own, because it is a bound of another value's range. */
    static boolean isBound(String name) {
        return name.startsWith(LEAST) || name.startsWith(MOST);
    }

    /** Returns the chart of the findings that have this value. */
    static BarChart of(String name, List<Finding> findings) {
        return new BarChart(
                name,
                findings.stream()
                        .flatMap(finding -> finding.evidence().stream()
                                .filter(measured -> measured.name().equals(name))
                                .map(measured -> bar(finding, measured)))
                        .toList());
    }

    private static Bar bar(Finding finding, Measurement measured) {
        return new Bar(
                finding.subject().label(),
                measured.value(),
                finding.outcome() == Outcome.PASS,
                Range.of(finding, measured.name()),
                measured.expected());
    }

    String svg() {
        double most = bars.stream()
                .mapToDouble(bar -> Math.max(
                        Math.max(bar.value(), bar.range().map(Range::most).orElse(0.0)),
                        bar.limit().orElse(0.0)))
                .max()
                .orElse(0);
        double scale = most > 0 && Double.isFinite(most) ? BAR_WIDTH / most : 0;
        StringBuilder svg = new StringBuilder(String.format(
                Locale.ROOT,
                "<svg viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\"><text x=\"0\" y=\"15\">%s</text>",
                WIDTH,
                HEAD + ROW * bars.size() + 4,
                title(),
                title()));
        for (int i = 0; i < bars.size(); i++) {
            svg.append(row(bars.get(i), HEAD + ROW * i, scale));
        }
        return svg.append("</svg>\n").append(limits()).toString();
    }

    /** Returns the limits with their sources, each once. */
    private String limits() {
        String limits = bars.stream()
                .map(Bar::expected)
                .filter(text -> !text.isEmpty())
                .distinct()
                .collect(Collectors.joining("; "));
        return limits.isEmpty() ? "" : "<p class=\"quiet\">Expected: " + Html.escape(limits) + "</p>\n";
    }

    private String title() {
        return Html.escape(name.replace('_', ' '));
    }

    private static String row(Bar bar, int top, double scale) {
        double width = Double.isFinite(bar.value()) ? Math.max(0, bar.value() * scale) : 0;
        String limit = bar.limit()
                .map(value -> String.format(
                        Locale.ROOT,
                        "<line class=\"limit\" x1=\"%1$.1f\" x2=\"%1$.1f\" y1=\"%2$d\" y2=\"%3$d\"/>",
                        LABEL_WIDTH + value * scale,
                        top,
                        top + ROW - 2))
                .orElse("");
        String range = bar.range()
                .map(bounds -> String.format(
                        Locale.ROOT,
                        "<line class=\"range\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%3$d\" y2=\"%3$d\"/>",
                        LABEL_WIDTH + bounds.least() * scale,
                        LABEL_WIDTH + bounds.most() * scale,
                        top + ROW / 2 - 1))
                .orElse("");
        String ends = bar.range()
                .filter(bounds -> bounds.least() != bounds.most())
                .map(bounds -> " (" + number(bounds.least()) + " to " + number(bounds.most()) + ")")
                .orElse("");
        double right =
                Math.max(width, bar.range().map(bounds -> bounds.most() * scale).orElse(0.0));
        return String.format(
                Locale.ROOT,
                "<g><title>%s</title><text x=\"0\" y=\"%d\">%s</text>"
                        + "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>%s"
                        + "<text x=\"%.1f\" y=\"%d\">%s</text></g>",
                Html.escape(bar.expected().isEmpty() ? "no limit" : bar.expected()),
                top + 15,
                Html.escape(bar.label()),
                bar.good() ? "ok" : "low",
                LABEL_WIDTH,
                top + 2,
                width,
                ROW - 6,
                range + limit,
                LABEL_WIDTH + right + 6,
                top + 15,
                number(bar.value()) + ends);
    }

    private static String number(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e9
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, "%.4g", value);
    }
}
