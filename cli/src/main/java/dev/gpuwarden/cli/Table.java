package dev.gpuwarden.cli;

import dev.gpuwarden.core.util.Text;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** A table with aligned columns. Cells may hold any text: control characters are shown, and never sent to the terminal. */
public final class Table {

    private record Cell(String text, int width, Style style) {
        static Cell of(Object value) {
            Style style = value instanceof Styled styled ? styled.style() : Style.NONE;
            String text = escape(String.valueOf(value));
            return new Cell(text, columns(text), style);
        }
    }

    /** The style of a cell on a terminal with colours. */
    public enum Style {
        NONE(""),
        GOOD("\u001b[32m"),
        WARNING("\u001b[33m"),
        BAD("\u001b[31m"),
        FAINT("\u001b[2m"),
        HEADER("\u001b[1m");

        private final String start;

        Style(String start) {
            this.start = start;
        }
    }

    /** The text of a cell with its style; made by {@link #styled}. */
    public record Styled(String text, Style style) {
        @Override
        public String toString() {
            return text;
        }
    }

    private final List<Cell[]> rows = new ArrayList<>();

    public Table(String... header) {
        Cell[] cells = new Cell[header.length];
        for (int i = 0; i < header.length; i++) {
            cells[i] = Cell.of(new Styled(header[i], Style.HEADER));
        }
        rows.add(cells);
    }

    /**
     * Adds a row; {@link #styled} cells have colour.
     *
     * @throws IllegalArgumentException where it has more or fewer cells than the header
     */
    public Table row(Object... cells) {
        if (cells.length != rows.get(0).length) {
            throw new IllegalArgumentException(cells.length + " cells under " + rows.get(0).length + " headers");
        }
        Cell[] row = new Cell[cells.length];
        for (int i = 0; i < cells.length; i++) {
            row[i] = Cell.of(cells[i]);
        }
        rows.add(row);
        return this;
    }

    /** Returns a cell with colour, which shows on a terminal only. */
    public static Styled styled(Style style, Object text) {
        return new Styled(String.valueOf(text), style);
    }

    /** Prints the table, in colour where the writer ends on a terminal that permits it. */
    public void print(PrintWriter out) {
        print(out, ConsoleWriter.colour(out));
    }

    void print(PrintWriter out, boolean colour) {
        int columns = rows.get(0).length;
        int[] width = new int[columns];
        for (Cell[] row : rows) {
            for (int i = 0; i < columns; i++) {
                width[i] = Math.max(width[i], row[i].width());
            }
        }
        for (Cell[] row : rows) {
            StringBuilder line = new StringBuilder();
            int owed = 0;
            for (int i = 0; i < columns; i++) {
                Cell cell = row[i];
                if (!cell.text().isEmpty()) {
                    line.append(" ".repeat(owed)).append(paint(cell, colour));
                    owed = 0;
                }
                owed += width[i] - cell.width() + 2;
            }
            out.println(line);
        }
    }

    private static String paint(Cell cell, boolean colour) {
        return colour && cell.style() != Style.NONE ? cell.style().start + cell.text() + "\u001b[0m" : cell.text();
    }

    /** Returns untrusted text in a form that is safe for a terminal: control and format characters become `\\u....`. */
    public static String escape(String text) {
        StringBuilder safe = new StringBuilder(text.length());
        text.codePoints().forEach(c -> {
            if (Text.isVisible(c)) {
                safe.appendCodePoint(c);
            } else {
                safe.append(String.format(Locale.ROOT, "\\u%04x", c));
            }
        });
        return safe.toString();
    }

    /** Returns the number of terminal columns of a text: none for combining marks, two for wide characters. */
    static int columns(String text) {
        return text.codePoints().map(Table::columns).sum();
    }

    private static int columns(int c) {
        int type = Character.getType(c);
        if (type == Character.NON_SPACING_MARK || type == Character.ENCLOSING_MARK) {
            return 0;
        }
        // The wide blocks of Unicode's EastAsianWidth.txt (version 15), in coarse ranges.
        boolean wide = c >= 0x1100
                && (c <= 0x115f
                        || c >= 0x2e80 && c <= 0x303e
                        || c >= 0x3041 && c <= 0xa4cf
                        || c >= 0xac00 && c <= 0xd7a3
                        || c >= 0xf900 && c <= 0xfaff
                        || c >= 0xfe30 && c <= 0xfe6f
                        || c >= 0xff00 && c <= 0xff60
                        || c >= 0xffe0 && c <= 0xffe6
                        || c >= 0x1f300 && c <= 0x1f64f
                        || c >= 0x1f900 && c <= 0x1f9ff
                        || c >= 0x20000 && c <= 0x3fffd);
        return wide ? 2 : 1;
    }
}
