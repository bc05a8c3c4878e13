package dev.gpuwarden.benchmarks;

import java.io.PrintStream;
import java.util.Locale;
import java.util.stream.DoubleStream;
import org.HdrHistogram.Histogram;

/** The output of the benchmarks. */
final class Figures {

    private Figures() {}

    /** Prints one line, visible immediately, also if the output is a pipe. */
    static void printLine(PrintStream out, String format, Object... values) {
        out.println(String.format(Locale.ROOT, format, values));
        out.flush();
    }

    /** Returns seconds since a time of {@link System#nanoTime}. */
    static double seconds(long since) {
        return (System.nanoTime() - since) / 1e9;
    }

    /**
     * Returns some percentiles in milliseconds.
     *
     * @param format a place for each percentile
     * @param percentiles 100 for the largest value
     */
    static String millis(String format, Histogram micros, double... percentiles) {
        return String.format(
                Locale.ROOT,
                format,
                DoubleStream.of(percentiles)
                        .mapToObj(percentile -> micros.getValueAtPercentile(percentile) / 1e3)
                        .toArray());
    }
}
