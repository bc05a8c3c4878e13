package dev.gpuwarden.core.compute;

import java.util.ArrayList;
import java.util.List;

/**
 * The rates of one GPU in one kind of work, with one set of settings. The first half stays, so that a slow decline does not move the
 * median as fast as the rates. Immutable and pure.
 *
 * @param settings all that must be equal for rates to be comparable
 */
public record RateSeries(String settings, List<Double> rates) {

    /** Most rates that are kept: with a run every four hours, those of five days. */
    public static final int MOST = 32;

    public RateSeries {
        rates = List.copyOf(rates);
    }

    /** Returns a series without rates. */
    public static RateSeries of(String settings) {
        return new RateSeries(settings, List.of());
    }

    /** Returns the series with one more rate; with other settings one that begins with it. */
    public RateSeries after(String settingsNow, double rate) {
        if (!settingsNow.equals(settings)) {
            return of(settingsNow).after(settingsNow, rate);
        }
        List<Double> next = new ArrayList<>(rates);
        if (next.size() >= MOST) {
            next.remove(MOST / 2);
        }
        next.add(rate);
        return new RateSeries(settings, next);
    }
}
