package dev.gpuwarden.daemon.view;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** Text and tables in HTML. */
final class Html {

    /** The colours and sizes of {@link BarChart}. */
    static final String CHART_STYLE = """
            svg { display: block; max-width: 46rem; width: 100%; height: auto; margin: .4rem 0 1rem; }
            svg text { fill: currentColor; font: 13px system-ui, sans-serif; }
            svg .ok { fill: var(--fill); } svg .low { fill: var(--bad); } svg .range { stroke: var(--text); stroke-width: 2; } svg .limit { stroke: var(--text); stroke-dasharray: 4 3; }
            """;

    private Html() {}

    /** Returns text without meaning in HTML, also inside an attribute in quotes. */
    static String escape(String text) {
        StringBuilder out = new StringBuilder(text.length() + 16);
        text.codePoints().forEach(c -> {
            switch (c) {
                case '&' -> out.append("&amp;");
                case '<' -> out.append("&lt;");
                case '>' -> out.append("&gt;");
                case '"' -> out.append("&quot;");
                case '\'' -> out.append("&#39;");
                default -> out.appendCodePoint(c);
            }
        });
        return out.toString();
    }

    /** Returns cells of texts. */
    static List<String> cells(String... texts) {
        return Stream.of(texts).map(Html::escape).toList();
    }

    /** Returns a table; the cells are HTML. On a narrow screen the style sheet shows each cell's head before it. */
    static String table(List<String> heads, Stream<List<String>> rows) {
        return "<div class=\"scroll\"><table><thead><tr>"
                + heads.stream().map(head -> "<th>" + escape(head) + "</th>").collect(Collectors.joining())
                + "</tr></thead><tbody>"
                + rows.map(row -> row(heads, row)).collect(Collectors.joining())
                + "</tbody></table></div>";
    }

    private static String row(List<String> heads, List<String> cells) {
        return IntStream.range(0, cells.size())
                .mapToObj(i -> "<td data-label=\"" + escape(heads.get(i)) + "\">" + cells.get(i) + "</td>")
                .collect(Collectors.joining("", "<tr>", "</tr>\n"));
    }
}
