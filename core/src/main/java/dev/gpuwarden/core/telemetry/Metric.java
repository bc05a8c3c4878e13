package dev.gpuwarden.core.telemetry;

import java.util.Locale;

/** One reading of a GPU or of one of its NVLinks. */
public interface Metric {

    /**
     * The properties of a reading.
     *
     * @param min least raw value that can be true, inclusive
     * @param max greatest raw value that can be true, inclusive
     */
    record Spec(String label, Unit unit, Kind kind, long min, long max, String help) {

        /** Returns a specification whose label is the constant's name in lower case and whose least value is 0. */
        static Spec of(Enum<?> constant, Unit unit, Kind kind, long max, String help) {
            return new Spec(constant.name().toLowerCase(Locale.ROOT), unit, kind, 0, max, help);
        }
    }

    Spec spec();

    /**
     * Returns the reading's name without unit: in metrics between `gpuwarden_gpu_` or `gpuwarden_nvlink_` and the unit,
     * in JSON unchanged.
     */
    default String label() {
        return spec().label;
    }

    /** Returns the unit of raw values. */
    default Unit unit() {
        return spec().unit;
    }

    default Kind kind() {
        return spec().kind;
    }

    /** Returns the description for HELP. */
    default String help() {
        return spec().help;
    }

    /**
     * Returns whether a raw value can be true on any board, present or near future. The bounds are wide by design: they
     * catch a library that returns 808334905 percent (seen in the field), and do not judge a GPU.
     */
    default boolean plausible(long raw) {
        Spec spec = spec();
        return raw >= spec.min && raw <= spec.max;
    }
}
