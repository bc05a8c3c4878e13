package dev.gpuwarden.checks.history;

import dev.gpuwarden.core.check.RateHistory.Series;
import dev.gpuwarden.core.compute.RateSeries;
import dev.gpuwarden.core.util.Text;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The rates of all GPUs as lines of text: GPU, work, settings and rates, with tabs between them. The series that changed last is the last
 * line, and the first one leaves when there is no room. Not thread-safe.
 */
final class RateTable {

    static final String HEAD = "gpuwarden rates 1";

    /** Bound on series: 64 GPUs with eight kinds of work. */
    private static final int MOST_SERIES = 512;

    private static final int MOST_TEXT = 200;

    private final Map<Key, RateSeries> series = new LinkedHashMap<>();

    private record Key(String gpu, String work) {}

    /**
     * Reads a table.
     *
     * @throws IllegalArgumentException with the number of the line that is wrong, and the reason
     */
    static RateTable parse(List<String> lines) {
        if (lines.isEmpty() || !lines.get(0).equals(HEAD)) {
            throw new IllegalArgumentException("line 1: expected \"" + HEAD + "\"");
        }
        if (lines.size() > MOST_SERIES + 1) {
            throw new IllegalArgumentException(
                    "expected at most " + MOST_SERIES + " series, seen " + (lines.size() - 1));
        }
        RateTable table = new RateTable();
        for (int i = 1; i < lines.size(); i++) {
            try {
                table.add(lines.get(i).split("\t", -1));
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("line " + (i + 1) + ": " + e.getMessage());
            }
        }
        return table;
    }

    private void add(String[] fields) {
        if (fields.length != 4) {
            throw new IllegalArgumentException("expected 4 fields, seen " + fields.length);
        }
        List<Double> rates = new ArrayList<>();
        for (String rate : fields[3].split(",", -1)) {
            double value = Double.parseDouble(rate);
            if (!isRate(value)) {
                throw new IllegalArgumentException("\"" + rate + "\" is no rate");
            }
            rates.add(value);
        }
        if (rates.size() > RateSeries.MOST) {
            throw new IllegalArgumentException("expected at most " + RateSeries.MOST + " rates, seen " + rates.size());
        }
        series.put(new Key(fields[0], fields[1]), new RateSeries(fields[2], rates));
    }

    private static boolean isRate(double value) {
        return Double.isFinite(value) && value > 0;
    }

    List<Double> earlier(String gpu, String work, String settings) {
        RateSeries known = series.get(key(gpu, work));
        return known != null && known.settings().equals(text(settings)) ? known.rates() : List.of();
    }

    /** Adds a rate. Returns false for a value that is none. */
    boolean keep(String gpu, String work, String settings, double rate) {
        if (!isRate(rate)) {
            return false;
        }
        Key key = key(gpu, work);
        RateSeries known = series.remove(key);
        String now = text(settings);
        series.put(key, (known == null ? RateSeries.of(now) : known).after(now, rate));
        if (series.size() > MOST_SERIES) {
            series.remove(series.keySet().iterator().next());
        }
        return true;
    }

    List<Series> series(Collection<String> gpus) {
        return series.entrySet().stream()
                .filter(entry -> gpus.contains(entry.getKey().gpu()))
                .map(entry -> new Series(
                        entry.getKey().gpu(),
                        entry.getKey().work(),
                        entry.getValue().settings(),
                        entry.getValue().rates()))
                .toList();
    }

    List<String> lines() {
        List<String> lines = new ArrayList<>(List.of(HEAD));
        series.forEach((key, own) -> lines.add(String.join(
                "\t",
                key.gpu(),
                key.work(),
                own.settings(),
                own.rates().stream().map(String::valueOf).collect(Collectors.joining(",")))));
        return lines;
    }

    private static Key key(String gpu, String work) {
        return new Key(text(gpu), text(work));
    }

    /** Returns text without the characters that have a meaning in the file. */
    private static String text(String any) {
        String clean = any.replaceAll("\\p{Cntrl}", " ");
        return Text.head(clean, MOST_TEXT);
    }
}
