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
    private static final int WIDTH = LABEL_WIDTH + BAR_WIDTH + 110;
    private static final int ROW = 22;
    private static final int HEAD = 24;
    private static final Pattern LIMIT = Pattern.compile("^at (?:least|most) (-?[0-9]+(?:\\.[0-9]+)?)");

    /**
     * A bar.
     *
     * @param good false where the finding is a complaint
     * @param expected the limit with its direction and source; empty where there is none
     */
    record Bar(String label, double value, boolean good, String expected) {

        Optional<Double> limit() {
            Matcher matcher = LIMIT.matcher(expected);
            return matcher.find() ? Optional.of(Double.parseDouble(matcher.group(1))) : Optional.empty();
        }
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
                finding.subject().label(), measured.value(), finding.outcome() == Outcome.PASS, measured.expected());
    }

    String svg() {
        double most = bars.stream()
                .mapToDouble(bar -> Math.max(bar.value(), bar.limit().orElse(0.0)))
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
                limit,
                LABEL_WIDTH + width + 6,
                top + 15,
                number(bar.value()));
    }

    private static String number(double value) {
        return value == Math.rint(value) && Math.abs(value) < 1e9
                ? String.format(Locale.ROOT, "%.0f", value)
                : String.format(Locale.ROOT, "%.4g", value);
    }
}
