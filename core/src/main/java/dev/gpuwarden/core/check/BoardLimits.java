package dev.gpuwarden.core.check;

import dev.gpuwarden.core.model.GpuIdentity;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;

/**
 * Limits by board. The user's rows come before the shipped ones. Among each, the row whose board matches most of the
 * GPU's product name applies.
 *
 * <p>A name without a shipped row is a bug in the caller and is thrown; so is a limit that nothing can look up.
 */
public final class BoardLimits implements Limits {

    /** The board of rows for any board and for the node itself. */
    public static final String ANY = "*";

    /**
     * One limit.
     *
     * @param board whole words at the beginning of the product name that NVML reports, or {@link #ANY}. "NVIDIA
     *     A10" is neither "NVIDIA A100-SXM4-80GB" nor "NVIDIA A10G"
     * @param source file and line, and the origin of the value as noted there
     */
    public record Row(String board, String name, double value, String source) {}

    private final List<Row> user;
    private final List<Row> shipped;
    private final Set<String> names;

    private BoardLimits(List<Row> user, List<Row> shipped) {
        this.user = List.copyOf(user);
        this.shipped = List.copyOf(shipped);
        this.names = new TreeSet<>(shipped.stream().map(Row::name).toList());
    }

    /** Returns the shipped limits. */
    public static BoardLimits shipped() {
        return new BoardLimits(List.of(), LimitTable.shipped());
    }

    /** Returns these limits with the user's rows before them. */
    public BoardLimits overriddenBy(List<Row> rows) {
        rows.forEach(row -> known(row.name()));
        List<Row> all = new ArrayList<>(user);
        all.addAll(rows);
        return new BoardLimits(all, shipped);
    }

    /** Returns all names in alphabetical order. */
    public Set<String> names() {
        return Set.copyOf(names);
    }

    /** Returns every shipped row, as in the table. */
    public List<Row> rows() {
        return shipped;
    }

    @Override
    public Optional<Limit> of(String name, GpuIdentity gpu) {
        String product = gpu.name().asOptional().orElse("");
        known(name);
        return best(user, name, product).or(() -> best(shipped, name, product)).map(BoardLimits::limit);
    }

    @Override
    public Optional<Limit> of(String name) {
        known(name);
        return best(user, name, "").or(() -> best(shipped, name, "")).map(BoardLimits::limit);
    }

    private void known(String name) {
        if (!names.contains(name)) {
            throw new IllegalArgumentException("no limit is called '" + name + "'");
        }
    }

    private static Optional<Row> best(List<Row> rows, String name, String product) {
        Row best = null;
        int most = -1;
        for (Row row : rows) {
            int said = row.name().equals(name) ? said(row.board(), product) : -1;
            // The user's row comes later, and wins over an equal one.
            if (said >= Math.max(most, 0)) {
                most = said;
                best = row;
            }
        }
        return Optional.ofNullable(best);
    }

    /** Returns the number of characters of the product name that the board matches; -1 for another board. */
    static int said(String board, String product) {
        if (board.equals(ANY)) {
            return 0;
        }
        int length = board.length();
        boolean whole = product.length() == length
                || product.length() > length && !Character.isLetterOrDigit(product.charAt(length));
        return whole && product.startsWith(board) ? length : -1;
    }

    private static Limit limit(Row row) {
        return new Limit(row.name(), row.value(), row.source());
    }

    /** A reader of tables of limits: board, name, value and source, separated by tabs. Lines that begin with # are comments. */
    static final class LimitTable {

        private static final String SHIPPED = "limits.tsv";

        private LimitTable() {}

        static List<Row> shipped() {
            try (InputStream in = BoardLimits.class.getResourceAsStream(SHIPPED)) {
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
        static List<Row> read(String file, List<String> lines) {
            List<Row> rows = new ArrayList<>();
            Set<String> seen = new HashSet<>();
            for (int i = 0; i < lines.size(); i++) {
                String line = lines.get(i);
                if (line.isBlank() || line.startsWith("#")) {
                    continue;
                }
                String at = file + ":" + (i + 1);
                Row row = row(at, line.split("\t", -1));
                if (!seen.add(row.board() + "\t" + row.name())) {
                    throw new IllegalStateException(at + ": a second " + row.name() + " of " + row.board());
                }
                rows.add(row);
            }
            return List.copyOf(rows);
        }

        private static Row row(String at, String[] cells) {
            if (cells.length != 4 || cells[0].isBlank() || cells[3].isBlank()) {
                throw new IllegalStateException(at + ": expected board, name, value and source, separated by tabs");
            }
            if (!cells[1].matches("[a-z][a-z0-9]*(_[a-z0-9]+)*")) {
                throw new IllegalStateException(
                        at + ": expected a name in lower-case words, but was '" + cells[1] + "'");
            }
            double value;
            try {
                value = Double.parseDouble(cells[2]);
            } catch (NumberFormatException e) {
                throw new IllegalStateException(at + ": expected a number, but was '" + cells[2] + "'", e);
            }
            return new Row(cells[0], cells[1], value, at + ", " + cells[3]);
        }
    }
}
