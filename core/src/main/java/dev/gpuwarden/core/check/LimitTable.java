package dev.gpuwarden.core.check;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** A reader of tables of limits: board, name, value and source, separated by tabs. Lines that begin with # are comments. */
final class LimitTable {

    private static final String SHIPPED = "limits.tsv";

    private LimitTable() {}

    static List<BoardLimits.Row> shipped() {
        try (InputStream in = LimitTable.class.getResourceAsStream(SHIPPED)) {
            if (in == null) {
                throw new IllegalStateException(SHIPPED + " is not in this program");
            }
            BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
            return read(SHIPPED, reader.lines().toList());
        } catch (IOException e) {
            throw new UncheckedIOException(SHIPPED + " cannot be read", e);
        }
    }

    /**
     * Returns the rows.
     *
     * @throws IllegalStateException with the wrong line
     */
    static List<BoardLimits.Row> read(String file, List<String> lines) {
        List<BoardLimits.Row> rows = new ArrayList<>();
        Set<String> seen = new HashSet<>();
        for (int i = 0; i < lines.size(); i++) {
            String line = lines.get(i);
            if (line.isBlank() || line.startsWith("#")) {
                continue;
            }
            String at = file + ":" + (i + 1);
            BoardLimits.Row row = row(at, line.split("\t", -1));
            if (!seen.add(row.board() + "\t" + row.name())) {
                throw new IllegalStateException(at + ": a second " + row.name() + " of " + row.board());
            }
            rows.add(row);
        }
        return List.copyOf(rows);
    }

    private static BoardLimits.Row row(String at, String[] cells) {
        if (cells.length != 4 || cells[0].isBlank() || cells[3].isBlank()) {
            throw new IllegalStateException(at + ": expected board, name, value and source, separated by tabs");
        }
        if (!cells[1].matches("[a-z][a-z0-9]*(_[a-z0-9]+)*")) {
            throw new IllegalStateException(at + ": expected a name in lower-case words, but was '" + cells[1] + "'");
        }
        double value;
        try {
            value = Double.parseDouble(cells[2]);
        } catch (NumberFormatException e) {
            throw new IllegalStateException(at + ": expected a number, but was '" + cells[2] + "'", e);
        }
        return new BoardLimits.Row(cells[0], cells[1], value, at + ", " + cells[3]);
    }
}
