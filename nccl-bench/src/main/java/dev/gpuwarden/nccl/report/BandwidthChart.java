package dev.gpuwarden.nccl.report;

import java.util.List;
import java.util.Locale;
import java.util.function.Function;
import java.util.stream.Collectors;

/** A picture of the bandwidth of the bus against the size of the message, as SVG: sizes are logarithmic, in and out of place are lines. */
public final class BandwidthChart {

    private static final int WIDTH = 800;
    private static final int HEIGHT = 450;
    private static final int LEFT = 70;
    private static final int RIGHT = 20;
    private static final int TOP = 50;
    private static final int BOTTOM = 60;
    private static final int LINES = 5;

    private final List<Row> rows;
    private final double smallest;
    private final double largest;
    private final double top;

    private BandwidthChart(List<Row> rows) {
        this.rows = rows;
        smallest = rows.stream().mapToDouble(row -> log(row.bytes())).min().orElse(0);
        largest = rows.stream().mapToDouble(row -> log(row.bytes())).max().orElse(1);
        double most = rows.stream()
                .mapToDouble(row -> Math.max(
                        row.outOfPlace().bandwidth().bus(),
                        row.inPlace().bandwidth().bus()))
                .filter(Double::isFinite)
                .max()
                .orElse(0);
        top = most > 0 ? most * 1.05 : 1;
    }

    /**
     * Returns the document.
     *
     * @param title one line
     * @param rows of one series
     */
    public static String svg(String title, List<Row> rows) {
        BandwidthChart chart = new BandwidthChart(rows);
        return "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " + WIDTH + " " + HEIGHT
                + "\" font-family=\"sans-serif\" font-size=\"12\">\n"
                + "<rect width=\"100%\" height=\"100%\" fill=\"white\"/>\n"
                + text(LEFT, 24, "start", title)
                + chart.grid()
                + chart.line("#1f77b4", row -> row.outOfPlace().bandwidth().bus())
                + chart.line("#d62728", row -> row.inPlace().bandwidth().bus())
                + legend(0, "#1f77b4", "out of place")
                + legend(120, "#d62728", "in place")
                + "</svg>\n";
    }

    private String grid() {
        StringBuilder grid = new StringBuilder();
        for (int i = 0; i <= LINES; i++) {
            double value = top * i / LINES;
            grid.append(String.format(
                    Locale.ROOT,
                    "<line x1=\"%d\" y1=\"%.1f\" x2=\"%d\" y2=\"%.1f\" stroke=\"#ddd\"/>%n",
                    LEFT,
                    y(value),
                    WIDTH - RIGHT,
                    y(value)));
            grid.append(text(LEFT - 6, y(value) + 4, "end", NumberText.fixed(value, 1)));
        }
        grid.append(text(LEFT, TOP - 8, "start", "bus bandwidth (GB/s)"));
        int every = Math.max(1, rows.size() / 10);
        for (int i = 0; i < rows.size(); i += every) {
            long bytes = rows.get(i).bytes();
            grid.append(text(x(bytes), HEIGHT - BOTTOM + 18, "middle", RunText.bytes(bytes)));
        }
        return grid.append(text((LEFT + WIDTH - RIGHT) / 2.0, HEIGHT - 14, "middle", "message size"))
                .toString();
    }

    private String line(String colour, Function<Row, Double> bus) {
        String points = rows.stream()
                .filter(row -> Double.isFinite(bus.apply(row)))
                .map(row -> String.format(Locale.ROOT, "%.1f,%.1f", x(row.bytes()), y(bus.apply(row))))
                .collect(Collectors.joining(" "));
        return "<polyline fill=\"none\" stroke=\"" + colour + "\" stroke-width=\"2\" points=\"" + points + "\"/>\n";
    }

    private double x(long bytes) {
        double span = largest > smallest ? largest - smallest : 1;
        return LEFT + (log(bytes) - smallest) / span * (WIDTH - LEFT - RIGHT);
    }

    private double y(double value) {
        return HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM);
    }

    private static double log(long bytes) {
        return Math.log(Math.max(1, bytes));
    }

    private static String legend(int at, String colour, String name) {
        int x = WIDTH - RIGHT - 240 + at;
        return "<rect x=\"" + x + "\" y=\"" + (TOP - 18) + "\" width=\"14\" height=\"4\" fill=\"" + colour + "\"/>\n"
                + text(x + 20, TOP - 12, "start", name);
    }

    private static String text(double x, double y, String anchor, String text) {
        String escaped = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;");
        return String.format(
                Locale.ROOT, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>%n", x, y, anchor, escaped);
    }
}
