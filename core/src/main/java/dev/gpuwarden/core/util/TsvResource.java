package dev.gpuwarden.core.util;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/** A reader of the tables in the jars: columns between tabs, and lines with `#` that name their source. */
public final class TsvResource {

    private TsvResource() {}

    /** Reads a table whose first column is a number, and returns its rows by that number. */
    public static <T> Map<Integer, T> byNumber(Class<?> owner, String name, int columns, Function<String[], T> row) {
        Map<Integer, T> rows = new HashMap<>();
        read(owner, name, columns, cells -> rows.put(Integer.valueOf(cells[0]), row.apply(cells)));
        return rows;
    }

    /**
     * Reads a table that lies beside a class, and returns what each row becomes.
     *
     * @throws IllegalStateException with table and row where a table is broken, which is an error of the program
     */
    public static <T> List<T> read(Class<?> owner, String name, int columns, Function<String[], T> row) {
        List<T> rows = new ArrayList<>();
        String seen = "";
        try (InputStream in = owner.getResourceAsStream(name)) {
            if (in == null) {
                throw new IllegalStateException(name + " is not in the jar");
            }
            BufferedReader lines = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                seen = line;
                if (!line.startsWith("#")) {
                    String[] cells = line.split("\t", -1);
                    if (cells.length != columns) {
                        throw new IllegalArgumentException("expected " + columns + " columns, seen " + cells.length);
                    }
                    rows.add(row.apply(cells));
                }
            }
        } catch (IOException e) {
            throw new UncheckedIOException(name, e);
        } catch (IllegalArgumentException e) {
            throw new IllegalStateException(name + ": " + e.getMessage() + ": " + seen, e);
        }
        return rows;
    }
}
